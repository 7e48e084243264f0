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
import { placesOfMember } from './member-places.ts'
import { valueSuggestion } from './value-suggestions.ts'

/** A mistake before its place in the text is known. */
export interface LocatedMistake {
  readonly pointer: string
  /** Whether the key (an unknown member) or its value is wrong. */
  readonly at: 'key' | 'value'
  readonly message: string
  readonly fix: string
  /** Sections that the mistake says are missing. It is not reported where one of them is there, and has a mistake itself. */
  readonly absent?: readonly string[]
}

/**
 * @param errors of ajv with `allErrors` and `verbose`
 * @param schema of the whole document, where a member that is not known in its place may be known in another one
 */
export function mistakesOf(errors: readonly ErrorObject[], schema: JsonSchema = {}): readonly LocatedMistake[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  const isInside = (error: ErrorObject): boolean => unions.some((union) => union !== error && isPartOf(error, union))
  const outer = errors.filter((error) => !isInside(error))
  return outer.flatMap((error) => explain(error, { all: errors, schema }))
}

interface Context {
  readonly all: readonly ErrorObject[]
  readonly schema: JsonSchema
}

function explain(error: ErrorObject, context: Context): readonly LocatedMistake[] {
  return error.keyword === 'anyOf' ? explainUnion(error, context) : [explainOne(error, context)]
}

type Value = Pick<ErrorObject, 'data' | 'instancePath'>

type MistakeText = (error: ErrorObject, context: Context) => LocatedMistake

const MERGE_KEY = {
  message: 'a merge key (<<) is not read, since readers of YAML differ about it',
  fix: 'write the members out; an alias in place of one value is read',
}

const WORDINGS: Readonly<Record<string, MistakeText>> = lookupTable({
  additionalProperties: ({ instancePath, params, parentSchema }, { schema }) => {
    const name = String(params['additionalProperty'])
    if (name === '<<') return { pointer: appendPointer(instancePath, name), at: 'key', ...MERGE_KEY }
    const known = Object.keys(asSchema(parentSchema).properties ?? {})
    return {
      pointer: appendPointer(instancePath, name),
      at: 'key',
      message: `the member ${JSON.stringify(name)} is not known`,
      fix: nameSuggestion(name, known, placesOfMember(schema, name, instancePath)),
    }
  },
  required: ({ instancePath, params, parentSchema }) => {
    const name = String(params['missingProperty'])
    const member = asSchema(parentSchema).properties?.[name]
    return {
      pointer: instancePath,
      at: 'value',
      message: `the member ${JSON.stringify(name)} is missing`,
      fix: member === undefined ? 'add it' : formText(member) || 'add it',
    }
  },
  type: (error) => typeMistake(error),
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
  minLength: (error) => valueMistake(error, tooShort(error, 'characters')),
  maxLength: (error) => valueMistake(error, `must have at most ${String(error.params['limit'])} characters`),
  minItems: (error) => valueMistake(error, tooShort(error, 'items')),
  maxItems: (error) => valueMistake(error, `must have at most ${String(error.params['limit'])} items`),
  uniqueItems: (error) => {
    const repeated = Number(error.params['j'])
    const value = shownData({ ...error, data: listOfValues(error.data)[repeated] })
    return {
      pointer: appendPointer(error.instancePath, repeated),
      at: 'value',
      message: `${value} occurs twice in the list`,
      fix: 'write it once',
    }
  },
})

