/** Finds the rule and the message of a schema change at a place. Null if the change has no effect there. */
import { isEqual } from '../../schema/equality.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import type { Lifecycle } from '../../schema/annotations.ts'
import type { PropertyFacts, SchemaDelta, TypeFacts } from '../../schema/delta.ts'
import type { Reached } from '../../schema/comparison/reachable-changes.ts'
import { isAnnotation } from '../../schema/shape.ts'
import { typesOf } from '../../schema/types.ts'
import { mayBeXml } from '../../schema/xml.ts'
import { nameValue } from '../../schema/values.ts'
import { filledIn } from '../row.ts'
import { familyOf, type Family } from '../families.ts'
import {
  isStability,
  lifecycleChange,
  STABILITY_LEVELS,
  type LifecycleOptions,
  type LifecycleChange,
} from '../../schema/lifecycle.ts'
import { exceptionOf } from '../exceptions.ts'
import { levelOf } from '../rule.ts'
import { propertyRuleOf } from '../properties.ts'
import { schemaRuleId, unusedPrefix, unusedStemOf } from '../schema-rules.ts'
import type { SchemaSite, SitePair } from '../../schema/sites.ts'
import { distinguishesTypes, isForm, typeFamilyOf, type Writing } from './type-verdict.ts'

/** The use of a schema that is judged. */
export interface SchemaUse {
  readonly sites: SitePair
  /** Media type of the text that the schema describes. Null if there is none (styled parameters, headers, tools). */
  readonly mediaType: string | null
  /** The stated media types of the fields of a form. Absent: none. */
  readonly fieldTypes?: ReadonlyMap<string, string>
  /** The parameter whose schema it is, else null. */
  readonly parameter: ParameterUse | null
  readonly lifecycle: LifecycleOptions
  /** Whether a text in XML is an element with the name of the component that describes it. Absent: no. */
  readonly isNamedByComponent?: boolean
}

/** The facts that give a parameter's schema its meaning. */
export interface ParameterUse {
  readonly name: string
  /** On either side. Callers who always send it, or must send it now, never get its default. */
  readonly isRequired: boolean
  /** A list is written by repeating the parameter. */
  readonly repeats: boolean
}

/** The rule of a change. */
export interface SchemaJudgement {
  readonly rule: string
  /** What happened, without the location. */
  readonly message: string
}

export function judgeSchema(reached: Reached, use: SchemaUse): SchemaJudgement | null {
  const { delta, path, isRequired, isReadOnly, isWriteOnly } = reached
  // Callers write the items of a list parameter as its value, so their number is reported for the parameter.
  const isCount = use.parameter !== null && delta.keyword === 'maxItems' && path.length === 1 && path[0] === 'items'
  const site = path.length === 0 || isCount ? use.sites.root : use.sites.property
  if (delta.keyword === 'default' && path.length === 0 && isIdleDefault(delta, use)) return null
  const isUnused = site.direction === 'shared' ? false : site.direction === 'request' ? isReadOnly : isWriteOnly
  switch (delta.keyword) {
    case 'properties':
    case 'required':
      return judgeProperty(reached, site, isUnused)
    case 'readOnly':
    case 'writeOnly':
      return isRequired === null ? null : judgeUsage(delta, path, site, isRequired)
    case 'deprecated':
      return site.isProperty ? judgeDeprecation(delta, path, site, use.lifecycle) : null
    case 'stability':
      return judgeStability(delta, path, site, use.lifecycle)
    default:
      return judgeFamily(reached, site, use, isUnused)
  }
}

/** Of a parameter that is always sent, or written in text like the other one: `10` and `"10"`, or null and none. */
function isIdleDefault({ before, after }: SchemaDelta, { parameter, mediaType }: SchemaUse): boolean {
  if (parameter === null) return false
  return parameter.isRequired || (mediaType === null && isEqual(scalarText(before), scalarText(after)))
}

/** Objects stay as they are: how they are written is not examined. */
function scalarText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scalarText)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function judgeFamily(
  { delta, path, pair }: Reached,
  site: SchemaSite,
  use: SchemaUse,
  isUnused: boolean,
): SchemaJudgement | null {
  if (delta.keyword === 'xml' && !mayBeXml(use.mediaType)) return null
  if (delta.keyword === 'joinedInOneOf') return judgeJoined(path, site, isUnused)
  const repeats = site.isProperty ? isRepeatedField(use, path) : use.parameter?.repeats === true
  const types = delta.types && repeats ? unrepeated(delta.types, pair.before.value, pair.after.value) : delta.types
  const family = types ? typeFamilyOf(types, site, writingOf(use, site, path)) : familyOf(delta.keyword, delta.action)
  if (family === undefined) return null
  const rule = ruleIdOf(site, family, isUnused)
  return rule === null ? null : { rule, message: `${subject(site, path)} ${fill(family.sentence, delta)}` }
}

