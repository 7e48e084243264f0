/**
 * A contract of several files as one text: files that `$ref`s name are embedded under one extension member and the references
 * lead there, so that what is judged, hashed and kept is the whole contract. A contract of one file stays as it is, byte for byte.
 */
import { engine } from '../judging.ts'
import { posix } from 'node:path'
import type { DocumentLimits, Problem } from '../../engine/index.ts'
import type { FileAtCommit } from './platform.ts'

export interface Bundle {
  readonly text: string
  /** Paths of all files in it, the root's first. */
  readonly files: readonly string[]
}

export type BundleResult =
  | { readonly ok: true; readonly value: Bundle }
  | { readonly ok: false; readonly problem: Problem }

export const BUNDLED_FILES = 'x-preflight-files'
const MAX_FILES = 500

/** A `$ref` whose value does not begin with `#`; may take another text for one, and misses none. */
const FOREIGN_REFERENCE = /\$ref["']?\s*:\s*(?:["'](?!#)|[^\s"'#])/

/** @param read a file of the same side, by its path from the root of the repository */
export async function bundle(
  path: string,
  text: string,
  read: (path: string) => Promise<FileAtCommit>,
  limits: DocumentLimits,
): Promise<BundleResult> {
  if (!FOREIGN_REFERENCE.test(text)) return { ok: true, value: { text, files: [path] } }
  const documents = new Map<string, unknown>()
  const waiting: (readonly [path: string, text: string])[] = [[path, text]]
  let length = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [file, content] = next
    length += content.length
    if (length > limits.maxLength || documents.size === MAX_FILES) return { ok: false, problem: tooMuch(path, limits) }
    const document = engine().readDocument(content, limits)
    // The comparison says what is wrong with the root; a broken part is as good as one that is not there, on this side.
    if (!document.ok && file === path) return { ok: true, value: { text, files: [path] } }
    if (!document.ok)
      return { ok: false, problem: { ...document.problem, message: `${file}: ${document.problem.message}` } }
    documents.set(file, document.value.root)
    for (const named of namedFiles(document.value.root, file)) {
      if (documents.has(named) || waiting.some(([other]) => other === named)) continue
      const part = await read(named)
      if (part.kind === 'unreadable') return { ok: false, problem: part.problem }
      if (part.kind === 'text') waiting.push([named, part.text])
    }
  }
  return { ok: true, value: { text: joined(path, documents), files: [...documents.keys()] } }
}

function tooMuch(path: string, { maxLength }: DocumentLimits): Problem {
  return {
    code: 'ARTIFACT_OVER_LIMIT',
    message: `${path} refers to more than ${MAX_FILES} files, or to more than ${maxLength} characters in all.`,
  }
}

function joined(root: string, documents: ReadonlyMap<string, unknown>): string {
  const rewritten = (file: string) =>
    rewrite(documents.get(file), (reference) => moved(reference, file, root, documents))
  const parts = [...documents.keys()].filter((file) => file !== root)
  const whole = rewritten(root)
  const embedded = Object.fromEntries(parts.toSorted().map((file) => [file, rewritten(file)]))
  return JSON.stringify({ ...(isObject(whole) ? whole : {}), [BUNDLED_FILES]: embedded })
}

/** Where a reference leads within the bundle; what is not in it keeps its reference. */
function moved(reference: string, from: string, root: string, documents: ReadonlyMap<string, unknown>): string {
  const file = fileOf(reference, from) ?? from
  if (!documents.has(file)) return reference
  const hash = reference.indexOf('#')
  const fragment = hash === -1 ? '' : reference.slice(hash + 1)
  if (file === root) return `#${fragment}`
  // A named anchor is unique in its own document only, and stays what it is.
  if (fragment !== '' && !fragment.startsWith('/')) return reference
  const name = encodeURIComponent(file.replaceAll('~', '~0').replaceAll('/', '~1'))
  return `#/${BUNDLED_FILES}/${name}${fragment}`
}

/** Path from the root of the repository of the file that a reference names; null: its own, an absolute address, or outside. */
function fileOf(reference: string, from: string): string | null {
  const [file = ''] = reference.split('#', 1)
  if (file === '' || file.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(file)) return null
  const path = posix.normalize(posix.join(posix.dirname(from), decoded(file)))
  return path.startsWith('../') || path === '..' ? null : path
}

function decoded(file: string): string {
  try {
    return decodeURIComponent(file)
  } catch {
    return file
  }
}

function namedFiles(root: unknown, from: string): ReadonlySet<string> {
  const files = new Set<string>()
  rewrite(root, (reference) => {
    const file = fileOf(reference, from)
    if (file !== null) files.add(file)
    return reference
  })
  return files
}

/** A copy with other references. Parts that a YAML alias shares are copied once. */
function rewrite(root: unknown, move: (reference: string) => string): unknown {
  const made = new Map<object, unknown>()
  const copy = (value: unknown): unknown => {
    if (!isObject(value)) return value
    const known = made.get(value)
    if (known !== undefined) return known
    if (Array.isArray(value)) {
      const list: unknown[] = []
      made.set(value, list)
      for (const item of value) list.push(copy(item))
      return list
    }
    const result: Record<string, unknown> = Object.create(null)
    made.set(value, result)
    for (const [name, member] of Object.entries(value))
      result[name] = name === '$ref' && typeof member === 'string' ? move(member) : copy(member)
    return result
  }
  return copy(root)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
