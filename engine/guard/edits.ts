/**
 * Reads from the arguments of a tool call which file changes it makes. It recognises edits with both sides, an
 * insertion at a line, a patch, or new content (docs/reference/envelope.md#rules-for-consumers). Argument names are
 * those of the common file tools. Arguments that are not recognised are no change, and a caller that needs one stops.
 */
import type { StructuredPatch } from 'diff'
import { applyPatch } from 'diff/lib/patch/apply.js'
import { parsePatch } from 'diff/lib/patch/parse.js'
import type { Reason } from '../decide/envelope-members.ts'
import { reason } from '../decide/reasons.ts'
import { fail, ok, type Result } from '../common/result.ts'
import { readJson } from '../contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import { isSameFile } from '../common/file-path.ts'
import {
  boundedMoves,
  boundedPaths,
  chained,
  ENDS_OF_MOVES,
  FILE_ARGUMENTS,
  mentionedPaths,
  pairsIn,
  PATCHES,
} from './named-files.ts'
import { isRecord, type JsonRecord } from '../schema/located.ts'

/** One replacement, in both sides. */
interface Replacement {
  readonly before: string
  readonly after: string
  readonly isEverywhere: boolean
}

export type FileChange =
  | { readonly kind: 'edit'; readonly path: string; readonly replacements: readonly Replacement[] }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  /** @property line after which the text goes; 0: before the first */
  | { readonly kind: 'insert'; readonly path: string; readonly line: number; readonly text: string }
  | { readonly kind: 'patch'; readonly path: string; readonly patch: StructuredPatch }
  /** A part of the file, in a way that is not followed. */
  | { readonly kind: 'part'; readonly path: string }

/**
 * The file changes in arguments. `unclear`: an unknown change, in one of the named files. `excessive`: more files, or
 * longer names, than can be looked at.
 */
export type FileChanges =
  | { readonly kind: 'none' }
  | { readonly kind: 'excessive' }
  | { readonly kind: 'unclear'; readonly paths: readonly string[] }
  | { readonly kind: 'changes'; readonly changes: readonly FileChange[] }
  /** One file takes another's place, by a move or a copy. */
  | { readonly kind: 'moved'; readonly from: string; readonly to: string }

/** Members that a tool takes. Null: unknown. */
type DeclaredNames = ReadonlySet<string> | null

/** JsonRecord around the arguments, which some frameworks remove. */
const WRAPPERS = ['args', 'arguments', 'input', 'parameters', 'params', 'kwargs'] as const
const CONTENTS = ['content', 'contents', 'new_content', 'newContent', 'text', 'file_text'] as const
const INSERTED = ['insert_text', 'new_str', 'text'] as const
const SIDES = [
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
] as const

/** Pairs that change a file in a way that is not followed: with expressions, or several places. */
const OTHER_SIDES = pairsIn(
  'find:replace search:replace search:replacement pattern:replacement pattern:replace regex:repl needle:repl',
  'old:new old_content:new_content oldContent:newContent old_code:new_code oldCode:newCode from_text:to_text',
  'original:updated original:replacement target:replacement search_text:replace_text searchText:replaceText',
)
/** Members that put a content at a place of the file, or behind it. */
const POSITIONS = [
  ...(['line', 'line_number', 'lineNumber', 'start_line', 'end_line', 'startLine', 'endLine', 'start', 'end'] as const),
  ...(['position', 'offset', 'range', 'insert_at', 'insertAt', 'after', 'before', 'anchor'] as const),
] as const
/** Values of `mode` with which a content is the whole file. */
const WHOLE = /^(?:rewrite|overwrite|write|create|replace|w|wt|w\+|)$/i
/** Members whose text comes into a file, or is taken out of it. */
export const CHANGED_TEXTS: ReadonlySet<string> = new Set([...CONTENTS, ...PATCHES, ...SIDES.flat(), 'insert_text'])

/** JsonRecord that say where. */
const PLACES: ReadonlySet<string> = new Set([...FILE_ARGUMENTS, ...PATCHES, 'files'])
/** JsonRecord that say what. */
const CHANGING: ReadonlySet<string> = new Set<string>([...CHANGED_TEXTS, 'edits', 'files', 'insert_line'])

/**
 * Null if the arguments describe no change of one file. Two kinds of change together are ambiguous, so they count as
 * none.
 */
