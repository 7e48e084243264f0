/**
 * What a policy pack says and cannot mean. Mistakes: conditions whose types never fit, rules that no finding can match. Warnings:
 * rules that never decide, operations that look mistyped, waivers near their end. Such a pack loads.
 */
import {
  compileCondition,
  coordinatesOf,
  DECISION_CLASSES,
  LEVELS,
  ruleTable,
  type CompiledPolicy,
  type Condition,
} from '../../engine/internal.ts'
import type { Mistake } from '../errors/mistake.ts'
import { pathOfPointer } from '../errors/mistake.ts'
import { readSourceText } from '../settings/source-text.ts'
import { nearest } from '../../engine/base.ts'

interface LintResult {
  /** They make a rule fail or never hold. */
  readonly mistakes: readonly Mistake[]
  readonly warnings: readonly Mistake[]
}

type PolicyRule = CompiledPolicy['document']['rules'][number]

interface LintedRule {
  readonly rule: PolicyRule
  readonly index: number
  readonly condition: Condition
  /** Findings of the catalogue that it matches; null: it reads more than a kind of finding. */
  readonly matches: ReadonlySet<number> | null
}

interface MistakeAt {
  (pointer: string, message: string, fix: string): Mistake
}

/** Days before the end of a waiver in which it is reported. */
const NEAR_DAYS = 30
const DAY_MS = 86_400_000

/** @param now milliseconds since the epoch */
export function lintPolicy(policy: CompiledPolicy, file: string, text: string, now: number): LintResult {
  const source = readSourceText(file, text)
  const at: MistakeAt = (pointer, message, fix) => ({
    place: source.ok ? source.value.place(pointer, 'value') : file,
    path: pathOfPointer(pointer),
    message,
    fix,
  })
  const rules = policy.document.rules.flatMap((rule, index): readonly LintedRule[] => {
    const condition = compileCondition(rule.when)
    return condition.ok ? [{ rule, index, condition: condition.value, matches: matchedIndexes(condition.value) }] : []
  })
  return {
    mistakes: rules.flatMap((linted) => faultsOf(linted, at)),
    warnings: [
      ...rules.flatMap((linted) => [...operationWarnings(linted, at), ...shadowWarning(linted, rules, at)]),
      ...unreadScopes(policy, at),
      ...waiverWarnings(policy, now, at),
    ],
  }
}

function faultsOf({ rule, index, condition: { typeFault }, matches }: LintedRule, at: MistakeAt): readonly Mistake[] {
  const pointer = `/rules/${index}/when`
  if (typeFault !== null)
    return [at(pointer, `rule ${rule.id}: when ${typeFault}`, 'until then, the rule fails at every finding')]
  if (matches === null || matches.size > 0) return []
  const fix = 'loosen the condition, or remove the rule; docs/rules.md lists rules with their levels and coordinates'
  return [at(pointer, `rule ${rule.id}: no finding can match this condition`, fix)]
}

/** One finding for each rule of the catalogue, level, side and direction. */
const KINDS: readonly Readonly<Record<string, string>>[] = ruleTable().flatMap(({ id }) =>
  LEVELS.flatMap((level) =>
    ['base', 'head'].flatMap((side) =>
      ['request', 'response', 'none'].map((direction) => ({
        ...coordinatesOf(id),
        rule: id,
        code: id.toUpperCase().replaceAll('-', '_'),
        level,
        side,
        direction,
      })),
    ),
  ),
)
/** Members of a finding that are free texts. */
const FREE: ReadonlySet<string> = new Set(['location', 'message', 'fingerprint'])
const NOTHING = {
  context: {},
  findings: [],
  change_set: {},
  route: null,
  time: {},
  history: {
    window: null,
    decisions: null,
    allow: null,
    warn: null,
    require_approval: null,
    block: null,
    flips: null,
    same_input: null,
    last: null,
    last_age: null,
  },
  operation: null,
  tool: null,
}