/** Whether a list is written by repeating its field: without an encoding of its own it is (OpenAPI 3.1.1 §4.8.15.1). */
export function isRepeatedField(
  { mediaType, fieldTypes }: SchemaUse,
  [field = '', ...rest]: readonly string[],
): boolean {
  return isForm(mediaType) && rest.length === 0 && fieldTypes?.has(field) !== true
}

/**
 * A choice that contains the former schema. For a body the choice is reported, for a property the added alternatives.
 */
function judgeJoined(path: readonly string[], site: SchemaSite, isUnused: boolean): SchemaJudgement | null {
  const family = site.isProperty ? familyOf('oneOf', 'added') : familyOf('wrappedInOneOf', 'became')
  const sentence = 'became one of several alternatives (oneOf)'
  const rule = family ? ruleIdOf(site, family, isUnused) : null
  return rule === null ? null : { rule, message: `${subject(site, path)} ${sentence}` }
}

/** A scalar that became a list of scalars, written by repeating the parameter: a single value has the same form. */
function unrepeated(types: TypeFacts, before: JsonRecord, after: JsonRecord): TypeFacts {
  const { items } = after
  const isList = types.after.length === 1 && types.after[0] === 'array' && !types.before.includes('array')
  const isOneEnough = after.minItems === undefined || after.minItems === 0 || after.minItems === 1
  if (!isList || !isOneEnough || !isRecord(items) || items.$ref !== undefined) return types
  if (!isEqual(assertionsOf(items), assertionsOf(before))) return types
  const formatAfter = typeof items.format === 'string' ? items.format : null
  // In text every scalar is a string.
  const each = typesOf(items).includes('string') ? types.before : typesOf(items)
  // A list in place of one value admits more.
  return { ...types, after: [...each, 'array'], formatAfter: formatAfter === types.formatBefore ? null : formatAfter }
}

/** The conditions of a schema on its values other than their type. */
function assertionsOf(schema: JsonRecord): JsonRecord {
  const entries = Object.entries(schema).filter(([keyword]) => !TYPE_KEYWORDS.has(keyword) && !isAnnotation(keyword))
  return Object.fromEntries(entries)
}

const TYPE_KEYWORDS: ReadonlySet<string> = new Set(['type', 'format', 'nullable', 'x-nullable'])

/** A text may hold a text of another media type: that of its `contentSchema`, or that of a field. */
function writingOf(use: SchemaUse, site: SchemaSite, path: readonly string[]): Writing {
  const isTyped = path.includes('contentSchema') || distinguishesTypes(use.fieldTypes?.get(path[0] ?? '') ?? null)
  return isTyped ? 'typed' : writingAt(use, site)
}

function writingAt({ mediaType, sites }: Pick<SchemaUse, 'sites' | 'mediaType'>, site: SchemaSite): Writing {
  if (mediaType !== null) return distinguishesTypes(mediaType) ? 'typed' : 'text'
  if (sites.root.area === 'parameters') return site.isProperty ? 'unknown' : 'plain'
  return sites.root.area === 'tools' ? 'typed' : 'text'
}

/** Whether the values at a site are distinguished by type, as in JSON. */
export function hasTypedText({ sites, mediaType }: Pick<SchemaUse, 'sites' | 'mediaType'>, site: SchemaSite): boolean {
  return site.direction === 'shared' || writingAt({ sites, mediaType }, site) === 'typed'
}

function ruleIdOf(site: SchemaSite, family: Family, isUnused: boolean): string | null {
  const rule = schemaRuleId(site, family)
  const isRaised = (exceptionOf(rule)?.level ?? 'info') !== 'info'
  return isUnused && (isRaised || !isHarmlessEffect(site, family)) ? unusedRuleId(site, family) : rule
}

function isHarmlessEffect({ direction }: SchemaSite, { effect }: Pick<Family, 'effect'>): boolean {
  return levelOf(direction, effect) === 'info'
}

/**
 * A read-only property in a request and a write-only one in a response are not sent, so a breaking change of one is
 * information. A whole schema is never read-only or write-only here.
 */
function unusedRuleId(site: SchemaSite, family: Family): string | null {
  return site.isProperty ? `${unusedPrefix(site)}-${unusedStemOf(site.direction, family)}` : null
}

function judgeProperty({ delta, path }: Reached, site: SchemaSite, isUnused: boolean): SchemaJudgement | null {
  const { property: facts } = delta
  if (facts === undefined) return null
  // Callers do not send a read-only property, so its presence and requiredness do not concern them.
  if (site.direction === 'request' && facts.readOnly) return null
  const rule = propertyRuleOf(site.direction, delta, facts)
  if (rule === undefined) return null
  const full = [...path, delta.name ?? ''].join('/')
  const isHidden = isUnused && !isHarmlessEffect(site, rule)
  const id = isHidden ? `${unusedPrefix(site)}-changed` : rule.id.replace('{scope}', site.scope)
  return { rule: id, message: rule.sentence.replace('{path}', () => full) }
}

