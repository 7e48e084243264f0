/**
 * The drafts of JSON Schema that messages state for their payloads. A document is read by draft 7, which AsyncAPI's own schemas
 * extend. A payload of a later draft is rewritten, with all that it refers to, also in other files: there the siblings of a
 * `$ref` count.
 */
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import type { Contents } from '../misplaced-references.ts'
import { joinPath } from '../file-references.ts'
import { resolvePointer, localRefPointer } from '../pointer.ts'
import { withCountedSiblings } from '../schema-drafts.ts'
import { evaluatesContainedIn, VALUES } from '../schema-keywords.ts'

const STATED = /^application\/schema\+(?:json|yaml)\s*;(?:.*;)?\s*version="?(?:draft-0?)?(\d[\d-]*)/i

/** The draft of JSON Schema that a format states, if it is not the one of AsyncAPI’s own schemas. */
export function statedDraft(format: unknown): string | null {
  const version = typeof format === 'string' ? STATED.exec(format)?.[1] : undefined
  if (version === undefined || version === '7' || version === '07') return null
  return version.length < 3 ? `draft-${version.padStart(2, '0')}` : version
}

/** Drafts in which the siblings of a `$ref` count. */
const COUNTED: ReadonlySet<unknown> = new Set(['2019-09', '2020-12'])

/** A schema, and the file that contains it; the document itself is ''. */
interface PlacedSchema {
  readonly value: unknown
  readonly path: string
}

interface PayloadContents extends Contents {
  /** As in `SchemaSource`. */
  readonly evaluatesContained: boolean | null
}

/** The document and its files with the siblings of references in the form of draft 7 where they count. */
export function withPayloadDrafts(contents: Contents): PayloadContents {
  const { root, files } = contents
  const opened = new Map<string, unknown>([['', root]])
  const open = (path: string): unknown => {
    const name = files.isDocument(path) ? '' : path
    if (!opened.has(name)) opened.set(name, files.open(name))
    return opened.get(name)
  }
  const counted = new Set<object>()
  const drafts = new Set<string>()
  for (const path of ['', ...files.paths])
    for (const { value, draft } of schemasOfLaterDrafts(open(path))) {
      drafts.add(draft)
      collectReached({ value, path }, open, counted)
    }
  const [draft = null, second] = drafts
  const evaluatesContained = second === undefined ? evaluatesContainedIn(draft) : null
  if (counted.size === 0) return { root, files: { ...files, open }, evaluatesContained }
  return {
    evaluatesContained,
    root: withCountedReferences(root, counted),
    files: { ...files, open: (path) => withCountedReferences(open(path), counted) },
  }
}

function schemasOfLaterDrafts(root: unknown): readonly { readonly value: unknown; readonly draft: string }[] {
  const found: { readonly value: unknown; readonly draft: string }[] = []
  const open: unknown[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const draft = isRecord(next) ? statedDraft(next['schemaFormat']) : null
    if (isRecord(next) && draft !== null && COUNTED.has(draft))
      found.push({ value: next['schema'] ?? next['payload'], draft })
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next))
  }
  return found
}

/** Adds a schema, the schemas in it, and those that they refer to. */
function collectReached(schema: PlacedSchema, open: (path: string) => unknown, reached: Set<object>): void {
  const waiting: PlacedSchema[] = [schema]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next
    if (typeof value !== 'object' || value === null || reached.has(value)) continue
    reached.add(value)
    const members = Object.entries(value).filter(([name]) => Array.isArray(value) || !VALUES.has(name))
    waiting.push(...members.map(([, member]: [string, unknown]) => ({ value: member, path })))
    const { $ref: reference } = isRecord(value) ? value : NOTHING
    if (typeof reference === 'string') waiting.push(...targetOf(reference, path, open))
  }
}

/** The schema at a pointer, in this file or another one; empty: it is not found. */
function targetOf(reference: string, from: string, open: (path: string) => unknown): readonly PlacedSchema[] {
  const [file = '', fragment = ''] = reference.split('#', 2)
  const path = file === '' ? from : joinPath(from, file)
  const pointer = localRefPointer(`#${fragment}`)
  const target = pointer === null ? null : resolvePointer(open(path), pointer)
  return target?.found === true ? [{ value: target.value, path }] : []
}

const NOTHING: JsonRecord = {}

function withCountedReferences(value: unknown, counted: ReadonlySet<object>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withCountedReferences(item, counted))
  if (!isRecord(value)) return value
  const schema = counted.has(value) ? withCountedSiblings(value) : value
  return Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, withCountedReferences(member, counted)]),
  )
}
