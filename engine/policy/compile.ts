/**
 * A policy document → CompiledPolicy, or every mistake in it with its JSON Pointer. A pack with a mistake does not
 * load.
 */
import { FUNCTION, requireArgument } from '../common/argument.ts'
import { composePointer } from '../contracts/pointer.ts'
import { lookupTable } from '../common/lookup-table.ts'
import { digestJson, type Sha256 } from '../common/hash.ts'
import { ok, type Problem, type Result } from '../common/result.ts'
import { OWN_LEVELS, readLevels } from '../rules/catalog/levels.ts'
import { problemsOf } from '../common/violation.ts'
import { historyEdge, timeEdge, type HistoryReads, type TimeReads } from './time-edges.ts'
import { changeSetRulings, compileFreezes, freezeEdge, type ChangeSetRule } from './change-set-rules.ts'
import { compileCondition, CONSUMERS, isAboutFinding, type Condition } from './condition.ts'
import type { CompiledRule } from './compiled-rule.ts'
import { compileDemands, DEMAND_IDS } from './demands.ts'
import { policyEvaluator, policyTrace } from './evaluate.ts'
import { DEFAULT_HISTORY_SECONDS } from './history.ts'
import { checkPolicy, POLICY_MEMBERS } from './policy-check.generated.js'
import type { CompiledPolicy, EffectivePolicy, PolicyMode } from './policy.ts'
import { namesGroupsTwice, requiredApproval } from './required-approval.ts'
import { readableParts, type MeaningfulParts } from './pack-members.ts'
import type { PolicyDocument } from './schema.ts'
import { compileWaivers, type CompiledWaiver } from './waiver.ts'

const CODE = 'POLICY_INVALID'
const RESERVED: ReadonlySet<string> = new Set(DEMAND_IDS)

/** Validity by operation (docs/reference/envelope.md#validity); a pack may set its own. */
export const DEFAULT_TTL_SECONDS: Readonly<Record<string, number>> = lookupTable({
  merge: 14_400,
  deploy: 14_400,
  publish: 14_400,
})
export const FALLBACK_TTL_SECONDS = 900

/** @param source the parsed YAML or JSON of a pack; plain values, as a reader of untrusted text gives them. */
export function compilePolicy(source: unknown, sha256: Sha256): Result<CompiledPolicy, readonly Problem[]> {
  requireArgument('compilePolicy', 'sha256', sha256, FUNCTION)
  const checked = checkPolicy(source)
  if (!checked.ok) {
    const { faults } = compileParts(readableParts(source, checked.problem), 'enforce')
    return { ok: false, problem: [...problemsOf(checked.problem, CODE, POLICY_MEMBERS), ...faults] }
  }
  const effective = withDefaults(checked.value)
  const { rules, wholeRules, waivers, freezes, levels, ...found } = compileParts(
    { ...effective, freezes: effective.freezes ?? [] },
    effective.mode,
  )
  const faults = [...found.faults, ...groupsNamedTwice(effective)]
  if (faults.length > 0) return { ok: false, problem: faults }
  const timeReads = timeReadsOf([...rules, ...wholeRules], waivers, effective)
  const historyReads = historyReadsOf([...rules, ...wholeRules])
  const reads = (name: string) => [...rules, ...wholeRules].some(({ condition }) => condition.variables.has(name))
  return ok({
    name: effective.metadata.name,
    mode: effective.mode,
    hash: digestJson(effective, sha256),
    document: effective,
    onIncomplete: effective.on_incomplete,
    levels,
    ttlSeconds: (operation) => ttlOf(effective.ttl, operation),
    expectsFingerprint: (operation) => operation !== null && (effective.fingerprint_binding ?? []).includes(operation),
    deprecation: {
      stableDays: effective.deprecation?.stable_days ?? 0,
      betaDays: effective.deprecation?.beta_days ?? 0,
    },
    readsRoute: reads('route'),
    readsConsumers: reads(CONSUMERS) || effective.protected_consumers !== undefined,
    readsRelease: effective.minimum_bump !== undefined,
    historyWindow: reads('history') ? (effective.history?.window ?? DEFAULT_HISTORY_SECONDS) : null,
    observes: effective.rules.some(({ mode }) => mode === 'observe') || effective.mode === 'observe',
    evaluator: policyEvaluator(rules, waivers, effective.on_incomplete),
    trace: policyTrace(rules),
    nextEdge: earliest([
      freezeEdge(freezes),
      ({ now, artifacts }) =>
        timeEdge(artifacts.some(({ readsDay }) => readsDay) ? withDay(timeReads) : timeReads, now),
      ({ now, history }) => historyEdge(historyReads, history, now),
    ]),
    changeSetRulings: changeSetRulings(wholeRules, freezes, compileDemands(effective), effective.on_incomplete),
  })
}

/** A waiver covers nothing from its end on, and the remaining time until a sunset day decreases daily. */
function timeReadsOf(
  rules: readonly { readonly condition: Condition }[],
  waivers: readonly CompiledWaiver[],
  { deprecation }: EffectivePolicy,
): TimeReads {
  const fields = new Set(rules.flatMap(({ condition }) => [...condition.times]))
  if ((deprecation?.stable_days ?? 0) > 0 || (deprecation?.beta_days ?? 0) > 0) fields.add('date')
  const compared = rules.flatMap(({ condition }) => [...condition.moments])
  return { fields, moments: [...compared, ...waivers.map(({ until }) => until)] }
}

