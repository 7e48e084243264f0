/**
 * The languages that schemas are written in: what each of them has, how it writes what the generator holds, and the validator
 * that judges what was written.
 */
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import draft04 from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import {
  entriesOf,
  isKeywords,
  isSchema,
  listOf,
  mapped,
  namesIn,
  schemasIn,
  without,
  type Keywords,
  type Schema,
} from './schema.ts'

export type Feature =
  | 'boolean schema'
  | 'choice'
  | 'condition'
  | 'contains'
  | 'content'
  | 'contains bounds'
  | 'dependency'
  | 'discriminator'
  | 'exclusive number'
  | 'form'
  | 'null'
  | 'patternProperties'
  | 'propertyNames'
  | 'mutability'
  | 'reference'
  | 'reference siblings'
  | 'root reference'
  | 'tuple'
  | 'type list'
  | 'unevaluated'

export const DIALECT_NAMES = [
  'draft-04',
  'draft-06',
  'draft-07',
  '2019-09',
  '2020-12',
  'swagger-2.0',
  'openapi-3.0',
  'openapi-3.1',
  'crd',
] as const

export type DialectName = (typeof DIALECT_NAMES)[number]

export type Validator = (instance: unknown) => boolean

export interface Dialect {
  readonly name: DialectName
  /** Value of `$schema`; null where the document that holds the schema states the language. */
  readonly meta: string | null
  readonly has: ReadonlySet<Feature>
  /** Where definitions stand in a document that is one schema. */
  readonly definitions: '$defs' | 'definitions'
  readonly write: (schema: Schema) => Schema
  /** Compiles what was written. Contracts that are no JSON Schema are judged by what they mean in 2020-12. */
  readonly compile: (root: Schema) => Validator
}

interface Compiler {
  compile: (schema: object | boolean) => (instance: unknown) => unknown
  removeSchema: (schema: object) => unknown
}

const OPTIONS = {
  strict: false,
  allErrors: false,
  addUsedSchema: false,
  validateSchema: false,
  inlineRefs: false,
  logger: false,
  code: { optimize: false },
} as const

/** An instance keeps a trace of each schema that it compiled, also of removed ones. */
const COMPILED_BY_ONE = 200

function prepared(create: () => Parameters<typeof addFormats.default>[0] & Compiler): (root: Schema) => Validator {
  let ajv = create()
  let left = 0
  return (root) => {
    if (left === 0) {
      ajv = create()
      addFormats.default(ajv)
      left = COMPILED_BY_ONE
    }
    left -= 1
    const validate = ajv.compile(root)
    // Another schema may have the same identifier.
    if (typeof root === 'object') ajv.removeSchema(root)
    return (instance) => validate(instance) === true
  }
}

const by2020 = prepared(() => new Ajv2020(OPTIONS))
const by2019 = prepared(() => new Ajv2019(OPTIONS))
const by7 = prepared(() => new Ajv({ ...OPTIONS, ignoreKeywordsWithRef: true }))
const by4 = prepared(() => new draft04.default({ ...OPTIONS, ignoreKeywordsWithRef: true, schemaId: 'id' }))

const DRAFT_4: readonly Feature[] = [
  'choice',
  'dependency',
  'null',
  'patternProperties',
  'reference',
  'root reference',
  'tuple',
  'type list',
]
const DRAFT_6: readonly Feature[] = [...DRAFT_4, 'boolean schema', 'contains', 'propertyNames', 'exclusive number']
const DRAFT_7: readonly Feature[] = [...DRAFT_6, 'condition', 'content']
const DRAFT_2019: readonly Feature[] = [...DRAFT_7, 'contains bounds', 'reference siblings', 'unevaluated']

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'draft-04',
    meta: 'http://json-schema.org/draft-04/schema#',
    has: new Set(DRAFT_4),
    definitions: 'definitions',
    write: writer(withFlagBounds, withEnums, withTuples, withDependencies, withoutBooleans),
    compile: by4,
  },
  {
    name: 'draft-06',
    meta: 'http://json-schema.org/draft-06/schema#',
    has: new Set(DRAFT_6),
    definitions: 'definitions',
    write: writer(withTuples, withDependencies),
    compile: (root) => by7(isKeywords(root) ? without(root, '$schema') : root),
  },
  {
    name: 'draft-07',
    meta: 'http://json-schema.org/draft-07/schema#',
    has: new Set(DRAFT_7),
    definitions: 'definitions',
    write: writer(withTuples, withDependencies),
    compile: by7,
  },
  {
    name: '2019-09',
    meta: 'https://json-schema.org/draft/2019-09/schema',
    has: new Set(DRAFT_2019),
    definitions: '$defs',
    write: writer(withTuples),
    compile: by2019,
  },
  {
    name: '2020-12',
    meta: 'https://json-schema.org/draft/2020-12/schema',
    has: new Set(DRAFT_2019),
    definitions: '$defs',
    write: writer(),
    compile: by2020,
  },
  {
    name: 'swagger-2.0',
    meta: null,
    has: new Set(['form', 'reference', 'mutability']),
    definitions: '$defs',
    write: writer(withFlagBounds, withEnums, withMark('x-nullable'), withoutBooleans),
    compile: by2020,
  },
  {
    name: 'openapi-3.0',
    meta: null,
    has: new Set(['choice', 'discriminator', 'form', 'null', 'reference', 'mutability']),
    definitions: '$defs',
    write: writer(withFlagBounds, withEnums, withMark('nullable'), withoutBooleans),
    compile: by2020,
  },
  {
    name: 'openapi-3.1',
    meta: null,
    has: new Set([...DRAFT_2019.filter((one) => one !== 'root reference'), 'discriminator', 'form', 'mutability']),
    definitions: '$defs',
    write: writer(),
    compile: by2020,
  },
  {
    name: 'crd',
    meta: null,
    has: new Set(['choice', 'null']),
    definitions: '$defs',
    write: writer(withFlagBounds, withEnums, withMark('nullable'), withoutBooleans),
    compile: by2020,
  },
]