export function readFileChange(args: unknown): FileChange | null {
  const read = readFileChanges(args, null)
  const [only, ...others] = read.kind === 'changes' ? read.changes : []
  return only === undefined || others.length > 0 ? null : only
}

/**
 * All files that one call changes: `files[]` with a change each, a patch of several files, or one file.
 * @param declared members that the tool takes; another member could change what the tool does. Null: unknown
 */
export function readFileChanges(given: unknown, declared: DeclaredNames): FileChanges {
  const layers = layersOf(given)
  if (!layers.some(namesFile)) return { kind: 'none' }
  const concerned = layers.filter((layer) => namesGiven(layer).length > 0)
  const [args, ...others] = concerned
  const names = concerned.flatMap(namesGiven)
  const moves = boundedMoves(layers)
  if (moves === null) return EXCESSIVE
  const isChange =
    names.some((name) => PLACES.has(name)) &&
    (names.some((name) => CHANGING.has(name)) || layers.some((layer) => hasPair(layer, OTHER_SIDES)))
  const [move, ...furtherMoves] = moves
  if (!isChange && move === undefined) return { kind: 'none' }
  const ends = moves.flatMap(({ from, to }) => [from, to])
  if (!isChange && move !== undefined && furtherMoves.length === 0)
    return boundedPaths(ends) === null ? EXCESSIVE : { kind: 'moved', ...move }
  if (args === undefined || move !== undefined) return unclear(concerned, ends)
  // A tool may take what stands around its arguments, or what stands in them.
  const isDeclared = declared === null || names.every((name) => declared.has(name))
  const changes = isDeclared && others.length === 0 ? readChanges(args, declared) : null
  if (changes === null) return unclear(concerned, [])
  return boundedPaths(changes.map(({ path }) => path)) === null ? EXCESSIVE : { kind: 'changes', changes }
}

const EXCESSIVE = { kind: 'excessive' } as const

function unclear(layers: readonly JsonRecord[], ends: readonly string[]): FileChanges {
  const paths = boundedPaths(chained(ends, ...layers.map(mentionedPaths)))
  return paths === null ? EXCESSIVE : { kind: 'unclear', paths }
}

/** Names without which arguments change no file. Most calls have none of them. */
const NAMING: ReadonlySet<string> = new Set([...PLACES, ...ENDS_OF_MOVES.flat()])

function namesFile(args: JsonRecord): boolean {
  return Object.keys(args).some((name) => NAMING.has(name))
}

function namesGiven(args: JsonRecord): readonly string[] {
  return Object.keys(args).filter((name) => (PLACES.has(name) || CHANGING.has(name)) && isPresent(args[name]))
}

function hasPair(layer: JsonRecord, pairs: readonly (readonly string[])[]): boolean {
  return pairs.some((names) => names.every((name) => isPresent(layer[name])))
}

/** A pair that is not followed, or a content beside a place in the file, which is not the whole file. */
function isPartly(layer: JsonRecord): boolean {
  if (hasPair(layer, OTHER_SIDES)) return true
  if (!CONTENTS.some((name) => typeof layer[name] === 'string')) return false
  const { mode, append } = layer
  const isPart = (isPresent(append) && append !== false) || (isPresent(mode) && !WHOLE.test(String(mode)))
  return isPart || POSITIONS.some((name) => isPresent(layer[name]))
}

/** Every text in arguments that may be the path of a file. Null: they are more, or longer, than can be looked at. */
export function namedFiles(given: unknown): readonly string[] | null {
  return boundedPaths(chained(...layersOf(given).map(mentionedPaths)))
}

const MAX_LAYERS = 256

/** The arguments, and what is wrapped in them, also as JSON text. */
function layersOf(given: unknown): readonly JsonRecord[] {
  const layers: JsonRecord[] = []
  const open: unknown[] = [given]
  while (open.length > 0 && layers.length < MAX_LAYERS) {
    const next = open.pop()
    const value = typeof next === 'string' ? jsonObjectIn(next) : next
    if (!isRecord(value)) continue
    layers.push(value)
    for (const name of WRAPPERS) if (value[name] !== undefined) open.push(value[name])
  }
  return layers
}

function jsonObjectIn(text: string): unknown {
  const read = text.trimStart().startsWith('{') ? readJson(text, DEFAULT_DOCUMENT_LIMITS) : null
  return read?.ok === true ? read.value : null
}

