/**
 * The judgement of one pair: what the validator shows that its users lose, and what the comparison answers. A proven break that
 * is info or absent is a failure.
 */
import { createHash } from 'node:crypto'
import { compare, type FindingGroup, type Level } from '../../engine/internal.ts'
import type { Dialect, Validator } from './dialects.ts'
import { choicesIn, chosenReadings } from './discriminators.ts'
import { evaluatorOf } from './evaluator.ts'
import { formOf, formReading } from './forms.ts'
import type { Random } from './random.ts'
import {
  entriesOf,
  inPlaceOf,
  isKeywords,
  listOf,
  mapped,
  namesIn,
  schemasIn,
  type Keywords,
  type Schema,
} from './schema.ts'
import { markOf, meaningIn } from './meaning.ts'
import { fitsBoth, rootNamed, surfacesFor, writtenAlone, type Surface } from './surfaces.ts'
import { isMisread, rewordedForValidator } from './validator.ts'
import { instancesFor, membersOf } from './values.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface Pair {
  readonly dialect: Dialect
  readonly before: Schema
  readonly after: Schema
}

export type Judged = Level | 'none' | 'refused'

export interface Failure {
  readonly surface: string
  readonly witness: unknown
  readonly effect: 'narrowed' | 'widened'
  readonly level: Judged
  readonly findings: readonly string[]
}

export interface Judgement {
  /** Number of surfaces with a proven break, by the level that the comparison gave. */
  readonly levels: Readonly<Partial<Record<Judged, number>>>
  /** Names of these surfaces. */
  readonly surfaces: readonly string[]
  readonly failures: readonly Failure[]
  /** Proven breaks that are a warning only. */
  readonly mild: readonly Failure[]
}

/** Null where readings of the language differ. */
type Reading = (instance: unknown) => boolean | null

interface Meaning {
  readonly before: Schema
  readonly after: Schema
  readonly wasValid: Reading
  readonly isValid: Reading
}

function meaningOf({ dialect, before, after }: Pair, { audience, form }: Surface): Meaning {
  const [first, second] = [meaningIn(audience, before, dialect), meaningIn(audience, after, dialect)]
  const compile = (root: Schema): Validator => {
    if (isMisread(root)) return evaluatorOf(root, dialect)
    const whole = rewordedForValidator(rootNamed(root))
    return dialect.compile(dialect.meta === null ? whole : writtenAlone(whole, dialect))
  }
  const [placesBefore, placesAfter] = [first, second].map((root) => choicesIn(root).join(' '))
  // One that comes or goes is a hint: it refuses nothing by itself.
  const isChosen = placesBefore === placesAfter && placesBefore !== '' && !isEvaluating([first, second])
  const compileAgreed = (root: Schema): Reading => {
    const isMark = !dialect.has.has('type list') && JSON.stringify(root).includes('"null"')
    const roots = (isMark ? [root, mapped(root, withNullBeside)] : [root]).flatMap((one) =>
      isChosen ? chosenReadings(one) : [one],
    )
    const validators = roots.map(compile)
    return (instance) => {
      const verdicts = new Set(validators.map((validate) => validate(instance)))
      const [verdict = null] = verdicts
      return verdicts.size === 1 ? verdict : null
    }
  }
  const [wasValid, isValid] = [compileAgreed(first), compileAgreed(second)]
  if (form === undefined) return { before: first, after: second, wasValid, isValid }
  return { before: first, after: second, wasValid: formReading(wasValid, first), isValid: formReading(isValid, second) }
}

/** What is evaluated counts what conditions look at. */
function isEvaluating(roots: readonly Schema[]): boolean {
  return JSON.stringify(roots).includes('"unevaluated')
}

/** What is sent of the instances: in a form, texts. */
function sentAt({ form }: Surface, instances: readonly unknown[]): readonly unknown[] {
  return form === undefined ? instances : instances.flatMap((one) => formOf(one, form) ?? [])
}

/**
 * `nullable` has two readings. Keywords next to it may still exclude null (OpenAPI 3.0.3 §4.7.24.1), or it admits null for the
 * whole schema, as many authors and tools read it. A difference under only one reading proves nothing.
 */
function withNullBeside(schema: Schema): Schema {
  if (!isKeywords(schema) || !Array.isArray(schema.type) || !schema.type.includes('null')) return schema
  const isCombined = ['allOf', 'anyOf', 'oneOf', 'not'].some((keyword) => schema[keyword] !== undefined)
  if (!isCombined) return schema
  const { $defs, ...own } = schema
  return { anyOf: [{ type: 'null' }, own], ...($defs === undefined ? {} : { $defs }) }
}

