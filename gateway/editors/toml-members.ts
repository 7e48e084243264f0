/**
 * Where the members of a TOML text are: tables, dotted keys, inline tables and the items of arrays alike. The text was accepted
 * by the TOML library before; this reads only as much of the grammar as places need (TOML 1.0).
 */
import { parse } from 'smol-toml'
import { isJsonObject } from '../json/strict-json.ts'
import type { TextSpan } from './text-edits.ts'

/** A key with its value, or an item of an array, whose key is its index. */
export interface TomlMember extends TextSpan {
  readonly path: readonly string[]
  /** Where its key begins, and the last name of a dotted key. Equal for an item of an array. */
  readonly keyStart: number
  readonly nameStart: number
  readonly isInline: boolean
}

/** In the order of the text. A text that is not TOML gives some of its members. */
export function tomlMembers(text: string): readonly TomlMember[] {
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
      path.push(nameOf(this.#take(NAME)))
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
function nameOf(written: string): string {
  if (!/^["']/.test(written)) return written
  const value: unknown = parse(`${written} = 0`)
  return isJsonObject(value) ? (Object.keys(value)[0] ?? '') : ''
}
