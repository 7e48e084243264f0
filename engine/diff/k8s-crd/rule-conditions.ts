/** The conditions that validation rules of a schema state, and those that follow from rules on the objects around it or within it. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, locatedItems, memberOf, recordOf, type JsonRecord, type Located } from '../../schema/located.ts'

const VALIDATIONS = 'x-kubernetes-validations'

/** Tokens of a condition, which a rule joins with others by `&&`. */
export type RuleCondition = readonly string[]

/** A rule on `oldSelf` is skipped when an object is created, unless it allows `oldSelf` to be absent. */
function isRunOnCreation(rule: JsonRecord, tokens: readonly string[]): boolean {
  return rule['optionalOldSelf'] === true || !tokens.includes('oldSelf')
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
export function ownConditions(schema: Located): readonly RuleCondition[] {
  return [...validationRules(schema).values()].flatMap(({ condition }) => (condition === null ? [] : [condition]))
}

/** The property that a condition on an object is about. */
export function nameWithin(condition: RuleCondition): string {
  return guardedPart(condition)?.name ?? condition[condition.indexOf('self') + 2] ?? ''
}

/** What a condition on an object states of this property, where that is there. */
export function conditionsWithin(condition: RuleCondition): readonly RuleCondition[] {
  return (guardedPart(condition)?.conditions ?? [condition]).flatMap((one) => {
    const within = conditionWithin(one, nameWithin(condition))
    return within === null ? [] : [within]
  })
}

/** The condition with the property in place of the object. Null: it is about something else, too. */
function conditionWithin(condition: RuleCondition, name: string): RuleCondition | null {
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
  readonly conditions: readonly RuleCondition[]
}

/** Of `!has(self.name) || …` what follows. */
function guardedPart(condition: RuleCondition): GuardedPart | null {
  const [name = '', rest] = [condition[5], condition.slice(8)]
  if (condition.slice(0, 8).join(' ') !== `! has ( self . ${name} ) ||`) return null
  const depths = depthsOf(rest)
  // A choice binds looser.
  return rest.some((token, index) => token === '?' && depths[index] === 0)
    ? null
    : { name, conditions: conditionsOf(rest) }
}

/** Whether a schema states the condition of a rule in another place: in the objects around it, or in its properties. */
export function isImplied(
  { condition }: ValidationRule,
  schema: Located,
  inherited: readonly RuleCondition[],
): boolean {
  if (condition === null) return false
  return inherited.some((one) => isEqual(one, condition)) || isStatedWithin(condition, schema)
}

/** A rule on a property is not asked where the property is missing; an expression that reads it fails there. */
function isStatedWithin(condition: RuleCondition, schema: Located): boolean {
  const guarded = guardedPart(condition)
  const name = nameWithin(condition)
  const properties = memberOf(schema, 'properties')
  const property = properties === null ? null : memberOf(properties, name)
  // In expressions some names have another form, with `__`.
  if (property === null || name.includes('__') || recordOf(property.value)['nullable'] === true) return false
  const { required } = recordOf(schema.value)
  if (guarded === null && !(Array.isArray(required) && required.includes(name))) return false
  const own = ownConditions(property)
  const within = (guarded?.conditions ?? [condition]).map((one) => conditionWithin(one, name))
  return within.every(
    (one) => one !== null && (own.some((held) => isEqual(held, one)) || isStatedWithin(one, property)),
  )
}

export interface ValidationRule {
  /** As written. */
  readonly expression: string
  /** One of its conditions on the value itself. Null: it compares with the value before, or is about an alternative. */
  readonly condition: RuleCondition | null
  readonly located: Located
  readonly runsOnCreation: boolean
}

/** Those of a schema, and those that its combinators add (Kubernetes 1.31), by where they are and by condition. */
export function validationRules(schema: Located): ReadonlyMap<string, ValidationRule> {
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
