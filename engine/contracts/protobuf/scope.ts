/** The scope of a declaration during reading: enclosing names, inherited features, and used names. */
import { appendPointer } from '../../common/json-pointer.ts'
import { FeatureScope } from './features.ts'
import type { Options } from './features.ts'
import type { Declared, NumberRange, Reserved } from './model.ts'
import type { Cursor, Token } from './tokens.ts'

/**
 * Characters of a full name, with its package. V8 hashes a text of more than 16,383 characters by its length alone. Of
 * a message with such a name, each look-up of a field would be a search through all of them. Some keys hold two names.
 */
const MAX_NAME = 8000

/** The file that is being read. */
interface ProtoReading {
  readonly cursor: Cursor
  readonly syntax: string
  /** Offset of each declaration by its pointer. */
  readonly places: Map<string, number>
}

export class Scope {
  readonly reading: ProtoReading
  readonly fullName: string
  readonly at: string
  readonly features: FeatureScope
  readonly #names = new Map<string, number>()

  constructor(
    reading: ProtoReading,
    place: { readonly fullName: string; readonly at: string },
    features: FeatureScope,
  ) {
    this.reading = reading
    this.fullName = place.fullName
    this.at = place.at
    this.features = features
  }

  /** Whether anything was declared in it. */
  get isUsed(): boolean {
    return this.#names.size > 0
  }

  /**
   * Declares a name that must be unique in the scope. Otherwise one declaration would be compared and the other one
   * used.
   */
  declare(name: Token, start: Token = name): Omit<Declared, 'options'> {
    const first = this.#names.get(name.text)
    if (first !== undefined) this.reading.cursor.faultTwice(name.text, name.offset, first)
    this.#names.set(name.text, name.offset)
    const at = appendPointer(this.at, name.text)
    this.reading.places.set(at, start.offset)
    const fullName = this.fullName === '' ? name.text : `${this.fullName}.${name.text}`
    if (Math.max(at.length, fullName.length) > MAX_NAME)
      this.reading.cursor.faultOverLimit(`a full name has more than ${MAX_NAME} characters`, name.offset)
    return { name: name.text, fullName, at }
  }

  /** The scope of a declaration within this one, with these options. */
  within(place: Omit<Declared, 'options'>, options: Options): Scope {
    return new Scope(this.reading, place, new FeatureScope(this.features, options))
  }
}

/** The reserved numbers and names of a message or enum. */
export class ReservedSet implements Reserved {
  readonly ranges: NumberRange[] = []
  readonly names = new Set<string>()

  /** `reserved 2, 9 to 11, 100 to max;` or `reserved "a", "b";` (in editions: `reserved a, b;`). */
  read(cursor: Cursor, least: number, most: number): void {
    do {
      if (cursor.ahead.kind === 'string') this.names.add(cursor.string('a reserved name'))
      else if (cursor.ahead.kind === 'name') this.names.add(cursor.next().text)
      else this.ranges.push(readRange(cursor, least, most))
    } while (cursor.take(','))
    cursor.expect(';')
  }
}

export function readRange(cursor: Cursor, least: number, most: number): NumberRange {
  const { offset } = cursor.ahead
  const first = cursor.integer('the start of a range', least, most)
  if (!cursor.take('to')) return [first, first]
  const last = cursor.take('max') ? most : cursor.integer('the end of a range', least, most)
  if (last < first) cursor.fault('a range ends before it starts', offset)
  return [first, last]
}
