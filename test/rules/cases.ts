/**
 * The cases of the rules: one file an area of a format, with one base contract and, a rule each, the edits that lead to both sides
 * and what is found. Tests run them and the documentation shows them. Edits are JSON Patch (RFC 6902) for YAML and JSON contracts,
 * unified hunks for GraphQL and protobuf ones.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { applyPatch as applyHunks } from 'diff'
import { applyPatch, type Operation } from 'rfc6902'
import { parse, stringify } from 'yaml'

export interface RuleCase {
  readonly rule: string
  readonly level: string
  /** JSON Pointer of the finding; undefined where the case does not state it. */
  readonly location?: string
  /** Operation of the first place, `GET /things`; null: of none. */
  readonly operation?: string | null
  /** Operations of all places. */
  readonly operations?: readonly string[]
  readonly tool?: string
  readonly options?: Readonly<Record<string, unknown>>
  /** Texts of both sides. */
  readonly before: string
  readonly after: string
  /** `text`: the sides are no YAML or JSON documents. */
  readonly syntax: 'yaml' | 'json' | 'text'
  /** File that holds the case, from the root of the repository. */
  readonly file: string
}

/** A whole text, JSON Patch, or hunks; `base` stands before the edits of `before`, `before` before those of `after`. */
type Edits = string | readonly Operation[]

interface StoredCase extends Omit<RuleCase, 'before' | 'after' | 'syntax' | 'file'> {
  /** Name of the base; absent: `main`. */
  readonly base?: string
  readonly before?: Edits
  readonly after?: Edits
}

interface CaseFile {
  readonly syntax: RuleCase['syntax']
  /** By name: documents, or texts. */
  readonly bases: Readonly<Record<string, unknown>>
  readonly cases: readonly StoredCase[]
}

/** Prefix of a side that is a text of its own: no contract at all, for one. */
const WHOLE = 'text:'

export function ruleCases(format: string): readonly RuleCase[] {
  // A format without a folder has no cases; that every format has one is a test of its own.
  if (!caseFormats().includes(format)) return []
  const folder = new URL(`${format}/`, import.meta.url)
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => casesOf(readFileSync(new URL(name, folder), 'utf8'), `test/rules/${format}/${name}`))
}

export function ruleCase(format: string, rule: string): RuleCase {
  const found = ruleCases(format).find((candidate) => candidate.rule === rule)
  if (found === undefined) throw new Error(`test/rules/${format} has no case of ${rule}`)
  return found
}

/** Formats that have cases. */
export function caseFormats(): readonly string[] {
  return readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
}

function casesOf(text: string, file: string): readonly RuleCase[] {
  const { syntax, bases, cases }: CaseFile = parse(text)
  const write = (side: unknown): string => {
    if (typeof side === 'string') return side
    return syntax === 'json' ? JSON.stringify(side, null, 2) : stringify(side)
  }
  return cases.map(({ base = 'main', before, after, ...found }) => {
    if (!(base in bases)) throw new Error(`${file}: the case of ${found.rule} names no base: ${base}`)
    const start = edited(bases[base], before, `${file}, ${found.rule}, before`)
    const end = edited(start, after, `${file}, ${found.rule}, after`)
    return { ...found, before: write(start), after: write(end), syntax, file }
  })
}

function edited(side: unknown, edits: Edits | undefined, where: string): unknown {
  if (edits === undefined) return side
  if (typeof edits !== 'string') return patched(side, edits, where)
  if (edits.startsWith(WHOLE)) return edits.slice(WHOLE.length)
  if (typeof side !== 'string') throw new Error(`${where}: hunks for a document; use JSON Patch`)
  const result = applyHunks(side, edits)
  if (result === false) throw new Error(`${where}: the hunks do not fit`)
  return result
}

function patched(side: unknown, operations: readonly Operation[], where: string): unknown {
  const document = { root: structuredClone(side) }
  const moved = operations.map((operation) => ({ ...operation, path: `/root${operation.path}` }))
  const failed = applyPatch(document, moved).find((error) => error !== null)
  if (failed) throw new Error(`${where}: ${failed.message}`)
  return document.root
}
