/**
 * Reads a TOML text, and changes `command` and `args` of one server in it, whatever form its table has. All other bytes stay. The
 * result is read again: a form that this does not understand is an error, never a damaged file.
 */
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, TomlError } from 'smol-toml'
import { isJsonObject } from '../json/strict-json.ts'
import { textIn } from '../json/unchecked-json.ts'
import { listEdit, withEdits, type ListItem, type TextEdit, type TextSpan } from './text-edits.ts'
import type { ServerCommand } from '../stdio/wrapping.ts'

/** A key with its value, or an item of an array, whose key is its index. */
interface TomlMember extends TextSpan {
  readonly path: readonly string[]
  /** Where its key begins, and the last name of a dotted key. Equal for an item of an array. */
  readonly keyStart: number
  readonly nameStart: number
  readonly isInline: boolean
}

/** In the order of the text. A text that is not TOML gives some of its members. */
function tomlMembers(text: string): readonly TomlMember[] {
  return new MemberReader(text).read()
}

const BYTE_ORDER_MARK = '\uFEFF'
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y
const SPACE = /[ \t]*/y
const NAME = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+/y
/** Longest first: three quotes begin a string of several lines, whose last quotes may be its content. */
const SCALAR =
  /"""(?:[^\\]|\\[^])*?"{3,5}(?!")|'''[^]*?'{3,5}(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^,\]}#\r\n]*[^,\]}#\r\n\t ]/y

class MemberReader {
  readonly #text: string
  readonly #members: TomlMember[] = []
  readonly #lists = new Map<string, number>()
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  }

  read(): readonly TomlMember[] {
    let table: readonly string[] = []
    for (;;) {
      this.#take(BLANK)
      const before = this.#at
      if (this.#skip('[')) table = this.#header()
      else this.#member(table, false)
      if (this.#at === before) return this.#members
    }
  }

  /** `[a.b]`, or `[[a.b]]`, whose tables are counted. */
  #header(): readonly string[] {
    const isItem = this.#skip('[')
    const { path } = this.#key()
    this.#skip(']')
    if (!isItem) return path
    this.#skip(']')
    const list = JSON.stringify(path)
    const index = this.#lists.get(list) ?? 0
    this.#lists.set(list, index + 1)
    return [...path, String(index)]
  }

  #member(table: readonly string[], isInline: boolean): void {
    const keyStart = this.#at
    const { path, nameStart } = this.#key()
    if (!this.#skip('=')) return
    this.#take(SPACE)
    this.#value({ path: [...table, ...path], keyStart, nameStart, isInline })
  }

  #key(): { readonly path: readonly string[]; readonly nameStart: number } {
    const path: string[] = []
    let nameStart = this.#at
    do {
      this.#take(SPACE)
      nameStart = this.#at
      path.push(keyName(this.#take(NAME)))
      this.#take(SPACE)
    } while (this.#skip('.'))
    return { path, nameStart }
  }

  #value(member: Omit<TomlMember, keyof TextSpan>): void {
    const { path } = member
    const start = this.#at
    if (this.#skip('[')) this.#items(path)
    else if (this.#skip('{')) this.#inlineTable(path)
    else this.#take(SCALAR)
    this.#members.push({ ...member, start, end: this.#at })
  }

  #items(path: readonly string[]): void {
    for (let index = 0; ; index += 1) {
      this.#take(BLANK)
      if (this.#skip(']') || this.#at >= this.#text.length) return
      const before = this.#at
      this.#value({ path: [...path, String(index)], keyStart: before, nameStart: before, isInline: true })
      this.#take(BLANK)
      if (!this.#skip(',') && this.#at === before) return
    }
  }

  #inlineTable(path: readonly string[]): void {
    for (;;) {
      this.#take(BLANK)
      if (this.#skip('}') || this.#at >= this.#text.length) return
      const before = this.#at
      this.#member(path, true)
      this.#take(BLANK)
      if (!this.#skip(',') && this.#at === before) return
    }
  }

  #take(form: RegExp): string {
    form.lastIndex = this.#at
    const [taken = ''] = form.exec(this.#text) ?? []
    this.#at += taken.length
    return taken
  }

  #skip(mark: string): boolean {
    const isThere = this.#text.startsWith(mark, this.#at)
    if (isThere) this.#at += mark.length
    return isThere
  }
}

/** Without quotes and escapes. */
function keyName(written: string): string {
  if (!/^["']/.test(written)) return written
  const value: unknown = parse(`${written} = 0`)
  return isJsonObject(value) ? (Object.keys(value)[0] ?? '') : ''
}

/** Throws an Error with the line of the mistake. */
export function readToml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [what = ''] = error.message.split('\n')
    throw new Error(`line ${error.line}: ${what}`, { cause: error })
  }
}

/** Throws an Error when the form is not understood. */
export function withTomlCommand(
  text: string,
  path: readonly string[],
  { command, args, isNested }: ServerCommand,
): string {
  const table = isNested ? [...path, 'command'] : path
  const name = isNested ? 'path' : 'command'
  const members = tomlMembers(text)
  const at = (...rest: readonly string[]): readonly TomlMember[] =>
    members.filter((member) => isDeepStrictEqual(member.path, [...table, ...rest]))
  const [program] = at(name)
  const [list] = at('args')
  if (program !== undefined) {
    const items = list === undefined ? [] : listItems(text, members, list)
    const edits = [
      { start: program.start, end: program.end, content: tomlValue(command) },
      list === undefined ? tomlListBefore(text, program, args) : listEdit(text, { ...list, items }, args, tomlValue),
    ]
    const edited = withEdits(text, edits)
    if (isDeepStrictEqual(parsedToml(edited), expected(text, table, { [name]: command, args }))) return edited
  }
  throw new Error(`the server ${path.join('.')} has a form that is not edited here; change it by hand`)
}

/** A list that was not there, before the command and in its form. */
function tomlListBefore(
  text: string,
  { keyStart, nameStart, isInline }: TomlMember,
  args: readonly string[],
): TextEdit {
  const lineStart = text.lastIndexOf('\n', keyStart - 1) + 1
  const lineEnd = text.slice(keyStart).match(/\r?\n/)?.[0] ?? '\n'
  const between = isInline ? ', ' : `${lineEnd}${/^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''}`
  const member = `${text.slice(keyStart, nameStart)}args = [${args.map(tomlValue).join(', ')}]`
  return { start: keyStart, end: keyStart, content: `${member}${between}` }
}

function listItems(text: string, members: readonly TomlMember[], list: TomlMember): readonly ListItem[] {
  return members
    .filter(({ path }) => path.length === list.path.length + 1 && isDeepStrictEqual(path.slice(0, -1), list.path))
    .map(({ start, end }) => {
      const value = Object.values(parse(`value = ${text.slice(start, end)}`))[0]
      return { start, end, value: textIn(value) }
    })
}

function tomlValue(value: string): string {
  return stringify({ value }).trimEnd().slice('value = '.length)
}

function parsedToml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function expected(text: string, table: readonly string[], values: object): unknown {
  const value: unknown = parse(text)
  let at: unknown = value
  for (const member of table) at = isJsonObject(at) ? at[member] : undefined
  if (typeof at === 'object' && at !== null) Object.assign(at, values)
  return value
}
