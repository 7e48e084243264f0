/**
 * What the API server does beside validation, wherever two structural schemas have the same part of an object: the
 * `x-kubernetes-*` members, and defaults that satisfy `required`.
 */
import type { CrdRuleId } from '../../rules/k8s-crd/rows.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isEqual } from '../../schema/equality.ts'
import type { Sides } from '../sides.ts'
import {
  conditionsWithin,
  isImplied,
  nameWithin,
  ownConditions,
  validationRules,
  type RuleCondition,
  type ValidationRule,
} from './rule-conditions.ts'
import { isRecord, locatedItems, memberOf, type JsonRecord, type Located } from '../../schema/located.ts'

/** A change of an extension. Steps start at the root of the object. */
interface ExtensionChange {
  readonly rule: CrdRuleId
  readonly steps: readonly string[]
  readonly located: Located
  readonly side: 'base' | 'head'
  readonly name?: string
  readonly before?: unknown
  readonly after?: unknown
}

type AddExtensionChange = (change: ExtensionChange) => void

interface ExtensionPart {
  readonly before: Located
  readonly after: Located
  readonly base: JsonRecord
  readonly head: JsonRecord
  readonly steps: readonly string[]
  /** What the rules of the objects around it state of it. */
  readonly inherited: Sides<readonly RuleCondition[]>
}

/** Compares two schemas and the parts that both have. The reader bounds the depth. */
export function compareExtensions(
  before: Located,
  after: Located,
  steps: readonly string[],
  add: AddExtensionChange,
  inherited: ExtensionPart['inherited'] = { base: [], head: [] },
): void {
  if (!isRecord(before.value) || !isRecord(after.value)) return
  const part: ExtensionPart = { before, after, base: before.value, head: after.value, steps, inherited }
  compareFlags(part, add)
  compareMerging(part, add)
  compareRules(part, add)
  compareFilledIn(part, add)
  descend(part, add)
}

function descend({ before, after, steps, inherited }: ExtensionPart, add: AddExtensionChange): void {
  const [base, head] = [memberOf(before, 'properties'), memberOf(after, 'properties')]
  const conditions = {
    base: Map.groupBy([...inherited.base, ...ownConditions(before)], nameWithin),
    head: Map.groupBy([...inherited.head, ...ownConditions(after)], nameWithin),
  }
  const names = isRecord(base?.value) ? Object.keys(base.value).sort(byCodeUnit) : []
  for (const name of names) {
    const property = { before: base && memberOf(base, name), after: head && memberOf(head, name) }
    const within = {
      base: conditions.base.get(name)?.flatMap(conditionsWithin) ?? [],
      head: conditions.head.get(name)?.flatMap(conditionsWithin) ?? [],
    }
    if (property.before && property.after)
      compareExtensions(property.before, property.after, [...steps, name], add, within)
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const part = { before: memberOf(before, keyword), after: memberOf(after, keyword) }
    if (part.before && part.after) compareExtensions(part.before, part.after, [...steps, keyword], add)
  }
}

/** Defaults are filled in before validation, so a required property with a default may be left out. */
function compareFilledIn({ before, after, steps }: ExtensionPart, add: AddExtensionChange): void {
  const headRequires = requiredNames(after)
  for (const name of requiredNames(before)) {
    if (!headRequires.has(name)) continue
    const located = propertyDefault(before, name)
    if (located === null || propertyDefault(after, name) !== null) continue
    add({
      rule: 'crd-required-property-default-removed',
      steps: [...steps, name],
      located,
      side: 'base',
      before: located.value,
    })
  }
}

function requiredNames(schema: Located): ReadonlySet<string> {
  const names = locatedItems(memberOf(schema, 'required')).map(({ value }) => value)
  return new Set(names.filter((name) => typeof name === 'string'))
}

