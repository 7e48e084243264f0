/** Options of a .proto file: `option name = value;`, `[name = value, …]` and text-format values in braces. */
import type { Json } from '../../common/hash.ts'
import type { Options } from './features.ts'
import { integerOf, type Cursor } from './tokens.ts'
import { publishedOption } from './published-options.ts'

/** What has the options, or is around it. Their names may be relative to its full name. */
interface OptionOwner {
  readonly fullName: string
}

/** Options being read. An option that is set again is repeated, and both values count. */
export class OptionSet {
  readonly #stated = new StatedValues()
  readonly #owner: OptionOwner

  constructor(owner: OptionOwner) {
    this.#owner = owner
  }

  /** These grow while options are read. */
  get values(): Options {
    return this.#stated.values
  }

  /** `name = value`, after the keyword `option` or within brackets. */
  read(cursor: Cursor): void {
    const name = optionName(cursor, this.#owner.fullName)
    cursor.expect('=')
    this.#set(name, optionValue(cursor))
  }

  /** `[a = 1, b = 2]`, if present. */
  readInline(cursor: Cursor): void {
    if (!cursor.take('[')) return
    do this.read(cursor)
    while (cursor.take(','))
    cursor.expect(']')
  }

  #set(name: string, value: Json): void {
    // Features may be set one by one or together, with the same meaning.
    if (/^features(?:\.|$)/.test(name) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [member, inner] of Object.entries(value)) this.#set(`${name}.${extensionName(member)}`, inner)
      return
    }
    this.#stated.add(name, value)
  }
}

/** The value of each name. What is stated several times is a list. */
class StatedValues {
  readonly values = new Map<string, Json>()
  readonly #lists = new Map<string, Json[]>()

  add(name: string, value: Json): void {
    const before = this.values.get(name)
    const list = this.#lists.get(name)
    if (before === undefined) this.values.set(name, value)
    else if (list !== undefined) for (const item of [value].flat()) list.push(item)
    else {
      const started = [before, value].flat()
      this.#lists.set(name, started)
      this.values.set(name, started)
    }
  }
}

/** Extensions are named in brackets within a value, and in parentheses within a name. */
export function extensionName(member: string): string {
  return member.replace(/^\[(.*)\]$/, '($1)')
}

function optionName(cursor: Cursor, scope: string): string {
  const parts: string[] = []
  do {
    if (cursor.take('(')) {
      parts.push(`(${publishedOption(cursor.reference('the name of an extension').text, scope)})`)
      cursor.expect(')')
    } else parts.push(cursor.name('the name of an option').text)
  } while (cursor.take('.'))
  return parts.join('.')
}

function optionValue(cursor: Cursor): Json {
  if (cursor.isAt('{')) return aggregate(cursor)
  return scalar(cursor)
}

/** A scalar as a JSON value, equal for equal values: `0x10` and `16`, `1.0` and `1e0`. */
function scalar(cursor: Cursor): Json {
  if (cursor.ahead.kind === 'string') return cursor.string('a value')
  const isNegative = cursor.take('-')
  if (!isNegative) cursor.take('+')
  const { kind, text } = cursor.ahead
  if (kind === 'name') {
    cursor.next()
    const dotted = cursor.isAt('.') ? `${text}${rest(cursor)}` : text
    if (text === 'true' || text === 'false') return text === 'true'
    return isNegative ? `-${dotted}` : dotted
  }
  if (kind !== 'number') cursor.refuse('the value of an option')
  cursor.next()
  const whole = integerOf(text)
  if (whole === null) return isNegative ? -Number.parseFloat(text) : Number.parseFloat(text)
  const signed = isNegative ? -whole : whole
  const value = Number(signed)
  return Number.isSafeInteger(value) ? value : String(signed)
}

function rest(cursor: Cursor): string {
  let text = ''
  while (cursor.take('.')) text += `.${cursor.name('a name').text}`
  return text
}

/** `{ a: 1 b { c: "x" } [ext.name]: 2 }`: members in text format, separated by commas, semicolons or nothing. */
function aggregate(cursor: Cursor): Json {
  return cursor.nested(() => {
    const close = cursor.next().text === '<' ? '>' : '}'
    const members = new StatedValues()
    while (!cursor.take(close)) {
      const name = memberName(cursor)
      const hasColon = cursor.take(':')
      if (!hasColon && !cursor.isAt('{') && !cursor.isAt('<')) cursor.refuse('":"')
      members.add(name, memberValue(cursor))
      if (!cursor.take(',')) cursor.take(';')
    }
    return Object.fromEntries(members.values)
  })
}

function memberName(cursor: Cursor): string {
  if (!cursor.take('[')) return cursor.name('the name of a member').text
  let name = cursor.reference('the name of an extension').text
  while (cursor.take('/')) name += `/${cursor.reference('the name of a type').text}`
  cursor.expect(']')
  return `[${name}]`
}

function memberValue(cursor: Cursor): Json {
  if (cursor.isAt('{') || cursor.isAt('<')) return aggregate(cursor)
  if (!cursor.take('[')) return scalar(cursor)
  return cursor.nested(() => {
    const items: Json[] = []
    while (!cursor.take(']')) {
      if (items.length > 0) cursor.expect(',')
      items.push(memberValue(cursor))
    }
    return items
  })
}

interface FileOption {
  /** As the file writes it. Rules contain this name. */
  readonly name: string
  /** The default if it is not stated. */
  readonly fallback: Json
}

export const FILE_OPTIONS: readonly FileOption[] = [
  { name: 'cc_enable_arenas', fallback: true },
  { name: 'cc_generic_services', fallback: false },
  { name: 'csharp_namespace', fallback: '' },
  { name: 'go_package', fallback: '' },
  { name: 'java_generic_services', fallback: false },
  { name: 'java_multiple_files', fallback: false },
  { name: 'java_outer_classname', fallback: '' },
  { name: 'java_package', fallback: '' },
  { name: 'objc_class_prefix', fallback: '' },
  { name: 'optimize_for', fallback: 'SPEED' },
  { name: 'php_class_prefix', fallback: '' },
  { name: 'php_metadata_namespace', fallback: '' },
  { name: 'php_namespace', fallback: '' },
  { name: 'py_generic_services', fallback: false },
  { name: 'ruby_package', fallback: '' },
  { name: 'swift_prefix', fallback: '' },
]
