/** The step from one object to a choice of objects (`oneOf`) that it, or its properties, went into. */
import type { PairContext } from './examination.ts'
import { pointerOf, type JsonRecord } from './located.ts'
import { itemsOf, locateItem, membersOf, textsOf, withoutTypes } from './subschemas.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

/** Tells an object that became a choice as one change, and hands back the members without what that explains. */
export function compareWrapping(
  base: JsonRecord,
  head: JsonRecord,
  { before, after, sources, add: say, descend, isSameShape }: PairContext,
): readonly [JsonRecord, JsonRecord] {
  const moved = movedProperties(base, head, after, sources.after)
  if (moved === null) return [base, head]
  const alternatives = itemsOf(head, 'oneOf').map((_, index, list) => locateItem(after, list, 'oneOf', index))
  const original = alternatives.find((item) => {
    const resolved = resolveSchema(item, sources.after)
    // By where it stands, not by how it is named: one schema may have several names.
    const isNamed = resolved.reference !== null && before.reference !== null
    const isSamePlace = isNamed && pointerOfSchema(resolved) === pointerOfSchema(before)
    return isSamePlace || isSameShape({ ...before, value: base }, item)
  })
  const keyword = original === undefined ? 'wrappedInOneOf' : 'joinedInOneOf'
  say({ keyword, action: 'became', name: null, before: null, after: head.oneOf, steps: ['oneOf'] })
  if (original === undefined) return [withoutProperties(withoutTypes(base), moved), withoutTypes(head)]
  const label = before.reference === null ? '' : (pointerOfSchema(before).split('/').at(-1) ?? '')
  descend([`oneOf[${label}]`], before, original)
  return [{}, withoutTypes(head)]
}

function pointerOfSchema({ at, document }: ResolvedSchema): string {
  return pointerOf(at, document)
}

/** Base properties that live on in an alternative, when an object became a choice of objects; null when none did. */
function movedProperties(
  before: JsonRecord,
  after: JsonRecord,
  owner: ResolvedSchema,
  source: SchemaSource,
): ReadonlySet<string> | null {
  const alternatives = itemsOf(after, 'oneOf')
  const names = Object.keys(membersOf(before, 'properties'))
  if (names.length === 0 || before.oneOf !== undefined || alternatives.length === 0) return null
  if (after.properties !== undefined || after.type !== undefined) return null
  const held = alternatives.map((_, index) =>
    membersOf(resolveSchema(locateItem(owner, alternatives, 'oneOf', index), source).value, 'properties'),
  )
  const moved = names.filter((name) => held.some((properties) => Object.hasOwn(properties, name)))
  return moved.length === 0 ? null : new Set(moved)
}

function withoutProperties(schema: JsonRecord, names: ReadonlySet<string>): JsonRecord {
  const properties = Object.entries(membersOf(schema, 'properties')).filter(([name]) => !names.has(name))
  const required = textsOf(schema.required).filter((name) => !names.has(name))
  return { ...schema, properties: Object.fromEntries(properties), required }
}
