/**
 * Turns the errors of ajv on a configuration into sentences: every mistake once, with its member, the allowed values and the
 * fix.
 */
import { lookupTable, appendPointer, nearest } from '../../engine/base.ts'
import type { ErrorObject } from 'ajv'
import { recordIn } from '../json/unchecked-json.ts'
import { formOf } from './pattern-texts.ts'
import type { JsonSchema } from './input-schema.ts'
import { isJsonObject } from '../json/strict-json.ts'

/** A mistake before its place in the text is known. */
export interface LocatedMistake {
  readonly pointer: string
  /** Whether the key (an unknown member) or its value is wrong. */
  readonly at: 'key' | 'value'
  readonly message: string
  readonly fix: string
}

/** ajv runs with `allErrors` and `verbose`. */
export function mistakesOf(errors: readonly ErrorObject[]): readonly LocatedMistake[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  const isInside = (error: ErrorObject): boolean => unions.some((union) => union !== error && isPartOf(error, union))
  return errors.filter((error) => !isInside(error)).flatMap((error) => explain(error, errors))
}

function explain(error: ErrorObject, all: readonly ErrorObject[]): readonly LocatedMistake[] {
  return error.keyword === 'anyOf' ? explainUnion(error, all) : [explainOne(error)]
}

type Value = Pick<ErrorObject, 'data' | 'instancePath'>

type MistakeText = (error: ErrorObject) => LocatedMistake

const MERGE_KEY = {
  message: 'a merge key (<<) is not read, since readers of YAML differ about it',
  fix: 'write the members out; an alias in place of one value is read',
}

const WORDINGS: Readonly<Record<string, MistakeText>> = lookupTable({
  additionalProperties: ({ instancePath, params, parentSchema }) => {
    const name = String(params['additionalProperty'])
    if (name === '<<') return { pointer: appendPointer(instancePath, name), at: 'key', ...MERGE_KEY }
    const known = Object.keys(asSchema(parentSchema).properties ?? {})
    return {
      pointer: appendPointer(instancePath, name),
      at: 'key',
      message: `the member ${JSON.stringify(name)} is not known`,
      fix: nameSuggestion(name, known),
    }
  },
  required: ({ instancePath, params, parentSchema }) => {
    const name = String(params['missingProperty'])
    const member = asSchema(parentSchema).properties?.[name]
    return {
      pointer: instancePath,
      at: 'value',
      message: `the member ${JSON.stringify(name)} is missing`,
      fix: member?.description ?? 'add it',
    }
  },
  type: (error) => valueMistake(error, `must be ${article(error.params['type'])}, not ${kindOfData(error)}`),
  enum: (error) => allowedValues(error, listOfValues(error.params['allowedValues'])),
  const: (error) => allowedValues(error, [error.params['allowedValue']]),
  pattern: (error) => {
    const form = formOf(String(error.params['pattern']))
    return valueMistake(
      error,
      `${shownData(error)} ${form === null ? 'does not have the right form' : `must be ${form}`}`,
    )
  },
  minimum: (error) => valueMistake(error, `must be at least ${String(error.params['limit'])}, not ${shownData(error)}`),
  maximum: (error) => valueMistake(error, `must be at most ${String(error.params['limit'])}, not ${shownData(error)}`),
  minLength: (error) => valueMistake(error, 'must not be empty'),
})

function explainOne(error: ErrorObject): LocatedMistake {
  const wording = Object.hasOwn(WORDINGS, error.keyword) ? WORDINGS[error.keyword] : undefined
  return wording?.(error) ?? valueMistake(error, error.message ?? 'is not valid')
}

/** Of the members of a union, the intended one is explained: recognised by its constants, then by the fewest mistakes. */
function explainUnion(union: ErrorObject, all: readonly ErrorObject[]): readonly LocatedMistake[] {
  const variants = asSchema(union.parentSchema).anyOf ?? []
  if (variants.every((variant) => variant.const !== undefined))
    return [
      allowedValues(
        union,
        variants.map((v) => v.const),
      ),
    ]
  const kind = variantDiscriminator(variants)
  if (!isJsonObject(union.data) || variants.some(({ properties }) => properties === undefined)) {
    const expected =
      kind === null ? variants.map(describeSchema).join(' or ') : `a map with the member "${kind.member}"`
    return [valueMistake(union, `must be ${expected}, not ${kindOfData(union)}`)]
  }
  if (kind !== null && !Object.hasOwn(union.data, kind.member)) return [missingKind(union, union.data, kind)]
  const inside = variants.map((_, index) => all.filter((error) => isPartOf(error, union, index)))
  const meant = inside.filter((errors) => !errors.some(({ keyword }) => keyword === 'const'))
  if (meant.length === 0) return [explainConstants(inside.flat())]
  const fewest = Math.min(...meant.map(({ length }) => length))
  const nearestVariants = meant.filter(({ length }) => length === fewest)
  const [chosen] = nearestVariants
  if (chosen !== undefined && nearestVariants.length === 1) return chosen.flatMap((error) => explain(error, all))
  return [explainChoice(union, variants)]
}

