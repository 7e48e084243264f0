/**
 * What the API server does beside validation, wherever two structural schemas have the same part of an object: the
 * `x-kubernetes-*` members, and defaults that satisfy `required`.
 */
import type { CrdRuleId } from '../../rules/k8s-crd/rows.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isEqual } from '../../schema/equality.ts'
import type { Sides } from '../sides.ts'
import { isRecord, locatedItems, memberOf, recordOf, type JsonRecord, type Located } from '../../schema/located.ts'

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
  readonly inherited: Sides<readonly Condition[]>
}

/** Tokens of a condition, which a rule joins with others by `&&`. */
type Condition = readonly string[]

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

const VALIDATIONS = 'x-kubernetes-validations'

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

/** A rule on `oldSelf` is skipped when an object is created, unless it allows `oldSelf` to be absent. */
function isRunOnCreation(rule: JsonRecord, tokens: readonly string[]): boolean {
  return rule['optionalOldSelf'] === true || !tokens.includes('oldSelf')
}

/** The members of a rule beside its expression, with the defaults of ValidationRule (apiextensions.k8s.io/v1). */
function ruleMessage({ value }: Located): unknown {
  return isRecord(value) ? { reason: 'FieldValueInvalid', optionalOldSelf: false, ...value, rule: null } : value
}

/** Texts of the Common Expression Language, comments, spaces, and anything else. */
const TOKENS =
  /[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"]*"|'[^']*')|"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|(\s+|\/\/[^\n]*)|&&|\|\||\w+|[^]/g

