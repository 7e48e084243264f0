/** A policy document → CompiledPolicy, or every mistake in it with its JSON Pointer. A pack with one mistake does not load at all. */
import type { Decision } from '../decide/decision.ts'
import type { Level } from '../finding.ts'
import { digestJson, type Sha256 } from '../hash.ts'
import { ok, type Problem, type Result } from '../result.ts'
import { ruleOf } from '../rules/table.ts'
import { problemsOf } from '../violation.ts'
import { compileCondition, type Condition } from './condition.ts'
import { policyEvaluator } from './evaluate.ts'
import { checkPolicy } from './policy-check.generated.js'
import type { CompiledPolicy, PolicyMode } from './policy.ts'
import type { PolicyDocument } from './schema.ts'
import { compileWaivers } from './waiver.ts'

const CODE = 'POLICY_INVALID'

/** Validity by operation (interface.md, Limits); a pack may set its own. */
export const DEFAULT_TTL_SECONDS: Readonly<Record<string, number>> = { merge: 14_400, deploy: 14_400, publish: 14_400 }
export const FALLBACK_TTL_SECONDS = 900

/** A rule ready to be asked. */
export interface CompiledRule {
  readonly id: string
  readonly condition: Condition
  readonly decision: Decision
  readonly mode: PolicyMode
  readonly reason: { readonly code: string; readonly message: string } | null
  readonly runbook: string | null
}

/** @param source the parsed YAML or JSON of a pack; plain values, as a reader of untrusted text gives them. */
export function compilePolicy(source: unknown, sha256: Sha256): Result<CompiledPolicy, readonly Problem[]> {
  const checked = checkPolicy(source)
  if (!checked.ok) return { ok: false, problem: problemsOf(checked.problem, CODE) }
  const effective = withDefaults(checked.value)
  const { rules, problems } = compileRules(effective)
  const waivers = compileWaivers(effective.waivers, CODE)
  const faults = [...problems, ...waivers.problems, ...unknownRules(effective)]
  if (faults.length > 0) return { ok: false, problem: faults }
  return ok({
    name: effective.metadata.name,
    mode: effective.mode,
    hash: digestJson(effective, sha256),
    onIncomplete: effective.on_incomplete,
    levels: new Map<string, Level | 'off'>(Object.entries(effective.levels)),
    ttlSeconds: (operation) => ttlOf(effective.ttl, operation),
    evaluator: policyEvaluator(rules, waivers.waivers, effective.on_incomplete),
  })
}

type EffectivePolicy = ReturnType<typeof withDefaults>

function withDefaults(document: PolicyDocument) {
  const mode: PolicyMode = document.mode ?? 'enforce'
  return {
    ...document,
    mode,
    on_incomplete: document.on_incomplete ?? 'BLOCK',
    rules: document.rules.map((rule) => ({ ...rule, mode: rule.mode ?? mode })),
    levels: document.levels ?? {},
    waivers: document.waivers ?? [],
    ttl: {
      default: document.ttl?.default ?? FALLBACK_TTL_SECONDS,
      operations: { ...DEFAULT_TTL_SECONDS, ...document.ttl?.operations },
    },
  }
}

function compileRules(policy: EffectivePolicy): { rules: readonly CompiledRule[]; problems: readonly Problem[] } {
  const rules: CompiledRule[] = []
  const problems: Problem[] = []
  const seen = new Set<string>()
  policy.rules.forEach(({ id, when, then, mode, reason = null, runbook = null }, index) => {
    const pointer = `/rules/${index}`
    if (seen.has(id)) problems.push({ code: CODE, message: `rule id ${id} is used twice`, pointer: `${pointer}/id` })
    seen.add(id)
    const condition = compileCondition(when)
    if (condition.ok) rules.push({ id, condition: condition.value, decision: then, mode, reason, runbook })
    else problems.push({ code: CODE, message: `rule ${id}: when ${condition.problem}`, pointer: `${pointer}/when` })
  })
  return { rules, problems }
}

/** A misspelt rule id would leave a level unchanged, or a waiver without effect, in silence. */
function unknownRules({ levels, waivers }: EffectivePolicy): readonly Problem[] {
  const named = [
    ...Object.keys(levels).map((rule) => ({ rule, pointer: `/levels/${rule}` })),
    ...waivers.map(({ rule }, index) => ({ rule, pointer: `/waivers/${index}/rule` })),
  ]
  return named.flatMap(({ rule, pointer }) =>
    rule === undefined || ruleOf(rule)
      ? []
      : [{ code: CODE, message: `the comparison has no rule ${rule} (docs/rules.md lists them)`, pointer }],
  )
}

function ttlOf(ttl: EffectivePolicy['ttl'], operation: string | null): number {
  const own = operation !== null && Object.hasOwn(ttl.operations, operation) ? ttl.operations[operation] : undefined
  return own ?? ttl.default
}
