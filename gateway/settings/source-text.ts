/** YAML text of configuration or policy → plain value, with the line and column of every member. */
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
} from 'yaml'
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { pathOfPointer, pointerSegments, type Mistake } from '../errors/mistake.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { LocatedMistake } from './schema-mistakes.ts'

export interface SourceText {
  /** Plain objects, arrays and scalars; null for an empty document. */
  readonly value: unknown
  /** `file:line:column` of the member at the pointer (its key or its value), or of the nearest member above it. */
  place(pointer: string, at: 'key' | 'value'): string
}

/** Configuration is written by people: more aliases than this are an attack or a mistake. */
const MAX_ALIASES = 100

const SEVERAL_DOCUMENTS = {
  message: 'a second document begins here, and only one is read',
  fix: 'write one document, without a line of --- between its members',
}

/** Reading more would keep a start or a reload waiting for minutes. */
const MAX_LENGTH = 4 * 1024 * 1024

export function readSourceText(file: string, text: string): Result<SourceText, readonly Mistake[]> {
  if (text.length > MAX_LENGTH) {
    const message = `the file has ${text.length} characters, and at most ${MAX_LENGTH} are read`
    return { ok: false, problem: [{ place: file, path: '', message, fix: 'is this the right file?' }] }
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const position = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    const mistakes = faults.map(({ code, message, pos }) => ({
      place: position(pos[0]),
      path: '',
      ...syntaxFault(code, message, wordAt(text, pos[0])),
    }))
    return { ok: false, problem: mistakes }
  }
  const aliases = aliasMistakes(document, position)
  if (aliases.length > 0) return { ok: false, problem: aliases }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return ok({ value, place: (pointer, at) => positionOf(document, pointer, at, position) ?? file })
  } catch (error) {
    // The library throws on too many aliases.
    const message = messageOf(error)
    return { ok: false, problem: [{ place: file, path: '', message, fix: 'write the values without aliases' }] }
  }
}

/** A mistake of the schema, with its place in the text. */
export function placedMistake(source: SourceText, { pointer, at, message, fix }: LocatedMistake): Mistake {
  return { place: source.place(pointer, at), path: pathOfPointer(pointer), message, fix }
}

/** A mistake in the syntax, in words for the author of the file. */
function syntaxFault(code: string, message: string, word: string): Pick<Mistake, 'message' | 'fix'> {
  if (code === 'MULTIPLE_DOCS') return SEVERAL_DOCUMENTS
  if (code === 'DUPLICATE_KEY')
    return { message: `the member ${JSON.stringify(word)} occurs twice in one map`, fix: 'write it once' }
  const row = SYNTAX_FIXES.find((one) => one.code === code && (one.message?.test(message) ?? true))
  return { message: `this is not valid YAML: ${message}`, fix: row?.fix ?? '' }
}

interface SyntaxFix {
  /** Of the library. */
  readonly code: string
  /** Absent: every message of the code. */
  readonly message?: RegExp
  readonly fix: string
}

const ALIGN = 'align the line with the other members of its map or list'
const QUOTE = 'put the text in quotes'

/** The first row that matches counts. */
const SYNTAX_FIXES: readonly SyntaxFix[] = [
  { code: 'TAB_AS_INDENT', fix: 'indent with spaces' },
  { code: 'BAD_INDENT', message: /end with a \]/, fix: 'write the missing ]' },
  { code: 'BAD_INDENT', message: /end with a \}/, fix: 'write the missing }' },
  { code: 'BAD_INDENT', fix: ALIGN },
  { code: 'MISSING_CHAR', message: /^Sequence item/, fix: `${ALIGN}, or begin it with - and a space` },
  { code: 'MISSING_CHAR', message: /end with a \]/, fix: 'write the missing ]' },
  { code: 'MISSING_CHAR', message: /end with a \}/, fix: 'write the missing }' },
  { code: 'MISSING_CHAR', message: /quote/, fix: 'write the missing quote' },
  { code: 'BLOCK_AS_IMPLICIT_KEY', fix: 'write each member on its own line; put a text that contains ": " in quotes' },
  { code: 'BLOCK_IN_FLOW', fix: 'write a comma between the members' },
  { code: 'MULTILINE_IMPLICIT_KEY', fix: 'write a colon and a space after each key' },
  { code: 'BAD_SCALAR_START', fix: QUOTE },
  { code: 'BAD_ALIAS', fix: QUOTE },
  { code: 'BAD_DQ_ESCAPE', fix: 'write \\\\ for one \\, or use single quotes' },
  {
    code: 'TAG_RESOLVE_FAILED',
    fix: 'write the value itself: tags are not read; put a text that begins with ! in quotes',
  },
  { code: 'NON_STRING_KEY', fix: 'write a name as the key' },
  {
    code: 'UNEXPECTED_TOKEN',
    message: /at node end/,
    fix: `${ALIGN}; put a text that contains quotes in the other kind of quotes`,
  },
]

/** Aliases without a value: to an anchor that comes later or not at all, or inside of their own anchor. */
function aliasMistakes(document: Document.Parsed, position: (offset: number) => string): readonly Mistake[] {
  const mistakes: Mistake[] = []
  const anchors = new Map<string, Node>()
  visit(document, {
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias: (_key, alias, path) => {
      const place = position(alias.range?.[0] ?? 0)
      const target = anchors.get(alias.source)
      if (target === undefined) mistakes.push({ place, path: '', ...unknownAlias(alias.source) })
      else if (path.includes(target)) mistakes.push({ place, path: '', ...cyclicAlias(alias.source) })
    },
  })
  return mistakes
}

function unknownAlias(name: string): Pick<Mistake, 'message' | 'fix'> {
  return {
    message: `*${name} is read as an alias, and no anchor &${name} stands before it`,
    fix: `put a text that begins with * in quotes: "*${name}"`,
  }
}

function cyclicAlias(name: string): Pick<Mistake, 'message' | 'fix'> {
  return { message: `the alias *${name} stands inside its own anchor`, fix: 'write the values out' }
}

function wordAt(text: string, offset: number): string {
  return /^["']?([^\s:,}"']*)/.exec(text.slice(offset, offset + 100))?.[1] ?? ''
}

/** A value that came from no file (tests, the demo): its places are the member paths. */
export function inlineSource(value: unknown): SourceText {
  return { value, place: (pointer) => `config ${pathOfPointer(pointer)}`.trim() }
}

function positionOf(
  document: Document.Parsed,
  pointer: string,
  at: 'key' | 'value',
  position: (offset: number) => string,
): string | null {
  let node: Node | null = isNode(document.contents) ? document.contents : null
  let start = node?.range?.[0] ?? null
  for (const segment of pointerSegments(pointer)) {
    const next = childNode(node, segment)
    if (next === null) break
    node = next.value
    const marked = at === 'key' ? (next.key ?? next.value) : (next.value ?? next.key)
    start = marked?.range?.[0] ?? start
  }
  return start === null ? null : position(start)
}

interface Child {
  readonly key: Node | null
  readonly value: Node | null
}

function childNode(node: Node | null, segment: string): Child | null {
  if (isMap(node)) {
    const pair = node.items.find(({ key }: Pair) => isScalar(key) && String(key.value) === segment)
    return pair === undefined ? null : { key: nodeOrNull(pair.key), value: nodeOrNull(pair.value) }
  }
  if (isSeq(node)) {
    const item = node.items[Number(segment)]
    return item === undefined ? null : { key: null, value: nodeOrNull(item) }
  }
  return null
}

function nodeOrNull(value: unknown): Node | null {
  return isNode(value) ? value : null
}