/** What those who send leave out by their contract: callers by the one before, providers by the one after. */
function unsentIn({ before, after, dialect }: Pair, { audience }: Surface): readonly Unsent[] {
  const mark = markOf(audience)
  return mark === null || dialect.meta !== null
    ? []
    : [audience === 'sender' ? before : after].map((root) => ({ root, mark }))
}

/** Values that prove a change in what is admitted, once per effect. */
export interface Witnesses {
  readonly narrowed?: unknown
  readonly widened?: unknown
}

/**
 * Users give no member that no contract names or that is marked as not sent, and pass over those that they do not know. So a
 * value proves a break only if it still does so without them.
 */
function witnessesIn(meaning: Meaning, instances: readonly unknown[], unsent: readonly Unsent[]): Witnesses {
  const found: { narrowed?: unknown; widened?: unknown } = {}
  for (const instance of instances) {
    const [before, after] = [verdictOf(meaning.wasValid, instance), verdictOf(meaning.isValid, instance)]
    if (before === null || after === null || before === after) continue
    const effect = before ? 'narrowed' : 'widened'
    if (found[effect] !== undefined) continue
    const sent = unsent.reduce((value, { root, mark }) => pruned(root, [root], value, isSentUnder(mark), 0), instance)
    const known = pruned(meaning.before, [meaning.before], sent, isKnown, 0)
    if (verdictOf(meaning.wasValid, known) !== before || verdictOf(meaning.isValid, known) !== after) continue
    found[effect] = { value: known }
  }
  return found
}