function matchedIndexes(condition: Condition): ReadonlySet<number> | null {
  const { reads, variables } = condition
  const readsKindOnly = [...variables].every((name) => name === 'finding') && ![...reads].some((name) => FREE.has(name))
  if (!readsKindOnly) return null
  const found = new Set<number>()
  const answers = new Map<string, boolean>()
  for (const [index, finding] of KINDS.entries()) {
    const key = [...reads].map((name) => finding[name]).join(' ')
    const known = answers.get(key)
    const answer = known === undefined ? condition.test({ ...NOTHING, finding }) : null
    // A failure stops the change, so it is a match.
    const isMatch = known ?? (answer?.ok !== true || answer.value)
    answers.set(key, isMatch)
    if (isMatch) found.add(index)
  }
  return found
}

/** Operations that the gateway itself uses; callers of the API may name others. */
const OPERATIONS = ['tool_call', 'merge', 'deploy', 'publish', 'register']

function operationWarnings({ rule, index }: LintedRule, at: MistakeAt): readonly Mistake[] {
  const listed = (rule.operations ?? []).map(
    (name, position) => [name, `/rules/${index}/operations/${position}`] as const,
  )
  const compared = [...rule.when.matchAll(/context\.operation\s*[!=]=\s*(['"])(.*?)\1/g)].map(
    ([, , name = '']) => [name, `/rules/${index}/when`] as const,
  )
  return [...listed, ...compared].flatMap(([name, pointer]) => {
    const guess = OPERATIONS.includes(name) ? null : nearest(name, OPERATIONS)
    if (guess === null) return []
    return [
      at(
        pointer,
        `rule ${rule.id}: the operation "${name}" is not one of ${OPERATIONS.join(', ')}`,
        `did you mean "${guess}"?`,
      ),
    ]
  })
}

/** A rule never decides when another one matches wherever it matches, at least as strictly and in at least the same places. */
function shadowWarning(linted: LintedRule, rules: readonly LintedRule[], at: MistakeAt): readonly Mistake[] {
  const other = rules.find((candidate) => candidate !== linted && shadows(candidate, linted))
  if (other === undefined) return []
  const { rule, index } = linted
  const message = `rule ${rule.id} never decides: rule ${other.rule.id} matches whenever it does, and calls for ${other.rule.then}`
  return [at(`/rules/${index}/id`, message, 'remove it, or make the other rule narrower')]
}

function shadows(other: LintedRule, { rule, index, matches }: LintedRule): boolean {
  if ((other.rule.for ?? 'finding') !== (rule.for ?? 'finding') || other.rule.mode === 'observe') return false
  if (rule.mode === 'observe' || rule.approvers !== undefined || rule.approvals !== undefined) return false
  const step = DECISION_CLASSES[other.rule.then].strictness - DECISION_CLASSES[rule.then].strictness
  // Of two equal rules, the first one decides.
  if (step < 0 || (step === 0 && other.index > index)) return false
  if (!namesAll(other.rule.environments, rule.environments) || !namesAll(other.rule.operations, rule.operations))
    return false
  if (other.rule.when === rule.when) return true
  if (matches === null || matches.size === 0 || other.matches === null) return false
  const wider = other.matches
  return [...matches].every((kind) => wider.has(kind))
}

/** @param wide undefined: everywhere */
function namesAll(wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean {
  return wide === undefined || (narrow !== undefined && narrow.every((name) => wide.includes(name)))
}

function unreadScopes({ document: { rules } }: CompiledPolicy, at: MistakeAt): readonly Mistake[] {
  if (rules.length > 0) return []
  return [at('/rules', 'the pack has no rule, so every complete analysis is allowed', 'add a rule')]
}

function waiverWarnings({ document: { waivers } }: CompiledPolicy, now: number, at: MistakeAt): readonly Mistake[] {
  return (waivers ?? []).flatMap(({ id, expires, owner }, index) => {
    const end = expires.length === 10 ? Date.parse(expires) + DAY_MS : Date.parse(expires)
    const days = Math.ceil((end - now) / DAY_MS)
    if (days > NEAR_DAYS) return []
    const pointer = `/waivers/${index}/expires`
    if (days <= 0) return [at(pointer, `waiver ${id} of ${owner} ended on ${expires}`, 'remove it: it covers nothing')]
    const left = days === 1 ? '1 day' : `${days} days`
    return [at(pointer, `waiver ${id} of ${owner} ends in ${left}`, 'fix what it covers, or agree on a new end')]
  })
}