/** The tokens of an expression, without spaces and comments. Simple texts are in one kind of quotes. */
function tokensOf(expression: string): readonly string[] {
  return [...expression.matchAll(TOKENS)].flatMap(([token, layout]) =>
    layout === undefined ? [token.replace(/^'([^'"\\]*)'$/, '"$1"')] : [],
  )
}

const OPENING: ReadonlySet<string> = new Set(['(', '[', '{'])
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}'])

/** How many brackets are open before each token. */
function depthsOf(tokens: readonly string[]): readonly number[] {
  let depth = 0
  return tokens.map((token) => {
    if (CLOSING.has(token)) depth -= 1
    const before = depth
    if (OPENING.has(token)) depth += 1
    return before
  })
}

/** Below this number of brackets a condition is compared as it is written. */
const DEEPEST_CONDITION = 16

/** Conditions that an expression joins by `&&`, which binds closer than `||` and `?`. Brackets around a whole are left out. */
function conditionsOf(tokens: readonly string[], nesting = 0): readonly (readonly string[])[] {
  if (nesting > DEEPEST_CONDITION) return [tokens]
  const depths = depthsOf(tokens)
  const last = tokens.length - 1
  const isBracketed =
    tokens[0] === '(' && tokens[last] === ')' && depths.every((depth, at) => depth > 0 || at === 0 || at === last)
  if (isBracketed) return conditionsOf(tokens.slice(1, -1), nesting + 1)
  const outer = tokens.map((token, index) => (depths[index] === 0 ? token : null))
  const ends = outer.flatMap((token, index) => (token === '&&' ? [index] : []))
  if (ends.length === 0 || outer.includes('||') || outer.includes('?')) return [tokens]
  return [...ends, tokens.length].flatMap((end, index) =>
    conditionsOf(tokens.slice((ends[index - 1] ?? -1) + 1, end), nesting + 1),
  )
}

/** The conditions of a schema on all of its values. */
function ownConditions(schema: Located): readonly Condition[] {
  return [...validationRules(schema).values()].flatMap(({ condition }) => (condition === null ? [] : [condition]))
}

/** The property that a condition on an object is about. */
function nameWithin(condition: Condition): string {
  return guardedPart(condition)?.name ?? condition[condition.indexOf('self') + 2] ?? ''
}

/** What a condition on an object states of this property, where that is there. */
function conditionsWithin(condition: Condition): readonly Condition[] {
  return (guardedPart(condition)?.conditions ?? [condition]).flatMap((one) => {
    const within = conditionWithin(one, nameWithin(condition))
    return within === null ? [] : [within]
  })
}

/** The condition with the property in place of the object. Null: it is about something else, too. */
function conditionWithin(condition: Condition, name: string): Condition | null {
  const own: string[] = []
  let isAbout = false
  for (let index = 0; index < condition.length; index += 1) {
    const token = condition[index] ?? ''
    own.push(token)
    if (token !== 'self' || condition[index - 1] === '.') continue
    if (condition[index + 1] !== '.' || condition[index + 2] !== name || condition[index + 3] === '(') return null
    isAbout = true
    index += 2
  }
  return isAbout ? own : null
}

interface GuardedPart {
  readonly name: string
  readonly conditions: readonly Condition[]
}

/** Of `!has(self.name) || …` what follows. */
function guardedPart(condition: Condition): GuardedPart | null {
  const [name = '', rest] = [condition[5], condition.slice(8)]
  if (condition.slice(0, 8).join(' ') !== `! has ( self . ${name} ) ||`) return null
  const depths = depthsOf(rest)
  // A choice binds looser.
  return rest.some((token, index) => token === '?' && depths[index] === 0)
    ? null
    : { name, conditions: conditionsOf(rest) }
}

/** Whether a schema states the condition of a rule in another place: in the objects around it, or in its properties. */
function isImplied({ condition }: ValidationRule, schema: Located, inherited: readonly Condition[]): boolean {
  if (condition === null) return false
  return inherited.some((one) => isEqual(one, condition)) || isStatedWithin(condition, schema)
}

/** A rule on a property is not asked where the property is missing; an expression that reads it fails there. */
function isStatedWithin(condition: Condition, schema: Located): boolean {
  const guarded = guardedPart(condition)
  const name = nameWithin(condition)
  const properties = memberOf(schema, 'properties')
  const property = properties === null ? null : memberOf(properties, name)
  // In expressions some names have another form, with `__`.
  if (property === null || name.includes('__') || recordOf(property.value)['nullable'] === true) return false
  if (guarded === null && !requiredNames(schema).has(name)) return false
  const own = ownConditions(property)
  const within = (guarded?.conditions ?? [condition]).map((one) => conditionWithin(one, name))
  return within.every(
    (one) => one !== null && (own.some((held) => isEqual(held, one)) || isStatedWithin(one, property)),
  )
}

interface ValidationRule {
  /** As written. */
  readonly expression: string
  /** One of its conditions on the value itself. Null: it compares with the value before, or is about an alternative. */
  readonly condition: Condition | null
  readonly located: Located
  readonly runsOnCreation: boolean
}

/** Those of a schema, and those that its combinators add (Kubernetes 1.31), by where they are and by condition. */
function validationRules(schema: Located): ReadonlyMap<string, ValidationRule> {
  const rules = new CountedRules()
  addRules(schema, '', rules)
  return rules.byKey
}

/** Alternatives have no order, so those that hold one rule are only counted. */
class CountedRules {
  readonly byKey = new Map<string, ValidationRule>()
  readonly #counts = new Map<string, number>()

  /** @param isCounted whether a rule that is there already is another one */
  add(key: string, rule: ValidationRule, isCounted: boolean): void {
    const known = this.byKey.get(key)
    // Of two rules with one condition, the one that always runs decides.
    if (!isCounted && known?.runsOnCreation === true) return
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    this.byKey.set(isCounted && count > 0 ? `${key} again ${count}` : key, rule)
  }
}

function addRules(schema: Located, path: string, rules: CountedRules): void {
  for (const located of locatedItems(memberOf(schema, VALIDATIONS))) {
    const { value } = located
    const expression = isRecord(value) ? value['rule'] : undefined
    if (!isRecord(value) || typeof expression !== 'string') continue
    const tokens = tokensOf(expression)
    const isOfValue = path === '' && !tokens.includes('oldSelf')
    const rule = { expression, located, runsOnCreation: isRunOnCreation(value, tokens) }
    for (const condition of conditionsOf(tokens))
      rules.add(`${path} ${condition.join(' ')}`, { ...rule, condition: isOfValue ? condition : null }, path !== '')
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not']) {
    const held = memberOf(schema, keyword)
    const within = keyword === 'allOf' ? path : `${path}/${keyword}`
    for (const item of keyword === 'not' && held !== null ? [held] : locatedItems(held)) {
      addRules(item, within, rules)
      for (const [name, part] of subschemaParts(item)) addRulesWithin(part, `${within}/${name}`, rules)
    }
  }
}

function addRulesWithin(schema: Located, path: string, rules: CountedRules): void {
  addRules(schema, path, rules)
  for (const [name, part] of subschemaParts(schema)) addRulesWithin(part, `${path}/${name}`, rules)
}

/** The schemas of the members and items of a value. */
function subschemaParts(schema: Located): readonly (readonly [name: string, part: Located])[] {
  const properties = memberOf(schema, 'properties')
  const names = Object.keys(recordOf(properties?.value)).sort(byCodeUnit)
  const named = names.map((name) => [`properties/${name}`, properties && memberOf(properties, name)] as const)
  const others = ['items', 'additionalProperties'].map((keyword) => [keyword, memberOf(schema, keyword)] as const)
  return [...named, ...others].flatMap(([name, part]) => (part === null ? [] : [[name, part] as const]))
}
