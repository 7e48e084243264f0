/**
 * Other ways to write a schema: each row admits the same values, which the validator checks for every pair that is drawn. The
 * rows are one table and stand in one file.
 */
import type { Dialect, Feature } from './dialects.ts'
import type { Random } from './random.ts'
import type { Surface } from './surfaces.ts'
import {
  entriesOf,
  isKeywords,
  isSchema,
  listOf,
  numberOf,
  placesOf,
  schemasIn,
  targetOf,
  typesOf,
  without,
  withSchemaAt,
  type Keywords,
  type Path,
  type Schema,
} from './schema.ts'

interface Context {
  readonly random: Random
  readonly dialect: Dialect
  readonly root: Schema
}

interface Rewrite {
  readonly needs?: Feature
  /** True where the whole is rewritten, definitions included. */
  readonly isOfRoot?: boolean
  /** True where only the words change: models read them, so that manifests of tools have findings. */
  readonly isText?: boolean
  /** The schema in other words, or null where the row does not apply. */
  readonly write: (schema: Keywords, context: Context) => Schema | null
}

/** Keywords that depend on the keywords next to them: moving one alone changes the meaning. */
const COUPLED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'prefixItems',
  'items',
  'unevaluatedItems',
  'contains',
  'minContains',
  'maxContains',
  'if',
  'then',
  'else',
  '$ref',
  '$defs',
  'readOnly',
  'writeOnly',
])

function isOnly(schema: Keywords, ...keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword))
}

function has(schema: Keywords, ...keywords: readonly string[]): boolean {
  return keywords.some((keyword) => schema[keyword] !== undefined)
}

/** What may stand around a schema: nothing that marks it for the object that holds it. */
function isWrappable(schema: Keywords): boolean {
  return !has(schema, 'readOnly', 'writeOnly', '$defs')
}

function around(write: (schema: Keywords) => Schema): Rewrite['write'] {
  return (schema) => (isWrappable(schema) ? write(schema) : null)
}

function replacedKeyword(schema: Keywords, keyword: string, value: unknown): Keywords | null {
  return schema[keyword] === undefined ? null : { ...schema, [keyword]: value }
}

function reordered(keyword: string): Rewrite['write'] {
  return (schema, { random }) => {
    const list = listOf(schema[keyword])
    return list.length < 2 ? null : { ...schema, [keyword]: random.shuffled(list.toReversed()) }
  }
}

function added(keyword: string, value: unknown, types: readonly string[]): Rewrite['write'] {
  return (schema) =>
    schema[keyword] === undefined && typesOf(schema).some((type) => types.includes(type)) && schema.$ref === undefined
      ? { ...schema, [keyword]: value }
      : null
}

function integers(schema: Keywords): boolean {
  return typesOf(schema).length === 1 && schema.type === 'integer'
}

/** Branches of which no value can be in two. */
function isDisjoint(branches: readonly Schema[]): boolean {
  if (branches.length < 2) return false
  const kinds = branches.map((one) => (isKeywords(one) && one.$ref === undefined ? typesOf(one) : []))
  if (kinds.some((types) => types.length === 0)) return false
  const all = kinds.flatMap((types) => types.map((type) => (type === 'integer' ? 'number' : type)))
  return new Set(all).size === all.length
}

function split(schema: Keywords, keyword: string): Schema | null {
  const value = schema[keyword]
  // A name that is required loses its duty where its member is marked, which is to be seen in one schema.
  const isMarked = entriesOf(schema.properties).some(([, one]) => isKeywords(one) && has(one, 'readOnly', 'writeOnly'))
  if (value === undefined || isMarked || has(schema, '$ref', 'unevaluatedProperties', 'unevaluatedItems')) return null
  return { ...without(schema, keyword), allOf: [...schemasIn(schema.allOf), { [keyword]: value }] }
}

