/**
 * The tokens of a .proto text with their offsets, and a cursor over them. It knows only lexical rules (protobuf
 * language specification, “Lexical elements”).
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { percentDecoded } from '../../common/percent-decoding.ts'
import type { Problem } from '../../common/result.ts'
import { positionAt } from '../positions.ts'
import { firstAt, overLimit, unreadable } from '../unreadable.ts'

type TokenKind = 'name' | 'number' | 'string' | 'symbol' | 'end'

export interface Token {
  readonly kind: TokenKind
  /** As written. For a string, its value. */
  readonly text: string
  readonly offset: number
}

/** Thrown while a file is read, and caught only by its entry (file.ts). */
export class ReadFault extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

/**
 * Each alternative consumes in one loop without choices, so long comments and strings cannot fill the matcher’s stack.
 */
const TOKEN =
  /(?<space>[ \t\r\n\f\v]+|\/\/[^\n]*|\/\*[^]*?\*\/)|(?<name>[A-Za-z_]\w*)|(?<number>0[xX][\dA-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)|(?<string>"[^"\\\n]*(?:\\[^][^"\\\n]*)*"|'[^'\\\n]*(?:\\[^][^'\\\n]*)*')|(?<symbol>[^\s\w"'])/y

const LARGEST_INTEGER = 2n ** 64n

/** A reader's place in the text, one token ahead. */
export class Cursor {
  readonly #text: string
  readonly #maxDepth: number
  readonly #pattern = new RegExp(TOKEN.source, 'y')
  #ahead: Token
  #depth = 0

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#ahead = this.#read()
  }

  get ahead(): Token {
    return this.#ahead
  }

  next(): Token {
    const token = this.#ahead
    this.#ahead = this.#read()
    return token
  }

  /** Whether the next token is a name or symbol of this text; a quoted one is not. */
  isAt(text: string): boolean {
    return this.#ahead.text === text && (this.#ahead.kind === 'name' || this.#ahead.kind === 'symbol')
  }

  /** Takes the token if it is next. */
  take(text: string): boolean {
    if (!this.isAt(text)) return false
    this.next()
    return true
  }

  expect(text: string): Token {
    if (!this.isAt(text)) this.refuse(JSON.stringify(text))
    return this.next()
  }

  name(what: string): Token {
    if (this.#ahead.kind !== 'name') this.refuse(what)
    return this.next()
  }

  /** A name with dots: `a.b.C`, `.a.b.C`. */
  reference(what: string): Token {
    const { offset } = this.#ahead
    let text = this.take('.') ? '.' : ''
    text += this.name(what).text
    while (this.take('.')) text += `.${this.name(what).text}`
    return { kind: 'name', text, offset }
  }

  /** Adjacent strings are joined. */
  string(what: string): string {
    if (this.#ahead.kind !== 'string') this.refuse(what)
    let text = this.next().text
    while (this.#ahead.kind === 'string') text += this.next().text
    return text
  }

  /** A whole number within bounds, as field numbers and ranges have it. */
  integer(what: string, least: number, most: number): number {
    const { offset } = this.#ahead
    const isNegative = this.take('-')
    if (this.#ahead.kind !== 'number') this.refuse(what)
    const magnitude = integerOf(this.next().text)
    const value = magnitude === null ? Number.NaN : Number(isNegative ? -magnitude : magnitude)
    if (!(value >= least && value <= most)) this.fault(`${what} is not a whole number from ${least} to ${most}`, offset)
    return value
  }

  /** Runs a reader one level deeper. Levels are bounded, as in every contract document. */
  nested<T>(read: () => T): T {
    if (++this.#depth > this.#maxDepth) {
      this.faultOverLimit(`it is nested more than ${this.#maxDepth} levels deep`, this.#ahead.offset)
    }
    const value = read()
    this.#depth--
    return value
  }

  /** Refuses a next token that the grammar does not allow here. */
  refuse(wanted: string): never {
    const { kind, text, offset } = this.#ahead
    const found = kind === 'end' ? 'the text ends' : `there is ${JSON.stringify(text.slice(0, 60).toWellFormed())}`
    return this.fault(`${found} where ${wanted} belongs`, offset)
  }

  /** Two declarations with one name are ambiguous. Both are named. */
  faultTwice(what: string, offset: number, first: number): never {
    return this.fault(`${what} is declared twice${firstAt(positionAt(this.#text, first))}`, offset)
  }

  faultOverLimit(what: string, offset: number): never {
    throw new ReadFault(overLimit(what, positionAt(this.#text, offset)))
  }

  fault(what: string, offset: number): never {
    throw new ReadFault(unreadable(`as protobuf: ${what}`, { position: positionAt(this.#text, offset) }))
  }

  #read(): Token {
    const pattern = this.#pattern
    for (;;) {
      const offset = pattern.lastIndex
      if (offset >= this.#text.length) return { kind: 'end', text: '', offset }
      const groups = pattern.exec(this.#text)?.groups
      if (groups === undefined) {
        const isString = /["']/.test(this.#text[offset] ?? '')
        return this.fault(isString ? 'a string is not closed on its line' : 'a character does not belong there', offset)
      }
      const { name, number, string, symbol } = groups
      if (name !== undefined) return { kind: 'name', text: name, offset }
      if (string !== undefined) return { kind: 'string', text: this.#unescape(string, offset), offset }
      if (symbol !== undefined) {
        if (symbol === '/' && this.#text[offset + 1] === '*') this.fault('a comment is not closed', offset)
        return { kind: 'symbol', text: symbol, offset }
      }
      if (number === undefined) continue
      if (/[\w.]/.test(this.#text[pattern.lastIndex] ?? '')) this.fault('a number runs into what follows it', offset)
      return { kind: 'number', text: number, offset }
    }
  }

  #unescape(quoted: string, offset: number): string {
    const body = quoted.slice(1, -1)
    if (!body.includes('\\')) return body
    const text = body.replaceAll(ESCAPE, (whole, simple?: string, octal?: string, hex?: string, unicode?: string) => {
      if (simple !== undefined) return SIMPLE_ESCAPES[simple] ?? simple
      if (octal !== undefined) return byteText(Number.parseInt(octal, 8) & 0xff)
      if (hex !== undefined) return byteText(Number.parseInt(hex, 16))
      const code = unicode === undefined ? Number.NaN : Number.parseInt(unicode.slice(1), 16)
      if (!(code <= 0x10ffff))
        this.fault(`a string holds ${whole.slice(0, 10)}, which is not an escape sequence`, offset)
      return String.fromCodePoint(code)
    })
    return text.replaceAll(ESCAPED_BYTES, decodedBytes)
  }
}

/** The first of the lone surrogates that stand for escaped bytes, which text does not contain. */
const BYTE_ZERO = 0xdc00
const ESCAPED_BYTES = /[\udc80-\udcff]+/gu

/** An escaped byte. Above ASCII it may be a part of a character. */
function byteText(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : BYTE_ZERO + byte)
}

/** The characters that escaped bytes are in UTF-8. Bytes that are none keep their numbers. */
function decodedBytes(run: string): string {
  const bytes = Array.from(run, (unit) => unit.charCodeAt(0) - BYTE_ZERO)
  const encoded = bytes.map((byte) => `%${byte.toString(16)}`).join('')
  const text = percentDecoded(encoded)
  return text === encoded ? bytes.map((byte) => String.fromCharCode(byte)).join('') : text
}

const ESCAPE = /\\(?:([abfnrtv\\'"?])|([0-7]{1,3})|[xX]([\dA-Fa-f]{1,2})|(u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8})|[^])/g
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = lookupTable({
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
})

/** The value of a literal in any of the three notations. Null if it is not an integer of at most 64 bits. */
export function integerOf(text: string): bigint | null {
  if (/^0[0-7]+$/.test(text)) return bounded(BigInt(`0o${text.slice(1)}`))
  if (/^(?:0[xX][\dA-Fa-f]+|0|[1-9]\d*)$/.test(text)) return text.length > 24 ? null : bounded(BigInt(text))
  return null
}

function bounded(value: bigint): bigint | null {
  return value < LARGEST_INTEGER ? value : null
}
