/**
 * The drafts of JSON Schema that messages state for their payloads. A document is read by draft 7, which AsyncAPI's own schemas
 * extend. A payload of a later draft is rewritten, with all that it refers to within the document: there the siblings of a
 * `$ref` count.
 */
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { resolvePointer, localRefPointer } from '../pointer.ts'
import { withCountedSiblings } from '../schema-drafts.ts'
import { VALUES } from '../schema-keywords.ts'

const STATED = /^application\/schema\+(?:json|yaml)\s*;(?:.*;)?\s*version="?(?:draft-0?)?(\d[\d-]*)/i

/** The draft of JSON Schema that a format states, if it is not the one of AsyncAPI’s own schemas. */
export function statedDraft(format: unknown): string | null {
  const version = typeof format === 'string' ? STATED.exec(format)?.[1] : undefined
  if (version === undefined || version === '7' || version === '07') return null
  return version.length < 3 ? `draft-${version.padStart(2, '0')}` : version
}

/** Drafts in which the siblings of a `$ref` count. */
const COUNTED: ReadonlySet<unknown> = new Set(['2019-09', '2020-12'])

/** The document with the siblings of references in the form of draft 7 where they count. */
export function withPayloadDrafts(root: unknown): unknown {
  const counted = new Set<object>()
  for (const schema of schemasOfLaterDrafts(root)) collectReached(schema, root, counted)
  return counted.size === 0 ? root : withCountedReferences(root, counted)
}

function schemasOfLaterDrafts(root: unknown): readonly unknown[] {
  const found: unknown[] = []
  const open: unknown[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isRecord(next) && COUNTED.has(statedDraft(next['schemaFormat']))) found.push(next['schema'] ?? next['payload'])
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next))
  }
  return found
}

/** Adds a schema, the schemas in it, and those that they refer to. */
function collectReached(schema: unknown, root: unknown, reached: Set<object>): void {
  const open: unknown[] = [schema]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || reached.has(next)) continue
    reached.add(next)
    const members = Object.entries(next).filter(([name]) => Array.isArray(next) || !VALUES.has(name))
    open.push(...members.map(([, member]: [string, unknown]) => member))
    const { $ref: reference } = isRecord(next) ? next : NOTHING
    const pointer = typeof reference === 'string' ? localRefPointer(reference) : null
    const target = pointer === null ? null : resolvePointer(root, pointer)
    if (target?.found === true) open.push(target.value)
  }
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
