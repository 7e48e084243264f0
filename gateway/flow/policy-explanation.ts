/** Why a policy decides on each change as it does, in plain words: the rule, its condition with its values, and what would change it. */
import {
  DECISION_CLASSES,
  explainRules,
  explainWholeRule,
  waysToTurn,
  type CompiledPolicy,
  type ConditionPart,
  type Decision,
  type JudgedChangeSet,
  type Judgement,
  type RuleTrace,
} from '../../engine/internal.ts'

/** More changes than these are counted. */
const MOST_CHANGES = 200

interface ExplainedChange {
  readonly artifact: string
  readonly comparison_rule: string
  readonly level: string
  readonly location: string
  readonly places: number
  readonly message: string
  readonly decision: Decision
  /** Rule of the policy; null: none matches. */
  readonly rule: string | null
  /** Sentences, in the order in which a person reads them. */
  readonly why: readonly string[]
}

export interface PolicyExplanation {
  /** Rules about the change set as a whole, freezes and demands. */
  readonly change_set: readonly {
    readonly rule: string
    readonly decision: Decision
    readonly why: readonly string[]
  }[]
  readonly changes: readonly ExplainedChange[]
  readonly changes_total: number
}

export function explanationOf(policy: CompiledPolicy, judged: JudgedChangeSet): PolicyExplanation {
  const traced = explainRules(policy, judged.occasion)
  const judgements = judged.artifacts.flatMap((artifact) => artifact.judgements)
  return {
    change_set: judged.rulings.map(({ ruleId, decision, observed, reason }) => {
      const condition = explainWholeRule(policy, judged.occasion, ruleId)
      const observes = observed === null ? [] : [`It only observes. Enforced, it would decide ${observed}.`]
      const holds =
        condition === null ? [] : ['Its condition is true:', ...partLines(condition), ...turningLine(condition)]
      return { rule: ruleId, decision, why: [reason.message, ...observes, ...holds] }
    }),
    changes: judgements.slice(0, MOST_CHANGES).map((judgement) => {
      const { artifact, group, occurrence, places, effect } = judgement
      const { rule: comparisonRule, level, location } = group
      return {
        artifact,
        comparison_rule: comparisonRule,
        level,
        location,
        places,
        message: occurrence.message,
        decision: effect.decision,
        rule: effect.ruleId === 'none' ? null : effect.ruleId,
        why: whyOfChange(judgement, traced(group, occurrence)),
      }
    }),
    changes_total: judgements.length,
  }
}

function whyOfChange({ effect }: Judgement, rules: readonly RuleTrace[]): readonly string[] {
  const deciding = rules.find(({ ruleId }) => ruleId === effect.ruleId)
  const others = rules.filter((rule) => rule !== deciding)
  return [
    ...(deciding === undefined ? ['No rule matches, so the policy allows it.'] : decidingLines(deciding, others)),
    ...(effect.observed === null
      ? []
      : [`Rule ${effect.observed.ruleId} only observes. Enforced, it would decide ${effect.observed.decision}.`]),
    ...waiverLines(effect.waiver),
    ...others.flatMap(otherLines),
  ]
}

function decidingLines(rule: RuleTrace, others: readonly RuleTrace[]): readonly string[] {
  const { ruleId, decision, answer, failure, description, condition } = rule
  const about = description === null ? [] : [`It is for: ${description}`]
  if (answer === 'failed' || condition === null)
    return [
      `The condition of rule ${ruleId} failed (${failure ?? 'no result'}), so the policy does not allow it.`,
      ...about,
    ]
  return [
    `Rule ${ruleId} decides ${decision}. Its condition is true:`,
    ...partLines(condition),
    ...about,
    ...turningLine(condition),
    noRuleText(others),
  ]
}

function noRuleText(others: readonly RuleTrace[]): string {
  const matching = others.filter(({ answer, mode }) => answer === 'matches' && mode === 'enforce')
  const [next] = matching.toSorted((a, b) => strictness(b.decision) - strictness(a.decision))
  return next === undefined
    ? 'Without this rule, the policy would allow the change.'
    : `Without this rule, rule ${next.ruleId} would decide ${next.decision}.`
}

function strictness(decision: Decision): number {
  return DECISION_CLASSES[decision].strictness
}

function otherLines({ ruleId, decision, mode, answer, failure, condition, environments, operations }: RuleTrace) {
  if (answer === 'elsewhere' || condition === null) {
    const [first, second] = [environments, operations].map((list) => list?.join(', ') ?? 'any')
    return [`Rule ${ruleId} is for other places: environments ${first ?? ''}, operations ${second ?? ''}.`]
  }
  if (answer === 'failed') return [`The condition of rule ${ruleId} failed: ${failure ?? 'no result'}.`]
  if (answer === 'matches')
    return [`Rule ${ruleId} matches too: ${decision}${mode === 'observe' ? ', which it only observes' : ''}.`]
  return [`Rule ${ruleId} does not match. Its condition is false:`, ...partLines(condition), ...turningLine(condition)]
}

function waiverLines(waiver: Judgement['effect']['waiver']): readonly string[] {
  if (waiver === null) return []
  const { id, standing, expires, reason } = waiver
  return [`Waiver ${id} is ${standing.replaceAll('_', ' ')} (until ${expires}): ${reason}`]
}

/** `- finding.level == 'breaking' is true: finding.level is "breaking"`. Parts of parts are indented. */
function partLines(part: ConditionPart, indent = '  '): readonly string[] {
  const { text, answer, kind, parts, reads } = part
  const result = typeof answer === 'boolean' ? `is ${String(answer)}` : `failed (${answer.failed})`
  if (kind === 'one') {
    const values = reads.map(({ name, value }) => `${name} is ${value}`).join(', ')
    return [`${indent}- ${text} ${result}${values === '' ? '' : `: ${values}`}`]
  }
  if (indent === '  ' && kind === 'all') return parts.flatMap((inner) => partLines(inner, indent))
  const joint = kind === 'all' ? 'all of these' : 'any of these'
  return [`${indent}- ${joint} ${result}:`, ...parts.flatMap((inner) => partLines(inner, `${indent}  `))]
}

function turningLine(condition: ConditionPart): readonly string[] {
  const ways = waysToTurn(condition)
  if (ways.length === 0) return []
  const isTrue = condition.answer === true
  const listed = ways.map((way) => way.map(({ text }) => text).join(' and ')).join('; or ')
  return [`It would ${isTrue ? 'not match' : 'match'} if this were ${isTrue ? 'false' : 'true'}: ${listed}.`]
}

/** For a terminal. */
export function explanationLines({
  change_set: rulings,
  changes,
  changes_total: total,
}: PolicyExplanation): readonly string[] {
  const left = total - changes.length
  return [
    ...rulings.flatMap(({ rule, decision, why }) => [
      `${decision}  rule ${rule}, about the change set`,
      ...why.map(indented),
    ]),
    ...changes.flatMap(({ decision, comparison_rule: found, level, location, places, message, why }) => [
      `${decision}  ${found} (${level}) at ${location === '' ? 'the root' : location}${places > 1 ? `, ${places} places` : ''}`,
      indented(message),
      ...why.map(indented),
    ]),
    ...(left > 0 ? [`${left} more changes are not listed.`] : []),
  ]
}

function indented(line: string): string {
  return `    ${line}`
}
