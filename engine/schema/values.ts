/** Keywords that name values: enum, const, default, pattern and the extensible enum. */
import type { Examination } from './examination.ts'
import type { DeltaSeries, SchemaDelta } from './delta.ts'
import { isEqual, valueKey, ValueSet } from './equality.ts'
import { isNullReported } from './types.ts'
import type { JsonRecord } from './located.ts'

type ValueSides = Pick<Examination, 'base' | 'head' | 'add'>

export function compareValues(examination: Examination): void {
  compareEnumPresence(examination)
  compareListedValues(examination, 'enum')
  compareSingle(examination, 'const')
  compareDefault(examination)
  comparePattern(examination)
  compareListedValues(examination, 'x-extensible-enum')
}

function compareEnumPresence({ base, head, add: say }: Examination): void {
  const before = listOf(base, 'enum')
  const after = listOf(head, 'enum')
  if ((before === null) === (after === null)) return
  const action = before === null ? 'became' : 'ceased'
  say({ keyword: 'enum', action, name: null, before, after, steps: ['enum'] })
}

/** Compares the values of two lists. */
function compareListedValues({ base, head, reportEach }: Examination, keyword: 'enum' | 'x-extensible-enum'): void {
  const before = listOf(base, keyword)
  const after = listOf(head, keyword)
  if (before === null || after === null || isEqual(before, after)) return
  // Null that was added or removed is reported once, as nullability.
  const withoutNull = keyword === 'enum' && isNullReported(base, head)
  const removed = missingIndices(before, after, withoutNull)
  reportEach(series(removed, (index) => new ValueDelta(keyword, 'removed', before, index)))
  const added = missingIndices(after, before, withoutNull)
  reportEach(series(added, (index) => new ValueDelta(keyword, 'added', after, index)))
}

/** A value that came or went: of a hostile list there are a million. */
class ValueDelta implements SchemaDelta {
  readonly keyword: string
  readonly action: 'added' | 'removed'
  readonly #list: readonly unknown[]
  readonly #index: number

  constructor(keyword: string, action: 'added' | 'removed', list: readonly unknown[], index: number) {
    this.keyword = keyword
    this.action = action
    this.#list = list
    this.#index = index
  }

  get name(): string {
    return nameValue(this.#list[this.#index])
  }

  get before(): unknown {
    return this.action === 'removed' ? this.#list[this.#index] : null
  }

  get after(): unknown {
    return this.action === 'added' ? this.#list[this.#index] : null
  }

  get steps(): readonly string[] {
    return [this.keyword, String(this.#index)]
  }
}

/** Where the values stand, each once, that another list does not hold. */
function missingIndices(list: readonly unknown[], other: readonly unknown[], withoutNull: boolean): Uint32Array {
  const known = new ValueSet(other)
  if (withoutNull) known.add(null)
  const found = new Uint32Array(list.length)
  let count = 0
  for (const [index, value] of list.entries()) {
    if (!known.add(value)) continue
    found[count] = index
    count += 1
  }
  return found.slice(0, count)
}

function series(indices: Uint32Array, make: (index: number) => SchemaDelta): DeltaSeries {
  return {
    count: indices.length,
    *each() {
      for (const index of indices) yield make(index)
    },
  }
}

export function compareDefault(sides: ValueSides): void {
  compareSingle(sides, 'default')
}

function compareSingle({ base, head, add: say }: ValueSides, keyword: 'const' | 'default'): void {
  const had = Object.hasOwn(base, keyword) && base[keyword] !== undefined
  const has = Object.hasOwn(head, keyword) && head[keyword] !== undefined
  if (!had && !has) return
  const before = had ? base[keyword] : null
  const after = has ? head[keyword] : null
  if (had && has && isEqual(before, after)) return
  const action = had ? (has ? 'changed' : 'removed') : 'added'
  say({ keyword, action, name: nameValue(has ? after : before), before, after, steps: [keyword] })
}

/** Patterns that every string matches. */
const ANY_PATTERN: ReadonlySet<string> = new Set(['.*', '^.*$', '^.*', '.*$'])

function comparePattern({ base, head, add: say }: Examination): void {
  const before = typeof base.pattern === 'string' && base.pattern !== '' ? base.pattern : null
  const after = typeof head.pattern === 'string' && head.pattern !== '' ? head.pattern : null
  if (before === after) return
  const action =
    before === null ? 'added' : after === null ? 'removed' : ANY_PATTERN.has(after) ? 'generalized' : 'changed'
  say({ keyword: 'pattern', action, name: after ?? before, before, after, steps: ['pattern'] })
}

function listOf(schema: JsonRecord, keyword: string): readonly unknown[] | null {
  const value = schema[keyword]
  return Array.isArray(value) ? value : null
}

/** How reports name a value that the contract does not state. A stated null is a value. */
export const ABSENT = '(absent)'

/** A value as people write it; the members of an object in one order, whatever order the document has. */
export function nameValue(value: unknown): string {
  if (value === undefined) return 'undefined'
  return typeof value === 'string' ? value : valueKey(value)
}
