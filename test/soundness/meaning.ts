/** What a schema admits for those who stand at a surface, where it is no JSON Schema by itself. */
import type { Dialect } from './dialects.ts'
import { isKeywords, mapped, schemasIn, without, type Schema } from './schema.ts'

/**
 * Who is at a surface. What a `sender` may send breaks when it narrows, what a `reader` gets when it widens; what is `shared`
 * has both.
 */
export type Audience = 'sender' | 'reader' | 'shared'

/** The mark of members that are not sent to an audience, or by it. */
export function markOf(audience: Audience): 'readOnly' | 'writeOnly' | null {
  return audience === 'sender' ? 'readOnly' : audience === 'reader' ? 'writeOnly' : null
}

/**
 * What a contract admits. Up to draft 7 and OpenAPI 3.0, a reference hides the keywords next to it, of which ajv still reads
 * the type. Where it is no JSON Schema, members that are marked for the other direction are ignored.
 */
export function meaningIn(audience: Audience, root: Schema, dialect: Dialect): Schema {
  const mark = dialect.meta === null ? markOf(audience) : null
  return mapped(root, (one) => withoutMarked(mark, withoutHidden(one, dialect)))
}

function withoutHidden(schema: Schema, dialect: Dialect): Schema {
  if (!isKeywords(schema) || schema.$ref === undefined || dialect.has.has('reference siblings')) return schema
  return { $ref: schema.$ref, ...(schema.$defs === undefined ? {} : { $defs: schema.$defs }) }
}

function withoutMarked(mark: string | null, schema: Schema): Schema {
  if (mark === null || !isKeywords(schema) || !isKeywords(schema.properties)) return schema
  const absent = Object.entries(schema.properties).flatMap(([name, member]) => (isMarked(mark, member) ? [name] : []))
  if (absent.length === 0) return schema
  const required = Array.isArray(schema.required)
    ? { required: schema.required.filter((name) => !absent.includes(String(name))) }
    : {}
  return { ...schema, properties: without(schema.properties, ...absent), ...required }
}

/** Of several marks that apply to one value, one suffices (JSON Schema Validation 2020-12 §9.4). */
function isMarked(mark: string, member: unknown): boolean {
  return isKeywords(member) && (member[mark] === true || schemasIn(member.allOf).some((part) => isMarked(mark, part)))
}