/** @param unit what the limit counts */
function tooShort({ params: { limit } }: ErrorObject, unit: string): string {
  return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} ${unit}`
}

function explainOne(error: ErrorObject, context: Context): LocatedMistake {
  const wording = Object.hasOwn(WORDINGS, error.keyword) ? WORDINGS[error.keyword] : undefined
  return wording?.(error, context) ?? valueMistake(error, error.message ?? 'is not valid')
}

/** Of the members of a union, the intended one is explained: recognised by its constants, then by the fewest mistakes. */
function explainUnion(union: ErrorObject, context: Context): readonly LocatedMistake[] {
  const variants = asSchema(union.parentSchema).anyOf ?? []
  if (variants.every((variant) => variant.const !== undefined))
    return [
      allowedValues(
        union,
        variants.map((v) => v.const),
      ),
    ]
  const kind = variantDiscriminator(variants)
  const maps = variants.filter(({ properties }) => properties !== undefined)
  if (!isJsonObject(union.data) || maps.length === 0) {
    const expected =
      kind === null ? variants.map(describeSchema).join(' or ') : `a map with the member "${kind.member}"`
    return [valueMistake(union, `must be ${expected}, not ${kindOfValue(union.data)}`)]
  }
  if (kind !== null && !Object.hasOwn(union.data, kind.member)) return [missingKind(union, union.data, kind)]
  if (kind === null && isMixed(union.data, maps)) return [explainMixture(union, Object.keys(union.data), variants)]
  if (maps.length < variants.length) return [explainChoice(union, variants)]
  const inside = variants.map((_, index) => context.all.filter((error) => isPartOf(error, union, index)))
  const meant = inside.filter((errors) => !errors.some(({ keyword }) => keyword === 'const'))
  if (meant.length === 0) return [explainConstants(inside.flat())]
  const fewest = Math.min(...meant.map(({ length }) => length))
  const nearestVariants = meant.filter(({ length }) => length === fewest)
  const [chosen] = nearestVariants
  if (chosen !== undefined && nearestVariants.length === 1) return chosen.flatMap((error) => explain(error, context))
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

/** Every member is known, and no variant has all of them. */
function isMixed(given: object, variants: readonly JsonSchema[]): boolean {
  const names = Object.keys(given)
  return (
    names.every((name) => variants.some((variant) => hasMember(variant, name))) &&
    !variants.some((variant) => names.every((name) => hasMember(variant, name)))
  )
}

function hasMember({ properties }: JsonSchema, name: string): boolean {
  return Object.hasOwn(properties ?? {}, name)
}

function explainMixture(union: ErrorObject, names: readonly string[], variants: readonly JsonSchema[]): LocatedMistake {
  const listed = names.map((name) => JSON.stringify(name)).join(', ')
  return {
    ...valueMistake(union, `the members ${listed} do not belong together`),
    fix: `write ${variants.map(describeSchema).join(' or ')}`,
  }
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

/** A map or a list where a scalar was written: the scalar is not repeated, since it may hold a credential. */
function typeMistake(error: ErrorObject): LocatedMistake {
  const { type } = error.params
  const expected = `must be ${article(type)}`
  if (type === 'object' || type === 'array')
    return {
      ...valueMistake(error, `${expected}, not ${kindOfValue(error.data)}`),
      fix: joinedMember(error.data) ?? formText(asSchema(error.parentSchema)),
    }
  const mistake = valueMistake(error, `${expected}, not ${kindOfData(error)}`)
  const suggestion = valueSuggestion(error.data, asSchema(error.parentSchema))
  return suggestion === null ? mistake : { ...mistake, fix: joinedFix(suggestion, mistake.fix) }
}

function joinedFix(suggestion: string, description: string): string {
  return description === '' ? suggestion : `${suggestion}. ${description}`
}

/** `level:info` is one text for YAML. The value is not repeated, since it may be a credential. */
function joinedMember(data: unknown): string | null {
  const name = typeof data === 'string' ? /^([A-Za-z_][\w-]*):[^\s/]/.exec(data)?.[1] : undefined
  return name === undefined ? null : `is it a member? Write a space after the colon: ${name}: VALUE`
}

/** What to write: the members of a map, the items of a list. */
function formText({ type, properties, description = '' }: JsonSchema): string {
  if (type === 'array') return `write [ITEM, …]. ${description}`.trim()
  if (properties === undefined) return description
  return `it has the members ${Object.keys(properties).join(', ')}`
}

/** Copied from web pages and word processors, and not seen in an editor. */
const UNUSUAL_SPACE = /[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/

function codePoint(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** A name that many places have leads nowhere. */
const MOST_PLACES = 3

function nameSuggestion(name: string, known: readonly string[], places: readonly string[] = []): string {
  const guess = nearest(name, known)
  if (guess !== null) return `did you mean "${guess}"?`
  const [space] = UNUSUAL_SPACE.exec(name) ?? []
  if (space !== undefined)
    return `the name contains the character ${codePoint(space)}, which YAML does not read as a space: indent with spaces`
  const elsewhere =
    places.length === 0 || places.length > MOST_PLACES ? '' : `a member of this name is ${places.join(' or ')}; `
  return `${elsewhere}known here: ${known.join(', ')}`
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

function kindOfValue(data: unknown): string {
  if (data === null) return 'nothing (null)'
  if (Array.isArray(data)) return 'a list'
  return typeof data === 'object' ? 'a map' : article(typeof data)
}

function kindOfData(error: Value): string {
  const { data } = error
  // JSON has no form for these.
  if (typeof data === 'number' && !Number.isFinite(data)) return String(data)
  return typeof data === 'object' || isSecretPlace(error)
    ? kindOfValue(data)
    : `${kindOfValue(data)} (${shownData(error)})`
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

function isSecretPlace({ instancePath }: Value): boolean {
  return instancePath.split('/').some((name) => UNQUOTED.has(name))
}

function shownData(error: Value): string {
  const { data } = error
  if (typeof data === 'string' && isSecretPlace(error)) return 'the value'
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