/** Clients send null for what they leave out. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function readChanges(args: JsonRecord, declared: DeclaredNames): readonly FileChange[] | null {
  const path = readPathArgument(args)
  const patch = firstText(args, PATCHES)
  const ways = [Array.isArray(args['files']), patch !== null, isPresent(args['insert_line'])].filter(Boolean)
  const hasOwn =
    readReplacements(args, declared) !== null ||
    hasPair(args, OTHER_SIDES) ||
    CONTENTS.some((name) => typeof args[name] === 'string')
  if (Array.isArray(args['files']))
    return ways.length > 1 || hasOwn || path !== null ? null : readAll(args['files'], declared)
  if (patch !== null) return ways.length > 1 || hasOwn ? null : readPatch(patch, path)
  if (path === null) return null
  const change = isPresent(args['insert_line']) ? readInsertion(args, path) : readChange(args, path, declared)
  return change === null ? null : [change]
}

/** The path that arguments name, by however many members; null when there is none, or they differ. */
function readPathArgument(args: JsonRecord): string | null {
  const given = FILE_ARGUMENTS.map((name) => args[name]).filter(isPresent)
  const [path, ...others] = given
  if (typeof path !== 'string' || path === '') return null
  return others.every((other) => other === path) ? path : null
}

/** The file after the change. @param prior the file as it is now; null: there is none */
export function applyFileChange(prior: string | null, change: FileChange): Result<string, Reason> {
  if (change.kind === 'write') return ok(change.content)
  if (change.kind === 'patch') return applyFilePatch(prior ?? '', change.patch)
  if (change.kind === 'part') return unrecognised('What the call would make of the file cannot be determined.')
  if (prior === null) return unrecognised('There is no file to change.')
  return change.kind === 'edit' ? applyReplacements(prior, change.replacements) : applyInsertion(prior, change)
}

/** Letters that all edits of one call may look through together: each goes over the whole file. A third of a second. */
const MAX_WORK = 200_000_000
/** The same for a patch, in lines of the file and of the patch: a part of it is looked for at every line. */
const MAX_LINES_COMPARED = 50_000_000

