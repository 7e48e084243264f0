/**
 * Custom options by which servers accept and answer calls. google/api states the behavior of fields, visibility, scopes
 * and addresses; google/longrunning the result of an operation. Validation is that of protovalidate or its predecessor.
 */
import { canonicalJson, type Json } from '../../common/hash.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { extensionName } from '../../contracts/protobuf/options.ts'
import { SCALARS, type Declared } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { isRecord } from '../../schema/located.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'
import { relateChoices } from './choices.ts'
import { constraintEffect, refusesUnset, type ConstraintEffect } from './constraints.ts'
import type { Directions } from './directions.ts'

const BEHAVIOR = '(google.api.field_behavior)'
const VALIDATION = /^\((?:buf\.)?validate\./
const CALLER_OPTIONS =
  /^\((?:(?:buf\.)?validate\.|google\.api\.(?:field_info|\w+_visibility|oauth_scopes|default_host)\)|google\.longrunning\.operation_info\))/

/** A field or oneof that must be given: `required` of validation, but not that of items, keys or values. */
const DEMAND = /^\((?:buf\.validate\.(?:field|oneof)|validate\.(?:rules|required))\)(?:\.(?!items|keys|values)\w+)*$/

/** Names and addresses that callers build: of resources, and of the header by which calls are routed. */
const ADDRESS =
  /^\(google\.api\.(?:resource\)\.(?:type|pattern)|resource_reference\)\.(?:type|child_type)|resource_definition\)|routing\))/

/** Fields of a message that exclude each other, by validation. */
const CHOICES = '(buf.validate.message).oneof'

/** Options that are lists of messages, which `addMembers` keeps whole. */
const MESSAGE_LISTS: ReadonlySet<string> = new Set([
  CHOICES,
  '(google.api.resource_definition)',
  '(google.api.routing).routing_parameters',
])