function propertyDefault(owner: Located, name: string): Located | null {
  const properties = memberOf(owner, 'properties')
  const property = properties && memberOf(properties, name)
  return property && memberOf(property, 'default')
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

/** A map that is no map any more: its members are dropped, unless they are kept unseen. */
function compareAdditionalProperties({ before, base, head, steps }: ExtensionPart, add: AddExtensionChange): void {
  const member = 'additionalProperties'
  const [baseIsMap, headIsMap] = [base, head].map((schema) => isRecord(schema[member]) || schema[member] === true)
  const located = memberOf(before, member)
  if (
    baseIsMap !== true ||
    headIsMap === true ||
    base[PRESERVE] === true ||
    head[PRESERVE] === true ||
    located === null
  )
    return
  add({ rule: 'crd-unknown-fields-pruned', steps, located, side: 'base', before: true, after: false })
}

/** A map whose values may be anything keeps all members, too. */
function isOpenMap({ additionalProperties }: JsonRecord): boolean {
  return (
    isRecord(additionalProperties) &&
    additionalProperties[PRESERVE] === true &&
    additionalProperties['type'] === undefined
  )
}

const FLAGS: readonly { readonly member: string; readonly became: CrdRuleId; readonly ceased: CrdRuleId }[] = [
  {
    member: PRESERVE,
    became: 'crd-unknown-fields-preserved',
    ceased: 'crd-unknown-fields-pruned',
  },
  {
    member: 'x-kubernetes-embedded-resource',
    became: 'crd-embedded-resource-added',
    ceased: 'crd-embedded-resource-removed',
  },
]

function compareFlags(part: ExtensionPart, add: AddExtensionChange): void {
  const { before, after, base, head, steps } = part
  compareAdditionalProperties(part, add)
  for (const { member, became, ceased } of FLAGS) {
    const flags = { before: base[member] === true, after: head[member] === true }
    if (flags.before === flags.after || (member === PRESERVE && isOpenMap(head))) continue
    const side = flags.after || memberOf(after, member) !== null ? 'head' : 'base'
    const owner = side === 'head' ? after : before
    const located = memberOf(owner, member) ?? owner
    add({ rule: flags.after ? became : ceased, steps, located, side, ...flags })
  }
}

/** Kubernetes' defaults: a list is replaced as a whole, an object is merged member by member. */
const ATOMIC = 'atomic'
const GRANULAR = 'granular'

function compareMerging({ base, head, steps, ...part }: ExtensionPart, add: AddExtensionChange): void {
  const emit = (member: string, rule: CrdRuleId, before: unknown, after: unknown): void => {
    const located = memberOf(part.after, member)
    if (located !== null) add({ rule, steps, before, after, located, side: 'head' })
    else add({ rule, steps, before, after, located: memberOf(part.before, member) ?? part.before, side: 'base' })
  }
  const [listBefore, listAfter] = [base['x-kubernetes-list-type'] ?? ATOMIC, head['x-kubernetes-list-type'] ?? ATOMIC]
  if (listBefore !== listAfter) {
    const rule = listAfter === ATOMIC ? 'crd-list-type-loosened' : 'crd-list-type-tightened'
    emit('x-kubernetes-list-type', rule, listBefore, listAfter)
  } else if (listAfter === 'map') {
    const [before, after] = [listMapKeys(base), listMapKeys(head)]
    if (!isEqual(before, after)) emit('x-kubernetes-list-map-keys', 'crd-list-map-keys-changed', before, after)
  }
  const [mapBefore, mapAfter] = [base['x-kubernetes-map-type'] ?? GRANULAR, head['x-kubernetes-map-type'] ?? GRANULAR]
  if (mapBefore !== mapAfter) emit('x-kubernetes-map-type', 'crd-map-type-changed', mapBefore, mapAfter)
}

function listMapKeys(schema: JsonRecord): readonly string[] {
  const keys: unknown = schema['x-kubernetes-list-map-keys']
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string').sort(byCodeUnit) : []
}

/** Rules are matched by the conditions of their expressions, however these are written. Their messages may change. */
function compareRules({ steps, inherited, ...part }: ExtensionPart, add: AddExtensionChange): void {
  const [base, head] = [validationRules(part.before), validationRules(part.after)]
  const reported = new Set<unknown>()
  /** A rule is reported once, whichever of its conditions changed. */
  const addOnce = (one: ValidationRule, change: Omit<ExtensionChange, 'steps' | 'located'>): void => {
    if (!reported.has(one.located.value)) add({ ...change, steps, located: one.located })
    reported.add(one.located.value)
  }
  for (const [key, one] of base) {
    if (!head.has(key) && !isImplied(one, part.after, inherited.head))
      addOnce(one, { rule: 'crd-validation-rule-removed', side: 'base', before: one.expression })
  }
  for (const [key, one] of head) {
    if (!base.has(key) && !isImplied(one, part.before, inherited.base))
      addOnce(one, { rule: 'crd-validation-rule-added', side: 'head', after: one.expression })
  }
  for (const [key, one] of head) {
    const known = base.get(key)
    if (known !== undefined && known.runsOnCreation !== one.runsOnCreation) {
      const rule = one.runsOnCreation ? 'crd-validation-rule-added' : 'crd-validation-rule-removed'
      const text = `${one.expression} (on creation)`
      addOnce(one, { rule, side: 'head', before: text, after: text })
    }
  }
  for (const [key, one] of head) {
    const known = base.get(key)
    if (known === undefined || isEqual(ruleMessage(known.located), ruleMessage(one.located))) continue
    const [before, after] = [known.located.value, one.located.value]
    addOnce(one, { rule: 'crd-validation-rule-reworded', side: 'head', name: one.expression, before, after })
  }
}

/** The members of a rule beside its expression, with the defaults of ValidationRule (apiextensions.k8s.io/v1). */
function ruleMessage({ value }: Located): unknown {
  return isRecord(value) ? { reason: 'FieldValueInvalid', optionalOldSelf: false, ...value, rule: null } : value
}
