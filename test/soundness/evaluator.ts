/**
 * What schemas of 2019-09 and 2020-12 admit, by the letter of the specification: for those that ajv misreads. Keywords that
 * hold no schemas are left to ajv.
 */
import type { Dialect, Validator } from './dialects.ts'
import {
  entriesOf,
  isKeywords,
  isSchema,
  numberOf,
  ONE_SCHEMA,
  SCHEMA_LISTS,
  SCHEMA_MAPS,
  schemasIn,
  targetOf,
  type Keywords,
  type Schema,
} from './schema.ts'

/** The names and positions that were evaluated; null: the value is refused. */
type Evaluated = ReadonlySet<string | number> | null

/** The keywords of one schema, in the order in which they are evaluated. */
const STEPS: readonly ((
  evaluation: Evaluation,
  schema: Keywords,
  value: unknown,
  seen: ReadonlySet<string | number>,
) => Evaluated)[] = [inPlace, ofObject, ofList, unevaluatedProperties, unevaluatedItems]

export function evaluatorOf(root: Schema, dialect: Dialect): Validator {
  const evaluation = new Evaluation(root, dialect)
  return (instance) => evaluation.of(root, instance) !== null
}

class Evaluation {
  readonly #root: Schema
  readonly #dialect: Dialect
  readonly #plain = new Map<Keywords, Validator>()

  constructor(root: Schema, dialect: Dialect) {
    this.#root = root
    this.#dialect = dialect
  }

  /** Core 2020-12 §10.3.1.3; 2019-09 §9.3.1.3 does not name it. */
  get isContainedEvaluated(): boolean {
    return this.#dialect.name !== '2019-09'
  }

  of(schema: Schema, value: unknown): Evaluated {
    if (schema === true) return NONE
    if (schema === false || !this.#isAdmittedPlainly(schema, value)) return null
    return STEPS.reduce<Evaluated>((seen, step) => {
      const more = seen === null ? null : step(this, schema, value, seen)
      return seen === null || more === null ? null : seen.union(more)
    }, NONE)
  }

  isMet(schema: Schema, value: unknown): boolean {
    return this.of(schema, value) !== null
  }

  target(reference: unknown): Schema {
    const found = targetOf(this.#root, reference)
    if (found === null) throw new Error(`no schema has the name ${String(reference)}`)
    return found
  }

  #isAdmittedPlainly(schema: Keywords, value: unknown): boolean {
    let validate = this.#plain.get(schema)
    if (validate === undefined) {
      const own = Object.entries(schema).filter(([keyword]) => !isHolding(keyword))
      validate = own.length === 0 ? () => true : this.#dialect.compile(Object.fromEntries(own))
      this.#plain.set(schema, validate)
    }
    return validate(value)
  }
}

const NONE: ReadonlySet<string | number> = new Set()

function isHolding(keyword: string): boolean {
  const isMap = SCHEMA_MAPS.has(keyword) || keyword === '$schema' || keyword === '$ref'
  return isMap || ONE_SCHEMA.has(keyword) || SCHEMA_LISTS.has(keyword) || /^m(?:in|ax)Contains$/.test(keyword)
}

/** All of them together; null where one is refused. */
function together(parts: readonly Evaluated[]): Evaluated {
  return parts.reduce<Evaluated>((all, part) => (all === null || part === null ? null : all.union(part)), NONE)
}

function inPlace(evaluation: Evaluation, schema: Keywords, value: unknown): Evaluated {
  const of = (part: Schema): Evaluated => evaluation.of(part, value)
  const parts: Evaluated[] = schemasIn(schema.allOf).map(of)
  if (schema.$ref !== undefined) parts.push(of(evaluation.target(schema.$ref)))
  for (const [keyword, most] of [
    ['anyOf', Infinity],
    ['oneOf', 1],
  ] as const) {
    if (schema[keyword] === undefined) continue
    const met = schemasIn(schema[keyword])
      .map(of)
      .filter((part) => part !== null)
    parts.push(met.length === 0 || met.length > most ? null : together(met))
  }
  if (isSchema(schema.not)) parts.push(of(schema.not) === null ? NONE : null)
  if (isSchema(schema.if)) {
    const met = of(schema.if)
    const part = met === null ? schema.else : schema.then
    parts.push(met ?? NONE, isSchema(part) ? of(part) : NONE)
  }
  for (const [name, part] of entriesOf(schema.dependentSchemas))
    if (isKeywords(value) && Object.hasOwn(value, name)) parts.push(of(part))
  return together(parts)
}

function ofObject(evaluation: Evaluation, schema: Keywords, value: unknown): Evaluated {
  if (!isKeywords(value)) return NONE
  const { additionalProperties: others, propertyNames } = schema
  const seen = new Set<string>()
  for (const [name, member] of Object.entries(value)) {
    if (isSchema(propertyNames) && !evaluation.isMet(propertyNames, name)) return null
    const named = entriesOf(schema.properties).filter(([key]) => key === name)
    const matching = entriesOf(schema.patternProperties).filter(([pattern]) => new RegExp(pattern, 'u').test(name))
    const own = [...named, ...matching].map(([, part]) => part)
    const parts = own.length === 0 && isSchema(others) ? [others] : own
    if (!parts.every((part) => evaluation.isMet(part, member))) return null
    if (parts.length > 0) seen.add(name)
  }
  return seen
}

function ofList(evaluation: Evaluation, schema: Keywords, value: unknown): Evaluated {
  if (!Array.isArray(value)) return NONE
  const { items, contains } = schema
  const prefix = schemasIn(schema.prefixItems)
  const seen = new Set<number>()
  const contained = new Set<number>()
  for (const [index, item] of value.entries()) {
    const part = prefix[index] ?? items
    if (isSchema(part) && !evaluation.isMet(part, item)) return null
    if (isSchema(part)) seen.add(index)
    if (isSchema(contains) && evaluation.isMet(contains, item)) contained.add(index)
  }
  if (!isSchema(contains)) return seen
  const [least, most] = [numberOf(schema.minContains) ?? 1, numberOf(schema.maxContains) ?? Infinity]
  if (contained.size < least || contained.size > most) return null
  return evaluation.isContainedEvaluated ? seen.union(contained) : seen
}

function unevaluatedProperties(
  evaluation: Evaluation,
  { unevaluatedProperties: left }: Keywords,
  value: unknown,
  seen: ReadonlySet<string | number>,
): Evaluated {
  if (!isSchema(left) || !isKeywords(value)) return NONE
  const names = Object.keys(value).filter((name) => !seen.has(name))
  return names.every((name) => evaluation.isMet(left, value[name])) ? new Set(names) : null
}

function unevaluatedItems(
  evaluation: Evaluation,
  { unevaluatedItems: left }: Keywords,
  value: unknown,
  seen: ReadonlySet<string | number>,
): Evaluated {
  if (!isSchema(left) || !Array.isArray(value)) return NONE
  const positions = [...value.keys()].filter((index) => !seen.has(index))
  return positions.every((index) => evaluation.isMet(left, value[index])) ? new Set(positions) : null
}