function judgeUsage(
  delta: SchemaDelta,
  path: readonly string[],
  site: SchemaSite,
  isRequired: boolean,
): SchemaJudgement | null {
  const facts: PropertyFacts = {
    required: isRequired,
    requiredBefore: isRequired,
    hasDefault: false,
    readOnly: false,
    writeOnly: false,
    readOnlyBefore: false,
    writeOnlyBefore: false,
  }
  const rule = propertyRuleOf(site.direction, delta, facts)
  if (rule === undefined) return null
  return {
    rule: rule.id.replace('{scope}', site.scope),
    message: rule.sentence.replace('{path}', () => path.join('/')),
  }
}

const LIFECYCLE_STEMS: Readonly<Record<LifecycleChange['kind'], { readonly stem: string; readonly sentence: string }>> =
  {
    deprecated: { stem: 'deprecated', sentence: 'was deprecated' },
    'deprecated-with-sunset': {
      stem: 'deprecated-with-sunset',
      sentence: 'was deprecated with the sunset day {sunset}',
    },
    'sunset-missing': { stem: 'deprecated-sunset-missing', sentence: 'was deprecated without a sunset day' },
    'sunset-invalid': {
      stem: 'deprecated-sunset-invalid',
      sentence: 'was deprecated with the sunset day `{sunset}`, which is no date',
    },
    'sunset-moved-invalid': {
      stem: 'deprecated-sunset-invalid',
      sentence: 'had its sunset day moved, and `{sunset}` is no date',
    },
    'sunset-too-small': {
      stem: 'sunset-date-too-small',
      sentence: 'was deprecated with the sunset day {sunset}, less than {days} days ahead',
    },
    'sunset-moved-too-small': {
      stem: 'sunset-date-too-small',
      sentence: 'had its sunset day moved from {before} to {sunset}, less than {days} days ahead',
    },
    'sunset-deleted': { stem: 'deprecated-sunset-missing', sentence: 'lost its sunset day' },
    reactivated: { stem: 'reactivated', sentence: 'is no longer deprecated' },
  }

function judgeDeprecation(
  { before, after }: SchemaDelta,
  path: readonly string[],
  site: SchemaSite,
  options: LifecycleOptions,
): SchemaJudgement | null {
  const change = lifecycleChange(lifecycle(before), lifecycle(after), options)
  if (change === null) return null
  const { stem, sentence } = LIFECYCLE_STEMS[change.kind]
  return {
    rule: `${site.scope}-property-${stem}`,
    message: `${subject(site, path)} ${filledIn({ sentence }, { ...change })}`,
  }
}

function lifecycle(value: unknown): Lifecycle {
  if (!isRecord(value)) return { deprecated: false, sunset: null, stability: null }
  return { deprecated: value.deprecated === true, sunset: value.sunset ?? null, stability: value.stability ?? null }
}

function judgeStability(
  { before, after }: SchemaDelta,
  path: readonly string[],
  site: SchemaSite,
  { minimumStability }: LifecycleOptions,
): SchemaJudgement | null {
  const [base, head] = [before ?? 'stable', after ?? 'stable']
  if (!isStability(base) || !isStability(head)) {
    const sentence = `${subject(site, path)} has a stability level that is none of ${STABILITY_LEVELS.join(', ')}`
    return { rule: 'api-invalid-stability-level', message: sentence }
  }
  if (!site.isProperty) return null
  const step = STABILITY_LEVELS.indexOf(head) - STABILITY_LEVELS.indexOf(base)
  // As for operations: an element that was not stable enough carried no promise.
  if (step === 0 || STABILITY_LEVELS.indexOf(base) < STABILITY_LEVELS.indexOf(minimumStability)) return null
  const stem = step < 0 ? 'stability-decreased' : 'stability-increased'
  const sentence = `went from stability ${base} to ${head}`
  return { rule: `${site.scope}-property-${stem}`, message: `${subject(site, path)} ${sentence}` }
}

function subject(site: SchemaSite, path: readonly string[]): string {
  return site.noun.replace('{path}', () => path.join('/'))
}

/** Keywords whose stated value may be null. Their changes between a value and none do not name both sides. */
const TAKES_NULL: ReadonlySet<string> = new Set(['const', 'default', 'values', 'values-unproved'])

function fill(sentence: string, { keyword, name, before, after }: SchemaDelta): string {
  const values = TAKES_NULL.has(keyword) ? { before: nameValue(before), after: nameValue(after) } : { before, after }
  return filledIn({ sentence }, { name, ...values })
}
