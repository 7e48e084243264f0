/**
 * Members of a request that its schema does not know (docs/reference/api.md#conventions). Some requests tolerate them, because
 * clients send more than a server knows. Then they are listed, but a misspelled known member is still a mistake. All other
 * requests accept no unknown member.
 */
import type { TSchema } from 'typebox'
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn, objectsIn } from '../json/unchecked-json.ts'
import { type BodyMistake, bodyMistake } from './route.ts'
import { pointerToken, misspelled, spelledNames, type SpelledNames } from '../../engine/base.ts'

interface UnknownMembers {
  /** JSON Pointers of tolerated members. */
  readonly ignored: readonly string[]
  readonly mistakes: readonly BodyMistake[]
}

/** More are not listed: a hostile body must not make a large answer. */
const LISTED = 100
/** Longest name that is repeated to the client, UTF-16 code units. */
const LONGEST_NAME = 200

/** The keywords of a schema that are read. */
type SchemaShape = Readonly<Record<string, unknown>>

/** @param isTolerant whether objects without a rule on further members tolerate them */
export function unknownMembers(schema: TSchema, value: unknown, isTolerant: boolean): UnknownMembers {
  const ignored: string[] = []
  const mistakes: BodyMistake[] = []
  const takeUnknown = (name: string, pointer: string, known: SpelledNames, isClosed: boolean): void => {
    if (mistakes.length >= LISTED) {
      // It is not listed, so only a mistake for certain counts.
      if (isClosed) mistakes.push(bodyMistake(pointer, 'is not known'))
      return
    }
    const meant = misspelled(name, known)
    if (meant === null && !isClosed) {
      if (ignored.length < LISTED) ignored.push(pointer)
      return
    }
    const message =
      meant === null
        ? `is not known; known here: ${known.map((one) => one.name).join(', ')}`
        : `is not known; did you mean "${meant}"?`
    mistakes.push(bodyMistake(pointer, message))
  }
  const walk = (shapes: readonly SchemaShape[], part: unknown, at: string): void => {
    if (Array.isArray(part)) {
      const items = shapes.flatMap(({ items: item }) => (isJsonObject(item) ? variantsOf(item) : []))
      if (items.length > 0) for (const [index, one] of part.entries()) walk(items, one, `${at}/${index}`)
      return
    }
    const objects = shapes.filter(({ properties }) => isJsonObject(properties))
    if (!isJsonObject(part)) return
    const named = shapes.flatMap(({ properties, additionalProperties: more }) =>
      properties === undefined && isJsonObject(more) ? variantsOf(more) : [],
    )
    if (named.length > 0)
      for (const [name, one] of Object.entries(part))
        walk(named, one, `${at}/${pointerToken(name.slice(0, LONGEST_NAME))}`)
    if (objects.length === 0) return
    const members = schemasByMember(objects)
    // A schema that defines its further members is open.
    const isOpen = objects.some(({ additionalProperties: more }) => more === true || isJsonObject(more))
    const isClosed = !isTolerant || objects.every(({ additionalProperties: more }) => more === false)
    const known = spelledNames(members.keys())
    for (const [name, inner] of Object.entries(part)) {
      const pointer = `${at}/${pointerToken(name.slice(0, LONGEST_NAME))}`
      const inside = members.get(name)
      if (inside !== undefined) walk(inside, inner, pointer)
      else if (!isOpen) takeUnknown(name, pointer, known, isClosed)
    }
  }
  walk(isJsonObject(schema) ? variantsOf(schema) : [], value, '')
  return { ignored, mistakes }
}

/** The alternatives of a union, or the schema alone. */
function variantsOf(schema: SchemaShape): readonly SchemaShape[] {
  const { anyOf } = schema
  const alternatives = objectsIn(anyOf)
  // `anyOf` next to `properties` lists which members are required.
  return schema['properties'] !== undefined || alternatives.length === 0 ? [schema] : alternatives.flatMap(variantsOf)
}

function schemasByMember(objects: readonly SchemaShape[]): ReadonlyMap<string, readonly SchemaShape[]> {
  const members = new Map<string, readonly SchemaShape[]>()
  for (const { properties } of objects)
    for (const [name, schema] of Object.entries(recordIn(properties)))
      members.set(name, [...(members.get(name) ?? []), ...(isJsonObject(schema) ? variantsOf(schema) : [])])
  return members
}