export const REWRITES: Readonly<Record<string, Rewrite>> = {
  'allOf of one': { write: around((schema) => ({ allOf: [schema] })) },
  'anyOf of one': { needs: 'choice', write: around((schema) => ({ anyOf: [schema] })) },
  'oneOf of one': { needs: 'choice', write: around((schema) => ({ oneOf: [schema] })) },
  'a combination of one taken away': {
    write: (schema) => {
      const keyword = ['allOf', 'anyOf', 'oneOf'].find((one) => isOnly(schema, one) && listOf(schema[one]).length === 1)
      return keyword === undefined ? null : (schemasIn(schema[keyword])[0] ?? null)
    },
  },
  'not of not': { needs: 'choice', write: around((schema) => ({ not: { not: schema } })) },
  'keywords in another order': {
    write: (schema) =>
      Object.keys(schema).length < 2 ? null : Object.fromEntries(Object.entries(schema).toReversed()),
  },
  'types in another order': { needs: 'type list', write: reordered('type') },
  'listed values in another order': { write: reordered('enum') },
  'required names in another order': { write: reordered('required') },
  'branches of allOf in another order': { write: reordered('allOf') },
  'branches of anyOf in another order': { write: reordered('anyOf') },
  'branches of oneOf in another order': { write: reordered('oneOf') },
  'const as a list of one': {
    write: ({ const: value, ...rest }) =>
      value === undefined || rest.enum !== undefined ? null : { ...rest, enum: [value] },
  },
  'a list of one as const': {
    write: ({ enum: values, ...rest }) =>
      Array.isArray(values) && values.length === 1 && rest.const === undefined ? { ...rest, const: values[0] } : null,
  },
  'listed values as anyOf of constants': { needs: 'choice', write: (schema) => constants(schema, 'anyOf') },
  'listed values as oneOf of constants': { needs: 'choice', write: (schema) => constants(schema, 'oneOf') },
  'types as anyOf': {
    needs: 'type list',
    write: (schema) =>
      isOnly(schema, 'type') && Array.isArray(schema.type) ? { anyOf: schema.type.map((type) => ({ type })) } : null,
  },
  'null in the type as anyOf': { needs: 'null', write: (schema, context) => nullApart(schema, context, 'anyOf') },
  'null in the type as oneOf': { needs: 'null', write: (schema, context) => nullApart(schema, context, 'oneOf') },
  'null of a choice in the type': {
    needs: 'null',
    write: (schema) => {
      const keyword = ['anyOf', 'oneOf'].find((one) => isOnly(schema, one))
      const list = keyword === undefined ? [] : schemasIn(schema[keyword])
      const other = list.find((one) => !isNull(one))
      if (list.length !== 2 || !list.some(isNull) || !isKeywords(other) || typeof other.type !== 'string') return null
      if (has(other, 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if')) return null
      return { ...other, type: [other.type, 'null'] }
    },
  },
  'a least integer as an exclusive one': {
    write: (schema) => {
      const bound = numberOf(schema.minimum)
      if (!integers(schema) || bound === null || !Number.isInteger(bound) || schema.exclusiveMinimum !== undefined)
        return null
      return { ...without(schema, 'minimum'), exclusiveMinimum: bound - 1 }
    },
  },
  'an exclusive greatest integer as an inclusive one': {
    write: (schema) => {
      const bound = numberOf(schema.exclusiveMaximum)
      if (!integers(schema) || bound === null || !Number.isInteger(bound) || schema.maximum !== undefined) return null
      return { ...without(schema, 'exclusiveMaximum'), maximum: bound - 1 }
    },
  },
  'a length of at least nothing': { write: added('minLength', 0, ['string']) },
  'at least no items': { write: added('minItems', 0, ['array']) },
  'at least no members': { write: added('minProperties', 0, ['object']) },
  'items that need not differ': { write: added('uniqueItems', false, ['array']) },
  'items of any kind': {
    write: (schema) =>
      typesOf(schema).includes('array') && !has(schema, 'items', 'unevaluatedItems', '$ref')
        ? { ...schema, items: {} }
        : null,
  },
  'further members allowed by name': {
    write: (schema) =>
      typesOf(schema).includes('object') && !has(schema, 'additionalProperties', 'unevaluatedProperties', '$ref')
        ? { ...schema, additionalProperties: true }
        : null,
  },
  'further members left to the default': {
    write: (schema) =>
      isAnything(schema.additionalProperties) && !has(schema, 'unevaluatedProperties')
        ? without(schema, 'additionalProperties')
        : null,
  },
  'at least one contained item': {
    needs: 'contains bounds',
    write: (schema) =>
      schema.contains !== undefined && schema.minContains === undefined ? { ...schema, minContains: 1 } : null,
  },
  'whole multiples of an integer': {
    write: (schema) => (integers(schema) && schema.multipleOf === undefined ? { ...schema, multipleOf: 1 } : null),
  },
  'a bound that another one hides': {
    write: (schema) => {
      const bound = numberOf(schema.maxLength)
      return bound === null || schema.$ref !== undefined || !isWrappable(schema)
        ? null
        : { allOf: [without(schema, '$defs'), { maxLength: bound + 7 }] }
    },
  },
  'a bound on another type': {
    write: (schema) =>
      typeof schema.type === 'string' && schema.type !== 'object' && !has(schema, 'minProperties')
        ? { ...schema, minProperties: 2 }
        : null,
  },
  'a length beside listed values': {
    write: (schema) => {
      const values = listOf(schema.enum)
      if (values.length === 0 || has(schema, 'maxLength') || values.some((value) => typeof value !== 'string'))
        return null
      return { ...schema, maxLength: Math.max(...values.map((value) => String(value).length)) + 4 }
    },
  },
  'a value listed that its type refuses': {
    write: (schema) =>
      schema.type === 'string' && Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string')
        ? { ...schema, enum: [...schema.enum, 17] }
        : null,
  },
  'required names in allOf': { write: (schema) => (isWrappable(schema) ? split(schema, 'required') : null) },
  'a bound in allOf': {
    write: (schema, { random }) => {
      const bounds = ['minLength', 'maxLength', 'minimum', 'maximum', 'pattern', 'minItems', 'maxItems', 'enum'].filter(
        (one) => schema[one] !== undefined,
      )
      return bounds.length === 0 || !isWrappable(schema) ? null : split(schema, random.pick(bounds))
    },
  },
  'members in allOf': {
    write: (schema) =>
      has(schema, 'additionalProperties', 'patternProperties') || !isWrappable(schema)
        ? null
        : split(schema, 'properties'),
  },
  'members of allOf merged': {
    write: (schema) => {
      const [first, ...rest] = schemasIn(schema.allOf)
      if (
        !isKeywords(first) ||
        first.$ref !== undefined ||
        has(schema, '$ref', 'unevaluatedProperties', 'unevaluatedItems')
      )
        return null
      const names = Object.keys(first)
      if (names.some((keyword) => COUPLED.has(keyword) || schema[keyword] !== undefined)) return null
      // Where null is a mark, it has two readings beside the rest.
      if (rest.length > 0 && listOf(first.type).includes('null')) return null
      return { ...without(schema, 'allOf'), ...first, ...(rest.length > 0 ? { allOf: rest } : {}) }
    },
  },
  'allOf within allOf flattened': { write: (schema) => flattened(schema, 'allOf') },
  'anyOf within anyOf flattened': { write: (schema) => flattened(schema, 'anyOf') },
  'anyOf nested in anyOf': {
    write: (schema) => {
      const [first, second, ...rest] = schemasIn(schema.anyOf)
      return first === undefined || second === undefined || rest.length === 0
        ? null
        : { ...schema, anyOf: [{ anyOf: [first, second] }, ...rest] }
    },
  },
  'allOf nested in allOf': {
    write: (schema) => {
      const [first, ...rest] = schemasIn(schema.allOf)
      return first === undefined ? null : { ...schema, allOf: [{ allOf: [first] }, ...rest] }
    },
  },
  'a branch of anyOf twice': {
    write: (schema) => {
      const [first, ...rest] = schemasIn(schema.anyOf)
      return first === undefined ? null : { ...schema, anyOf: [first, ...rest, first] }
    },
  },
  'a member of allOf twice': {
    write: (schema) => {
      const [first, ...rest] = schemasIn(schema.allOf)
      return first === undefined ? null : { ...schema, allOf: [first, ...rest, first] }
    },
  },
  'an empty member of allOf': { write: (schema) => replacedKeyword(schema, 'allOf', [...schemasIn(schema.allOf), {}]) },
  'a branch of anyOf that admits nothing': {
    write: (schema) => replacedKeyword(schema, 'anyOf', [...schemasIn(schema.anyOf), { not: {} }]),
  },
  'anyOf of branches that exclude each other as oneOf': {
    write: (schema) =>
      isDisjoint(schemasIn(schema.anyOf)) && schema.oneOf === undefined
        ? { ...without(schema, 'anyOf'), oneOf: schema.anyOf }
        : null,
  },
  'oneOf of branches that exclude each other as anyOf': {
    write: (schema) =>
      isDisjoint(schemasIn(schema.oneOf)) && schema.anyOf === undefined
        ? { ...without(schema, 'oneOf'), anyOf: schema.oneOf }
        : null,
  },
  'the empty schema as true': {
    needs: 'boolean schema',
    write: (schema) => (Object.keys(schema).length === 0 ? true : null),
  },
  'nothing as the negation of everything': {
    needs: 'boolean schema',
    write: (schema) => inside(schema, (one) => (one === false ? { not: {} } : null)),
  },
  'true as the empty schema': {
    needs: 'boolean schema',
    write: (schema) => inside(schema, (one) => (one === true ? {} : null)),
  },
  'a reference written out': {
    needs: 'reference',
    write: (schema, { root }) => {
      const target = isOnly(schema, '$ref') && schema.$ref !== '#' ? targetOf(root, schema.$ref) : null
      return target
    },
  },
  'a schema as a definition of its own': {
    needs: 'reference',
    isOfRoot: true,
    write: (root, { random }) => {
      const places = [...placesOf(root)].filter(([path, one]) => isMovable(path, one))
      if (places.length === 0) return null
      const [path, moved] = random.pick(places)
      const changed = withSchemaAt(root, path, { $ref: '#/$defs/New' })
      return isKeywords(changed) ? { ...changed, $defs: { ...definitionsIn(changed), New: moved } } : null
    },
  },
  'a reference through another one': {
    needs: 'reference',
    isOfRoot: true,
    write: (root, { random }) => {
      const places = [...placesOf(root)].filter(([, one]) => isKeywords(one) && isOnly(one, '$ref') && one.$ref !== '#')
      if (places.length === 0) return null
      const [path, moved] = random.pick(places)
      const changed = withSchemaAt(root, path, { $ref: '#/$defs/New' })
      return isKeywords(changed) ? { ...changed, $defs: { ...definitionsIn(changed), New: moved } } : null
    },
  },
  'a definition under another name': {
    needs: 'reference',
    isOfRoot: true,
    write: (root) => {
      const [first] = entriesOf(root.$defs)
      if (first === undefined) return null
      const text = JSON.stringify({ ...root, $defs: renamed(root, first[0]) })
      return Object(JSON.parse(text.replaceAll(`"#/$defs/${first[0]}"`, '"#/$defs/Other"')))
    },
  },
  'a definition that nothing uses': {
    needs: 'reference',
    isOfRoot: true,
    write: (root) => ({ ...root, $defs: { ...definitionsIn(root), Unused: { type: 'string' } } }),
  },
  'words about a schema': {
    isText: true,
    write: (schema) =>
      schema.$ref === undefined ? { ...schema, title: 'in other words', description: 'the same' } : null,
  },
  'required names of dependencies as a schema': {
    needs: 'dependency',
    write: (schema) => {
      if (!isKeywords(schema.dependentRequired) || schema.dependentSchemas !== undefined) return null
      const entries = Object.entries(schema.dependentRequired).map(([name, others]) => [name, { required: others }])
      return { ...without(schema, 'dependentRequired'), dependentSchemas: Object.fromEntries(entries) }
    },
  },
  'dependencies in allOf': {
    needs: 'dependency',
    write: (schema) =>
      has(schema, 'unevaluatedProperties') || !isWrappable(schema) ? null : split(schema, 'dependentRequired'),
  },
  'a condition in allOf': {
    needs: 'condition',
    write: (schema) => {
      if (schema.if === undefined || has(schema, '$ref', 'unevaluatedProperties', 'unevaluatedItems')) return null
      const { if: condition, then, else: otherwise, ...rest } = schema
      const whole = {
        if: condition,
        ...(then === undefined ? {} : { then }),
        ...(otherwise === undefined ? {} : { else: otherwise }),
      }
      return { ...rest, allOf: [...schemasIn(rest.allOf), whole] }
    },
  },
  'a consequence that asks nothing': {
    needs: 'condition',
    write: (schema) => (schema.if !== undefined && schema.else === undefined ? { ...schema, else: {} } : null),
  },
}

function constants(schema: Keywords, keyword: string): Schema | null {
  const values = listOf(schema.enum)
  if (
    values.length < 2 ||
    has(schema, keyword, '$ref') ||
    new Set(values.map((one) => JSON.stringify(one))).size < values.length
  )
    return null
  return { ...without(schema, 'enum'), [keyword]: values.map((value) => ({ enum: [value] })) }
}

function nullApart(schema: Keywords, { dialect }: Context, keyword: string): Schema | null {
  if (!Array.isArray(schema.type) || !schema.type.includes('null') || schema.type.length !== 2 || !isWrappable(schema))
    return null
  if (has(schema, 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if')) return null
  const empty = dialect.has.has('type list') ? { type: 'null' } : { enum: [null] }
  return { [keyword]: [{ ...schema, type: schema.type.find((one) => one !== 'null') }, empty] }
}

function isNull(schema: Schema): boolean {
  return (
    isKeywords(schema) &&
    ((isOnly(schema, 'type') && schema.type === 'null') ||
      (isOnly(schema, 'enum') && JSON.stringify(schema.enum) === '[null]'))
  )
}

function isAnything(value: unknown): boolean {
  return value === true || (isKeywords(value) && Object.keys(value).length === 0)
}

function flattened(schema: Keywords, keyword: string): Schema | null {
  const list = schemasIn(schema[keyword])
  const nested = list.find((one) => isKeywords(one) && has(one, keyword) && isOnly(one, keyword))
  if (!isKeywords(nested)) return null
  return { ...schema, [keyword]: list.flatMap((one) => (one === nested ? schemasIn(nested[keyword]) : [one])) }
}

/** Rewrites the first schema directly within that the row applies to. */
function inside(schema: Keywords, write: (one: Schema) => Schema | null): Schema | null {
  for (const keyword of ['items', 'not', 'contains', 'additionalProperties']) {
    const one = schema[keyword]
    const other = isSchema(one) ? write(one) : null
    if (other !== null) return { ...schema, [keyword]: other }
  }
  for (const [name, one] of entriesOf(schema.properties)) {
    const other = write(one)
    if (other !== null)
      return { ...schema, properties: { ...Object.fromEntries(entriesOf(schema.properties)), [name]: other } }
  }
  return null
}

/** A part that can be named: no definition itself, and not marked for the object that holds it. */
function isMovable(path: Path, schema: Schema): boolean {
  if (path.length === 0 || (path.length === 2 && path[0] === '$defs')) return false
  return isKeywords(schema) && isWrappable(schema) && Object.keys(schema).length > 0
}

function definitionsIn(root: Keywords): Keywords {
  return isKeywords(root.$defs) ? root.$defs : {}
}

function renamed(root: Keywords, name: string): Keywords {
  return Object.fromEntries(
    Object.entries(definitionsIn(root)).map(([key, one]) => [key === name ? 'Other' : key, one]),
  )
}

/** Surfaces at which the row of a name changes nothing that anybody reads, where it wrote one of two schemas as the other one. */
export function isPlaceFor(name: string, sides: readonly Schema[]): (surface: Surface) => boolean {
  const isText = REWRITES[name]?.isText === true
  const namesOthers = JSON.stringify(sides).includes('"additionalProperties"')
  const keepsUnknown = KEEPS_UNKNOWN_FIELDS.has(name) || (namesOthers && MOVES_INTO_BRANCHES.has(name))
  return ({ type, isAnnotated }) =>
    isAnnotated !== true &&
    (!isText || (type !== 'mcp_manifest' && type !== 'agent_tools')) &&
    (type !== 'k8s_crd' || !keepsUnknown)
}

/** Rows that decide in Kubernetes whether fields without a schema are stored. */
const KEEPS_UNKNOWN_FIELDS: ReadonlySet<string> = new Set([
  'further members allowed by name',
  'further members left to the default',
])

/** Rows that write a schema as a branch, where it keeps no fields in Kubernetes, or take it out of one. */
const MOVES_INTO_BRANCHES: ReadonlySet<string> = new Set([
  'allOf of one',
  'anyOf of one',
  'oneOf of one',
  'not of not',
  'a combination of one taken away',
  'a bound that another one hides',
])

/** Rows after which another set of members or items counts as evaluated (core §11). */
const MOVES_EVALUATION: ReadonlySet<string> = new Set([
  'not of not',
  'further members allowed by name',
  'further members left to the default',
  'items of any kind',
  'anyOf of branches that exclude each other as oneOf',
  'required names of dependencies as a schema',
  'true as the empty schema',
])

export interface Rewritten {
  readonly name: string
  readonly schema: Schema
}

/** The root with one place in it written otherwise; null where no row applies. */
export function rewritten(random: Random, dialect: Dialect, root: Schema): Rewritten | null {
  if (!isKeywords(root)) return null
  const places = random.shuffled([...placesOf(root)])
  const isEvaluated = JSON.stringify(root).includes('"unevaluated')
  for (const [name, { needs, isOfRoot, write }] of random.shuffled(Object.entries(REWRITES))) {
    if (needs !== undefined && !dialect.has.has(needs)) continue
    if (isEvaluated && MOVES_EVALUATION.has(name)) continue
    const context = { random, dialect, root }
    if (isOfRoot === true) {
      const schema = write(root, context)
      if (schema !== null) return { name, schema }
      continue
    }
    for (const [path, one] of places) {
      if (!isKeywords(one)) continue
      const schema = write(path.length === 0 ? without(one, '$defs') : one, context)
      if (schema === null) continue
      if (path.length > 0) return { name, schema: withSchemaAt(root, path, schema) }
      return { name, schema: withDefinitions(root, schema) }
    }
  }
  return null
}

function withDefinitions(root: Keywords, schema: Schema): Schema {
  if (root.$defs === undefined) return schema
  const definitions = { $defs: root.$defs }
  return isKeywords(schema) ? { ...schema, ...definitions } : { allOf: [schema], ...definitions }
}