function historyReadsOf(rules: readonly { readonly condition: Condition }[]): HistoryReads {
  return {
    fields: new Set(rules.flatMap(({ condition }) => [...condition.pasts])),
    ages: new Set(rules.flatMap(({ condition }) => [...condition.ages])),
  }
}

function withDay({ fields, moments }: TimeReads): TimeReads {
  return { fields: new Set([...fields, 'date']), moments }
}

type Edge = CompiledPolicy['nextEdge']

/** The earliest of the moments. */
function earliest(all: readonly Edge[]): Edge {
  return (occasion) => {
    const edges = all.map((one) => one(occasion)).filter((edge) => edge !== null)
    return edges.length === 0 ? null : Math.min(...edges)
  }
}

function withDefaults(document: PolicyDocument): EffectivePolicy {
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

interface CompiledRules {
  /** Evaluated for each finding. */
  readonly rules: readonly CompiledRule[]
  /** Evaluated once for the change set. */
  readonly wholeRules: readonly ChangeSetRule[]
  readonly problems: readonly Problem[]
}

/** Everything of a pack that has a meaning beyond its form; `faults` are the mistakes in it. */
function compileParts(parts: MeaningfulParts, packMode: PolicyMode) {
  const { rules, wholeRules, problems } = compilePackRules(parts.rules, packMode)
  const waivers = compileWaivers(parts.waivers, CODE)
  const freezes = compileFreezes(parts.freezes, CODE)
  const repeated = repeatedFreezes(parts)
  const levels = readLevels(parts.levels)
  const levelFaults = levels.ok
    ? []
    : levels.problem.map(({ selector, message, fix }) => ({
        code: CODE,
        message: `${message}: ${fix}`,
        pointer: composePointer(['levels', selector]),
      }))
  const faults = [...problems, ...waivers.problems, ...freezes.problems, ...repeated, ...levelFaults]
  return {
    rules,
    wholeRules,
    waivers: waivers.waivers,
    freezes: freezes.freezes,
    levels: levels.ok ? levels.value : OWN_LEVELS,
    faults,
  }
}

function compilePackRules(entries: MeaningfulParts['rules'], packMode: PolicyMode): CompiledRules {
  const rules: CompiledRule[] = []
  const wholeRules: ChangeSetRule[] = []
  const problems: Problem[] = []
  const seen = new Set<string>()
  entries.forEach((entry, index) => {
    const { id, when, then, mode = packMode, reason = null, runbook = null } = entry
    const { environments = null, operations = null } = entry
    const pointer = `/rules/${index}`
    if (seen.has(id)) problems.push({ code: CODE, message: `rule id ${id} is used twice`, pointer: `${pointer}/id` })
    if (RESERVED.has(id))
      problems.push({
        code: CODE,
        message: `rule id ${id} is reserved for the requirements of packs; use another`,
        pointer: `${pointer}/id`,
      })
    seen.add(id)
    const condition = compileCondition(when)
    if (!condition.ok) {
      problems.push({ code: CODE, message: `rule ${id}: when ${condition.problem}`, pointer: `${pointer}/when` })
      return
    }
    const scope = { environments, operations, approvers: requiredApproval(entry) }
    const rule = { id, condition: condition.value, decision: then, mode, reason, runbook, ...scope }
    if (entry.for !== 'change_set') rules.push(rule)
    else if (!isAboutFinding(condition.value)) wholeRules.push({ ...rule, description: entry.description ?? null })
    else {
      const message = `rule ${id}: a rule for the change_set has no finding, operation or tool; use findings or change_set`
      problems.push({ code: CODE, message, pointer: `${pointer}/when` })
    }
  })
  return { rules, wholeRules, problems }
}

/** Windows and rules stand in evidence under one kind of name. */
function repeatedFreezes({ rules, freezes }: MeaningfulParts): readonly Problem[] {
  const seen = new Set<string>([...rules.map(({ id }) => id), ...DEMAND_IDS])
  return freezes.flatMap(({ id }, index) => {
    const isRepeated = seen.has(id)
    seen.add(id)
    const message = `freeze id ${id} is used twice`
    return isRepeated ? [{ code: CODE, message, pointer: `/freezes/${index}/id` }] : []
  })
}

/** Groups are named in `approvers` or in `approvals`. */
function groupsNamedTwice(document: EffectivePolicy): readonly Problem[] {
  const { rules, freezes = [], minimum_bump: bump, protected_consumers: consumers } = document
  const entries = [
    ...rules.map((rule, index) => [`/rules/${index}`, rule] as const),
    ...freezes.map((freeze, index) => [`/freezes/${index}`, freeze] as const),
    ...(bump ? [['/minimum_bump', bump] as const] : []),
    ...(consumers ? [['/protected_consumers', consumers] as const] : []),
  ]
  const message = 'approvals names groups, and approvers too; name them in one place'
  return entries.flatMap(([pointer, entry]) =>
    namesGroupsTwice(entry) ? [{ code: CODE, message, pointer: `${pointer}/approvals` }] : [],
  )
}

function ttlOf(ttl: EffectivePolicy['ttl'], operation: string | null): number {
  const own = operation !== null && Object.hasOwn(ttl.operations, operation) ? ttl.operations[operation] : undefined
  return own ?? ttl.default
}
