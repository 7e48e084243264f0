/** Reading draft 4 in the syntax that the generator holds: the inverse of what `dialects.ts` writes. */
import { entriesOf, isKeywords, isSchema, namesIn, schemasIn, without, type Keywords, type Schema } from './schema.ts'

/** The schema in the syntax of 2020-12; null where it refers to anything but its root and its definitions. */
export function readDraft4(schema: Schema): Schema | null {
  const references = JSON.stringify(schema).match(/"\$ref":"[^"]*"/g) ?? []
  if (references.some((one) => !/^"\$ref":"#(?:\/definitions\/\w+)?"$/.test(one))) return null
  return read(schema)
}

function read(schema: Schema): Schema {
  if (!isKeywords(schema)) return schema
  const { $schema: _language, id: _id, definitions, dependencies, items, additionalItems, $ref, ...rest } = schema
  const inside = Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => [keyword, readMember(keyword, value)]),
  )
  return {
    ...bounded(inside),
    ...(typeof $ref === 'string' ? { $ref: $ref.replace('#/definitions/', '#/$defs/') } : {}),
    ...(definitions === undefined ? {} : { $defs: readMap(definitions) }),
    ...dependencyOf(dependencies),
    ...itemsOf(items, additionalItems),
  }
}

const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties'])
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf'])
const ONES: ReadonlySet<string> = new Set(['not', 'additionalProperties'])

function readMember(keyword: string, value: unknown): unknown {
  if (MAPS.has(keyword)) return readMap(value)
  if (LISTS.has(keyword)) return schemasIn(value).map(read)
  return ONES.has(keyword) && isSchema(value) ? read(value) : value
}

function readMap(value: unknown): Keywords {
  return Object.fromEntries(entriesOf(value).map(([name, one]) => [name, read(one)]))
}

function bounded(schema: Keywords): Keywords {
  const lower = schema.exclusiveMinimum === true
  const upper = schema.exclusiveMaximum === true
  return {
    ...without(
      schema,
      'exclusiveMinimum',
      'exclusiveMaximum',
      ...(lower ? ['minimum'] : []),
      ...(upper ? ['maximum'] : []),
    ),
    ...(lower ? { exclusiveMinimum: schema.minimum } : {}),
    ...(upper ? { exclusiveMaximum: schema.maximum } : {}),
  }
}

function dependencyOf(dependencies: unknown): Keywords {
  if (!isKeywords(dependencies)) return {}
  const entries = Object.entries(dependencies)
  const lists = entries.flatMap(([name, value]) => (Array.isArray(value) ? [[name, namesIn(value)] as const] : []))
  const schemas = entries.flatMap(([name, value]) => (isSchema(value) ? [[name, read(value)] as const] : []))
  return {
    ...(lists.length > 0 ? { dependentRequired: Object.fromEntries(lists) } : {}),
    ...(schemas.length > 0 ? { dependentSchemas: Object.fromEntries(schemas) } : {}),
  }
}

/** `additionalItems` means something beside a list of schemas only. */
function itemsOf(items: unknown, additionalItems: unknown): Keywords {
  if (isSchema(items)) return { items: read(items) }
  if (!Array.isArray(items)) return {}
  const further = isSchema(additionalItems) ? { items: read(additionalItems) } : {}
  return { prefixItems: schemasIn(items).map(read), ...further }
}