/** What `String.replace` of JavaScript puts other text for. MCP servers of files have passed new texts to it. */
const EXPANDED = /\$[$&`']/

/** The file after the edits, in order. A text that occurs never or several times in the file is ambiguous. */
function applyReplacements(prior: string, replacements: readonly Replacement[]): Result<string, Reason> {
  if (prior.length * replacements.length > MAX_WORK)
    return unrecognised('The edits of a file of this length are too many to be followed; make them in several calls.')
  let text = prior
  for (const { before, after, isEverywhere } of replacements) {
    if (EXPANDED.test(after))
      return unrecognised(
        `Some tools expand ${EXPANDED.exec(after)?.[0]} in a new text, so the result of the edit is unknown. Write the whole file.`,
      )
    const parts = text.split(before)
    if (before === '' || parts.length < 2 || (parts.length > 2 && !isEverywhere))
      return unrecognised('The text to replace is not in the file exactly once, so the result of the edit is unknown.')
    text = parts.join(after)
  }
  return ok(text)
}

function applyInsertion(
  prior: string,
  { line, text }: Extract<FileChange, { kind: 'insert' }>,
): Result<string, Reason> {
  const lines = prior.split('\n')
  if (line > lines.length) return unrecognised('The file has fewer lines than the text is to be put after.')
  return ok([...lines.slice(0, line), ...text.replace(/\n$/, '').split('\n'), ...lines.slice(line)].join('\n'))
}

function applyFilePatch(prior: string, patch: StructuredPatch): Result<string, Reason> {
  const lines = patch.hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, 0)
  if (linesOf(prior) * lines > MAX_LINES_COMPARED)
    return unrecognised('The patch is too long for a file of this length; change it in several calls.')
  const patched = applyPatch(prior, patch)
  return patched === false ? unrecognised('The patch does not fit the file as it is.') : ok(patched)
}

function linesOf(text: string): number {
  let lines = 1
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines += 1
  return lines
}

function unrecognised(message: string): Result<string, Reason> {
  return fail(reason('GUARD_CALL_UNRECOGNISED', message))
}

function readAll(values: readonly unknown[], declared: DeclaredNames): readonly FileChange[] | null {
  const changes: FileChange[] = []
  for (const value of values) {
    const path = isRecord(value) ? readPathArgument(value) : null
    const change = path === null || !isRecord(value) ? null : readChange(value, path, declared)
    if (change === null) return null
    changes.push(change)
  }
  return changes.length === 0 ? null : changes
}

function readChange(args: JsonRecord, path: string, declared: DeclaredNames): FileChange | null {
  if (isPartly(args)) return { kind: 'part', path }
  const content = firstText(args, CONTENTS)
  const replacements = readReplacements(args, declared)
  if (content !== null && replacements !== null) return null
  if (replacements !== null) return { kind: 'edit', path, replacements }
  return content === null ? null : { kind: 'write', path, content }
}

/** Editors whose `insert` names a line. With another change in the same call it is unclear which one the tool makes. */
function readInsertion(args: JsonRecord, path: string): FileChange | null {
  const line = args['insert_line']
  if (typeof line !== 'number' || !Number.isSafeInteger(line) || line < 0) return null
  const isAlone = [...CHANGING].every(
    (name) => name === 'insert_line' || INSERTED.some((text) => text === name) || !isPresent(args[name]),
  )
  const text = isAlone ? firstText(args, INSERTED) : null
  return text === null ? null : { kind: 'insert', path, line, text }
}

/**
 * A path next to a patch gives the place of its one file, and the patch headers must name the same file as `diff -u`
 * and git write it.
 */
function readPatch(patch: string, path: string | null): readonly FileChange[] | null {
  const files = parsedPatch(patch)
  if (files === null || files.length === 0 || (path !== null && files.length > 1) || MOVES.test(patch)) return null
  const changes: FileChange[] = []
  for (const file of files) {
    const named = patchedPath(file)
    if (file.hunks.length === 0 || (named === null && !isUnnamedPatch(file))) return null
    if (path !== null && named !== null && !isSameFile(path, named)) return null
    const changed = path ?? named
    if (changed === null) return null
    changes.push({ kind: 'patch', path: changed, patch: file })
  }
  return changes
}

/** Header lines that some readers take for other file names than those of `---` and `+++`. */
const MOVES = /^(?:Index:|rename (?:from|to) |copy (?:from|to) )/m

function isUnnamedPatch({ oldFileName, newFileName }: StructuredPatch): boolean {
  return oldFileName === undefined && newFileName === undefined
}

function parsedPatch(patch: string): readonly StructuredPatch[] | null {
  try {
    return parsePatch(patch)
  } catch {
    return null
  }
}

/**
 * A change that also moves its file concerns two files, which is ambiguous. So is a header that git would not write:
 * tools remove the folder, or keep it.
 */
function patchedPath({ oldFileName, newFileName }: StructuredPatch): string | null {
  const isGit = [oldFileName, newFileName].every(
    (name) => name === undefined || name === '/dev/null' || /^[ab]\//.test(name),
  )
  const [from, to] = [oldFileName, newFileName].map((name) =>
    name === undefined ? '/dev/null' : isGit ? name.replace(/^[ab]\//, '') : name,
  )
  if (to === undefined || from === undefined) return null
  const path = from === '/dev/null' ? to : to === '/dev/null' || to === from ? from : null
  if (path === null || path === '/dev/null') return null
  return isGit || !path.replace(/^\/+/, '').includes('/') ? path : null
}

function readReplacements(args: JsonRecord, declared: DeclaredNames): readonly Replacement[] | null {
  const own = readReplacement(args, declared)
  if (!isPresent(args['edits'])) return own === null ? null : [own]
  if (own !== null || !Array.isArray(args['edits']) || args['edits'].length === 0) return null
  const entries: readonly unknown[] = args['edits']
  const edits = entries.map((edit) => (isRecord(edit) ? readReplacement(edit, declared) : null))
  return edits.every((edit) => edit !== null) ? edits : null
}

/** Members of an edit by which a tool that declares them replaces each place; another tool replaces the first. */
const EVERYWHERE = ['replace_all', 'replaceAll'] as const

function readReplacement(value: JsonRecord, declared: DeclaredNames): Replacement | null {
  for (const [oldName, newName] of SIDES) {
    const before = value[oldName]
    const after = value[newName]
    const isEverywhere = EVERYWHERE.some((name) => value[name] === true && declared?.has(name) === true)
    if (typeof before === 'string' && typeof after === 'string') return { before, after, isEverywhere }
  }
  return null
}

function firstText(value: JsonRecord, names: readonly string[]): string | null {
  const found = names.map((name) => value[name]).filter((text) => typeof text === 'string')
  // Two possible members are ambiguous: the tool might take the other one.
  return found.length === 1 ? (found[0] ?? null) : null
}