/** Null where the code that ajv made breaks: it reads what is evaluated of schemas that were skipped. */
function verdictOf(validate: Reading, instance: unknown): boolean | null {
  try {
    return validate(instance)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** A schema whose members with a mark are in no value that is sent. */
interface Unsent {
  readonly root: Schema
  readonly mark: string
}

/** By the schemas at the place of an object, whether it may hold a member. */
type IsKept = (facets: readonly Keywords[], name: string) => boolean

function isKnown(facets: readonly Keywords[], name: string): boolean {
  return facets.some((one) => membersOf(one, name).length > 0 || isNamedBy(one, name))
}

function isSentUnder(mark: string): IsKept {
  return (facets, name) =>
    !facets.some((one) =>
      entriesOf(one.properties).some(([key, member]) => key === name && Object(member)[mark] === true),
    )
}

/** The instance without the members that are not kept. */
function pruned(root: Schema, schemas: readonly Schema[], instance: unknown, isKept: IsKept, depth: number): unknown {
  if (typeof instance !== 'object' || instance === null || depth > 12) return instance
  const facets = schemas.flatMap((schema) => inPlaceOf(root, schema))
  // What a list of values says of objects and arrays it says of them as a whole.
  if (
    facets.some((one) => [one.const, ...listOf(one.enum)].some((value) => typeof value === 'object' && value !== null))
  )
    return instance
  if (Array.isArray(instance)) {
    return instance.map((item: unknown, index) => {
      const inside = facets.flatMap((one) => {
        const prefix = schemasIn(one.prefixItems)[index]
        return [prefix, one.items, one.contains, one.unevaluatedItems].filter((each) => isKeywords(each))
      })
      return pruned(root, inside, item, isKept, depth + 1)
    })
  }
  const kept = Object.entries(instance).flatMap(([name, member]: [string, unknown]) => {
    if (!isKept(facets, name)) return []
    const inside = facets.flatMap((one) => membersOf(one, name))
    return [[name, pruned(root, inside, member, isKept, depth + 1)] as const]
  })
  return Object.fromEntries(kept)
}

function isNamedBy(schema: Keywords, name: string): boolean {
  if (namesIn(schema.required).includes(name) || schema.propertyNames !== undefined) return true
  if (schema.additionalProperties === true || schema.unevaluatedProperties === true) return true
  if (isKeywords(schema.dependentSchemas) && Object.hasOwn(schema.dependentSchemas, name)) return true
  if (!isKeywords(schema.dependentRequired)) return false
  return Object.entries(schema.dependentRequired).some(([key, others]) => key === name || listOf(others).includes(name))
}

export interface Answer {
  readonly level: Judged
  readonly findings: readonly string[]
}

/** The worst level that the comparison gives to a pair of documents. */
export function answerOf(surface: Surface, before: string, after: string): Answer {
  const compared = compare({ id: 'x', type: surface.type, before, after }, {}, sha256)
  if (!compared.ok) return { level: 'refused', findings: [`${compared.problem.code}: ${compared.problem.message}`] }
  const groups: readonly FindingGroup[] = compared.value.groups.filter(({ rule }) => rule !== surface.besides)
  const level =
    (['breaking', 'dangerous', 'info'] as const).find((one) => groups.some((group) => group.level === one)) ?? 'none'
  return { level, findings: groups.map((group) => `${group.level} ${group.rule} ${group.location}`) }
}

export function documentsOf({ dialect, before, after }: Pair, surface: Surface): readonly [string, string] {
  const writeAfter = surface.writeAfter ?? surface.write
  return [JSON.stringify(surface.write(before, dialect)), JSON.stringify(writeAfter(after, dialect))]
}

/** Judges a pair at every surface of its dialect, by what the instances prove. */
export function judge(pair: Pair, instances: readonly unknown[], only?: string): Judgement {
  const levels: Partial<Record<Judged, number>> = {}
  const failures: Failure[] = []
  const mild: Failure[] = []
  const surfaces: string[] = []
  const isMarked = /"(?:read|write)Only"/.test(JSON.stringify([pair.before, pair.after]))
  const byMeaning = new Map<string, Witnesses>()
  for (const surface of surfacesFor(pair.dialect)) {
    if (only !== undefined && surface.name !== only) continue
    if (!fitsBoth(surface, pair.before, pair.after)) continue
    const kind = `${isMarked ? surface.audience : 'any'} ${surface.form ?? ''}`
    const witnesses =
      byMeaning.get(kind) ?? witnessesIn(meaningOf(pair, surface), sentAt(surface, instances), unsentIn(pair, surface))
    byMeaning.set(kind, witnesses)
    const effects = (['narrowed', 'widened'] as const).filter(
      (effect) =>
        witnesses[effect] !== undefined &&
        (surface.audience === 'shared' || (surface.audience === 'sender') === (effect === 'narrowed')),
    )
    const [effect] = effects
    if (effect === undefined) continue
    const { level, findings } = answerOf(surface, ...documentsOf(pair, surface))
    levels[level] = (levels[level] ?? 0) + 1
    surfaces.push(surface.name)
    if (level === 'breaking') continue
    const judged = { surface: surface.name, witness: Object(witnesses[effect]).value, effect, level, findings }
    if (level === 'dangerous') mild.push(judged)
    else failures.push(judged)
  }
  return { levels, surfaces, failures, mild }
}

/** Other documents may refer to the definitions of a published schema: one that goes is missed, whatever this schema admits. */
function losesDefinition({ before, after }: Pair, { type }: Surface): boolean {
  if (type !== 'json_schema' || !isKeywords(before) || !isKeywords(after)) return false
  const left = entriesOf(after.$defs).map(([name]) => name)
  return entriesOf(before.$defs).some(([name]) => !left.includes(name))
}

export interface Equality {
  /** A value that one side admits and the other refuses: then nothing was written otherwise. */
  readonly differs?: unknown
  /** Surfaces that call the pair breaking or dangerous. */
  readonly alarms: readonly { readonly surface: string; readonly level: Judged; readonly findings: readonly string[] }[]
}

/** Judges a pair that is meant to be equal: by many values, then at every surface. */
export function judgeEqual(pair: Pair, random: Random, isWanted: (surface: Surface) => boolean): Equality {
  const instances = instancesFor(random, pair.before, pair.after, 16)
  const alarms: { surface: string; level: Judged; findings: readonly string[] }[] = []
  const verified = new Set<string>()
  for (const surface of surfacesFor(pair.dialect)) {
    if (!isWanted(surface) || losesDefinition(pair, surface)) continue
    if (!fitsBoth(surface, pair.before, pair.after)) continue
    if (surface.form === undefined && !verified.has(surface.audience)) {
      verified.add(surface.audience)
      const { wasValid, isValid } = meaningOf(pair, surface)
      const differs = instances.find((instance) => {
        const [before, after] = [verdictOf(wasValid, instance), verdictOf(isValid, instance)]
        return before !== null && after !== null && before !== after
      })
      if (differs !== undefined) return { differs: { value: differs }, alarms: [] }
    }
    const { level, findings } = answerOf(surface, ...documentsOf(pair, surface))
    if (level !== 'info' && level !== 'none') alarms.push({ surface: surface.name, level, findings })
  }
  return { alarms }
}