export function dialectOf(name: string): Dialect {
  const found = DIALECTS.find((dialect) => dialect.name === name)
  if (found === undefined) throw new Error(`there is no dialect ${name}`)
  return found
}

/** Every schema from the inside out, each through all steps. */
function writer(...steps: readonly ((schema: Keywords) => Schema)[]): (schema: Schema) => Schema {
  return (schema) =>
    mapped(schema, (one) =>
      steps.reduce<Schema>((written, step) => (isKeywords(written) ? step(written) : written), one),
    )
}

/** An exclusive bound as a mark at the other one (draft-fge-json-schema-validation-00 §5.1.2). */
function withFlagBounds(schema: Keywords): Schema {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema
  return {
    ...rest,
    ...flagged('minimum', 'exclusiveMinimum', minimum, exclusiveMinimum, Math.max),
    ...flagged('maximum', 'exclusiveMaximum', maximum, exclusiveMaximum, Math.min),
  }
}

function flagged(
  name: string,
  mark: string,
  limit: unknown,
  exclusive: unknown,
  tighter: (a: number, b: number) => number,
): Keywords {
  if (typeof exclusive !== 'number') return limit === undefined ? {} : { [name]: limit }
  if (typeof limit !== 'number' || tighter(limit, exclusive) === exclusive) return { [name]: exclusive, [mark]: true }
  return { [name]: limit }
}

function withEnums({ const: value, ...rest }: Keywords): Schema {
  if (value === undefined) return rest
  if (rest.enum === undefined) return { ...rest, enum: [value] }
  // Definitions stay at the root.
  return { ...rest, allOf: [...schemasIn(rest.allOf), { enum: [value] }] }
}

function withTuples({ prefixItems, items, ...rest }: Keywords): Schema {
  if (prefixItems === undefined) return items === undefined ? rest : { ...rest, items }
  return { ...rest, items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }) }
}

function withDependencies({ dependentRequired, dependentSchemas, ...rest }: Keywords): Schema {
  if (dependentRequired === undefined && dependentSchemas === undefined) return rest
  const lists = isKeywords(dependentRequired) ? Object.entries(dependentRequired) : []
  const schemas = entriesOf(dependentSchemas)
  const doubled = schemas.filter(([name]) => lists.some(([other]) => other === name))
  const dependencies = { ...Object.fromEntries(lists), ...Object.fromEntries(schemas) }
  if (doubled.length === 0) return { ...rest, dependencies }
  return {
    ...rest,
    dependencies: Object.fromEntries(schemas),
    allOf: [...schemasIn(rest.allOf), { dependencies: Object.fromEntries(lists) }],
  }
}

/** Null as a mark beside the type, as OpenAPI 3.0.3 has it. A choice that only adds null is a mark beside an `allOf` or a reference. */
function withMark(mark: string): (schema: Keywords) => Schema {
  return (schema) => {
    const { type, anyOf, ...rest } = schema
    if (type === 'null' || namesIn(type).join() === 'null') {
      const only = { type: 'string', enum: [null], [mark]: true }
      const others = without(schema, 'type')
      return Object.keys(others).length === 0 ? only : { allOf: [only, others] }
    }
    if (Array.isArray(type)) {
      const named = type.filter((one) => one !== 'null')
      const single = named.length === 1 ? { type: named[0] } : {}
      return { ...schemaRest(rest, anyOf), ...single, ...(named.length < type.length ? { [mark]: true } : {}) }
    }
    return schema
  }
}

function schemaRest(rest: Keywords, anyOf: unknown): Keywords {
  return anyOf === undefined ? rest : { ...rest, anyOf }
}

/** Boolean schemas came with draft 6; the additional members of an object and of a list have always had them. */
function withoutBooleans(schema: Keywords): Schema {
  const written = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'additionalProperties' || keyword === 'additionalItems') return [keyword, value]
    if (isSchema(value) && keyword !== 'properties' && BOOLEAN_HOLDERS.has(keyword)) return [keyword, plain(value)]
    if (Array.isArray(value) && LIST_HOLDERS.has(keyword))
      return [keyword, listOf(value).map((one) => (isSchema(one) ? plain(one) : one))]
    if (!MAP_HOLDERS.has(keyword)) return [keyword, value]
    return [keyword, withoutBooleansIn(value)]
  })
  return Object.fromEntries(written)
}

const BOOLEAN_HOLDERS: ReadonlySet<string> = new Set(['items', 'not'])
const LIST_HOLDERS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'items'])
const MAP_HOLDERS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependencies', '$defs'])

function withoutBooleansIn(value: unknown): unknown {
  if (!isKeywords(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isSchema(one) ? plain(one) : one]))
}

function plain(schema: Schema): Schema {
  if (schema === true) return {}
  return schema === false ? { not: {} } : schema
}