interface Discriminator {
  readonly member: string
  readonly values: readonly unknown[]
}

/** The member that has a constant in each variant, e.g. the `type` of a sink. */
function variantDiscriminator(variants: readonly JsonSchema[]): Discriminator | null {
  const [first] = variants
  const constantsOf = (name: string) => variants.map(({ properties }) => properties?.[name]?.const)
  const member = Object.keys(first?.properties ?? {}).find((name) =>
    constantsOf(name).every((value) => value !== undefined),
  )
  return member === undefined ? null : { member, values: [...new Set(constantsOf(member))] }
}

/** Without it nobody can say which members are missing or unknown. */
function missingKind(union: ErrorObject, given: object, { member, values }: Discriminator): LocatedMistake {
  const mistyped = nearest(member, Object.keys(given))
  const allowed = `use one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  return {
    pointer: union.instancePath,
    at: 'value',
    message: `the member "${member}" is missing`,
    fix: mistyped === null ? allowed : `did you mean "${member}" by "${mistyped}"? If so, ${allowed}`,
  }
}

/** No variant has the given constant, e.g. the `type` of a sink. */
function explainConstants(errors: readonly ErrorObject[]): LocatedMistake {
  const constants = errors.filter(({ keyword }) => keyword === 'const')
  const [first] = constants
  if (first === undefined) throw new Error('a union without constants was explained by constants')
  return allowedValues(
    first,
    constants.map(({ params }) => params['allowedValue']),
  )
}

function explainChoice(union: ErrorObject, variants: readonly JsonSchema[]): LocatedMistake {
  const known = [...new Set(variants.flatMap(({ properties }) => Object.keys(properties ?? {})))]
  const unknown = Object.keys(recordIn(union.data)).find((name) => !known.includes(name))
  return {
    ...valueMistake(union, `must be ${variants.map(describeSchema).join(' or ')}`),
    fix: unknown === undefined ? 'give exactly one of them' : nameSuggestion(unknown, known),
  }
}

function isPartOf(error: ErrorObject, union: ErrorObject, variant?: number): boolean {
  const root = variant === undefined ? `${union.schemaPath}/` : `${union.schemaPath}/${variant}/`
  const isBelow = error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`)
  return isBelow && error.schemaPath.startsWith(root)
}

function allowedValues(error: ErrorObject, values: readonly unknown[]): LocatedMistake {
  const guess = typeof error.data === 'string' ? nearest(error.data, values.map(String)) : null
  const list = values.map((item) => JSON.stringify(item)).join(', ')
  return {
    pointer: error.instancePath,
    at: 'value',
    message: `${shownData(error)} is not allowed`,
    fix:
      guess === null
        ? `use ${values.length === 1 ? '' : 'one of '}${list}`
        : `did you mean "${guess}"? Allowed: ${list}`,
  }
}

function valueMistake(error: ErrorObject, message: string): LocatedMistake {
  return { pointer: error.instancePath, at: 'value', message, fix: asSchema(error.parentSchema).description ?? '' }
}

function nameSuggestion(name: string, known: readonly string[]): string {
  const guess = nearest(name, known)
  return guess === null ? `known here: ${known.join(', ')}` : `did you mean "${guess}"?`
}

function describeSchema(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  return schema.properties === undefined ? article(schema.type) : `{ ${Object.keys(schema.properties).join(', ')} }`
}

/** The words of YAML for what JSON Schema calls otherwise: a mistake names what is there in them too. */
const YAML_KINDS: ReadonlyMap<string, string> = new Map([
  ['array', 'list'],
  ['object', 'map'],
])

function article(type: unknown): string {
  const name = [type]
    .flat()
    .map((one) => YAML_KINDS.get(String(one)) ?? String(one))
    .join(' or ')
  return name === 'null' ? name : /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`
}

function kindOfData(error: Value): string {
  const { data } = error
  if (data === null) return 'nothing (null)'
  if (Array.isArray(data)) return 'a list'
  // JSON has no form for these.
  if (typeof data === 'number' && !Number.isFinite(data)) return String(data)
  return typeof data === 'object' ? 'a map' : `${article(typeof data)} (${shownData(error)})`
}

const SHOWN_LENGTH = 60

/** Members whose value is a credential or may hold one: a mistake in it names its place, and does not repeat it. */
const UNQUOTED: ReadonlySet<string> = new Set([
  'client_secret',
  'endpoint',
  'header',
  'headers',
  'listen_url',
  'secret',
  'smtp',
  'token',
  'upstream',
  'url',
])

function shownData({ data, instancePath }: Value): string {
  if (typeof data === 'string' && instancePath.split('/').some((name) => UNQUOTED.has(name))) return 'the value'
  const text = JSON.stringify(data) ?? String(data)
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

function listOfValues(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values : [values]
}

/** ajv returns the same schema object that it was given. */
function asSchema(schema: object | undefined): JsonSchema {
  return recordIn(schema)
}