/** Validation that a value states without an effect: flags and bounds that are off by default. */
const SWITCHED_OFF = /^(?!\(.*\.(?:const|strict)$)\((?:buf\.)?validate\./
const LOWER_SIZE = /\.min_(?:len|bytes|items|pairs)$/
/** Validation against a set of values. */
const VALUE_SET = /\.(?:not_)?in$/

/** What validation does not look at if it is not given. */
const IGNORED: ReadonlySet<Json> = new Set<Json>(['IGNORE_IF_ZERO_VALUE', 'IGNORE_ALWAYS'])

/**
 * Options by name, and by member for messages: `(a) = {b: 1}` is `(a).b = 1`. Flags of descriptor.proto are false by
 * default. The defaults of other options are unknown.
 */
export function statedOptions({ options, type }: Optioned): ReadonlyMap<string, Json> {
  const stated = new Map<string, Json>()
  for (const [name, value] of options) {
    if (!name.startsWith('(')) {
      if (value !== false) stated.set(name, value)
    } else addMembers(name, value, stated)
  }
  const behaviors = behaviorsOf(stated.get(BEHAVIOR))
  if (behaviors.length > 0) stated.set(BEHAVIOR, behaviors)
  removeIgnored(stated, type !== undefined && SCALARS.has(type))
  return stated
}

/** A declaration. Fields have a type. */
type Optioned = Pick<Declared, 'options'> & { readonly type?: string }

/** Rules next to `IGNORE_ALWAYS` are not evaluated. A message that is ignored has rules of its own. */
function removeIgnored(stated: Map<string, Json>, isScalar: boolean): void {
  const ignored = new Set<string>()
  for (const [option, value] of stated) {
    if (!VALIDATION.test(option) || !option.endsWith('.ignore')) continue
    if (value === 'IGNORE_UNSPECIFIED') stated.delete(option)
    if (value === 'IGNORE_ALWAYS') ignored.add(outerOf(option))
  }
  if (ignored.size === 0) return
  for (const [option, value] of stated) {
    const isMark = value === 'IGNORE_ALWAYS' && option.endsWith('.ignore')
    if (isWithin(isMark && !isScalar ? outerOf(option) : option, ignored)) stated.delete(option)
  }
}

/** Whether an outer part of the option is one of them. */
function isWithin(option: string, owners: ReadonlySet<string>): boolean {
  for (let outer = outerOf(option); outer !== ''; outer = outerOf(outer)) if (owners.has(outer)) return true
  return false
}

function addMembers(name: string, value: Json, into: Map<string, Json>): void {
  const members = isMessage(value) && !MESSAGE_LISTS.has(name) ? Object.entries(value) : []
  if (members.length > 0) {
    for (const [member, inner] of members) addMembers(`${name}.${extensionName(member)}`, inner, into)
  } else if (!VALIDATION.test(name)) into.set(name, listedOnce(value))
  else if (name === CHOICES) into.set(name, inOrder([value].flat().map(choiceOf)))
  else if (!isSwitchedOff(name, value)) into.set(name, VALUE_SET.test(name) ? inOrder(value) : listedOnce(value))
}

/** A list of one item may be written as the item. */
function listedOnce(value: Json): Json {
  return isList(value) && value.length === 1 ? (value[0] ?? null) : value
}

function isSwitchedOff(name: string, value: Json): boolean {
  return SWITCHED_OFF.test(name) && (value === false || (value === 0 && LOWER_SIZE.test(name)))
}

/** Each value once, in one order. */
function inOrder(value: Json): Json {
  const items = itemsOf(value)
  return listedOnce([...items.keys()].sort(byCodeUnit).map((text) => items.get(text) ?? null))
}

function itemsOf(value: Json): ReadonlyMap<string, Json> {
  const items = isList(value) ? value : value === null ? [] : [value]
  return new Map(items.map((item) => [canonicalJson(item), item]))
}

/** The order of its fields has no meaning. */
function choiceOf(choice: Json): Json {
  if (!isMessage(choice)) return choice
  const { fields = [], required, ...rest } = choice
  return {
    ...rest,
    fields: [...itemsOf(fields).values()].flat().map(String).toSorted(byCodeUnit),
    ...(required === true && { required }),
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function isMessage(value: Json): value is { readonly [member: string]: Json } {
  return isRecord(value)
}

/** Each behavior once, without those that change nothing (google/api/field_behavior.proto); their order has no meaning. */
function behaviorsOf(value: Json | undefined): readonly string[] {
  const list = [value ?? []].flat().filter((behavior) => typeof behavior === 'string')
  return [...new Set(list)].filter((behavior) => behavior !== 'OPTIONAL').sort(byCodeUnit)
}

/** Behaviors that demand something of those who send. */
const LOOSENED: ReadonlySet<string> = new Set(['REQUIRED', 'IMMUTABLE'])

/** One option of a declaration. */
interface OptionChange {
  readonly option: string
  /** What the declaration states on each side, by `statedOptions`. */
  readonly base: ReadonlyMap<string, Json>
  readonly head: ReadonlyMap<string, Json>
}

/** The meaning of a changed option for those who send or receive what it belongs to. */
export function optionRule({ option, base, head }: OptionChange, directions: Directions): ProtoRuleId {
  const [before, after] = [base.get(option) ?? null, head.get(option) ?? null]
  if (option.startsWith('features.(')) return 'proto-language-feature-changed'
  if (option === BEHAVIOR) {
    const [old, current] = [behaviorsOf(before), behaviorsOf(after)]
    const isNew = (behavior: string): boolean => current.includes(behavior) && !old.includes(behavior)
    if (isNew('REQUIRED') && directions.isSent) return 'proto-field-required-by-option'
    if (isNew('INPUT_ONLY') && directions.isReceived) return 'proto-field-became-input-only'
    // Callers may leave out, or change, what they had to keep.
    const isKept = old.every(
      (behavior) => current.includes(behavior) || (!directions.isReceived && LOOSENED.has(behavior)),
    )
    const isHarmless = isKept && current.every((behavior) => behavior === 'REQUIRED' || !isNew(behavior))
    return isHarmless ? 'proto-option-changed' : 'proto-caller-option-changed'
  }
  if (isDemand(option, after) && !isDemand(option, before)) {
    return directions.isSent ? 'proto-field-required-by-option' : 'proto-option-changed'
  }
  if (isDemand(option, before) && !isDemand(option, after)) {
    return directions.isReceived ? 'proto-caller-option-changed' : 'proto-option-changed'
  }
  const effect =
    option === CHOICES ? relateChoices(itemsOf(before), itemsOf(after)) : constraintEffect(option, base, head)
  if (effect !== null) return constraintRule(effect, directions)
  if (ADDRESS.test(option)) return isExtended(before, after) ? 'proto-option-changed' : 'proto-caller-option-changed'
  return CALLER_OPTIONS.test(option) ? 'proto-caller-option-changed' : 'proto-option-changed'
}

/** Callers send what was valid. Readers rely on what is valid. */
function constraintRule({ narrows, widens }: ConstraintEffect, { isSent, isReceived }: Directions): ProtoRuleId {
  if (isSent && narrows === 'yes') return 'proto-field-constraint-tightened'
  const isSafe = (!isSent || narrows === 'no') && (!isReceived || widens === 'no')
  return isSafe ? 'proto-option-changed' : 'proto-caller-option-changed'
}

/** Whether everything that was stated is stated still. */
function isExtended(before: Json, after: Json): boolean {
  const kept = itemsOf(after)
  return [...itemsOf(before).keys()].every((item) => kept.has(item))
}

function isDemand(option: string, value: Json): boolean {
  return value === true && DEMAND.test(option) && /\brequired\b/.test(option)
}

/**
 * Whether calls without a field or oneof are refused: by its options (`required`), surely by what they state about its value
 * (`refused`), or perhaps by that (`constrained`).
 */
export function demandOf(declared: Optioned): 'required' | 'refused' | 'constrained' | 'none' {
  const options = statedOptions(declared)
  const stated = [...options]
  const isRequired = ([option, value]: (typeof stated)[number]): boolean =>
    option === BEHAVIOR ? behaviorsOf(value).includes('REQUIRED') : isDemand(option, value)
  if (stated.some(isRequired)) return 'required'
  const rules = stated.filter(([option]) => VALIDATION.test(option))
  const isIgnored = rules.some(
    ([option, value]) =>
      (option.endsWith('.ignore') && IGNORED.has(value)) || (option.endsWith('.ignore_empty') && value === true),
  )
  if (rules.length === 0 || isIgnored) return 'none'
  const unset = refusesUnset(options)
  return unset === 'yes' ? 'refused' : unset === 'perhaps' ? 'constrained' : 'none'
}

/** Whether validation takes the values of an enum only (`defined_only`). */
export function takesDefinedValues(declared: Optioned): boolean {
  return [...statedOptions(declared)].some(([option, value]) => value === true && option.endsWith('.enum.defined_only'))
}
