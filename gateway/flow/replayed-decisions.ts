/** Decisions of the ledger made again under a policy, and how they differ. Never permission. */
import { LRUCache } from 'lru-cache'
import { DECISION_CLASSES, rulesetHash, type Decision, type Verdict } from '../../engine/internal.ts'
import { recordIn, textIn } from '../json/unchecked-json.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { LedgerFilter, StoredDecision } from '../store/decisions.ts'
import type { StorePart } from '../store/store.ts'
import { replay, type Replaying } from './replay.ts'

const PAGE = 200
/** Contracts that are kept while decisions are replayed, bytes as stored. */
const KEPT_BYTES = 64 * 1024 * 1024
const KEPT_COMPARISONS = 100

/** A decision and what became of it. */
export interface ReplayedDecision {
  readonly decision_id: string
  readonly evaluated_at: string
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly route: string | null
  readonly was: Decision
  /** Null when it could not be replayed. */
  readonly would: Decision | null
  readonly would_observed: Decision | null
  readonly change: 'same' | 'stricter' | 'laxer' | 'unknown'
  /** Decided by another version of the comparison rules, which may cause the difference. */
  readonly ruleset_changed: boolean
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly not_replayed: string | null
}

interface ReplayedPage {
  readonly rows: readonly ReplayedDecision[]
  /** `before` of the next page; null: this is the last one. */
  readonly next: number | null
}

/** Page by page, so that a long ledger is never in memory as a whole. */
export async function replayedDecisions(
  filter: LedgerFilter,
  replaying: Replaying,
  store: StorePart<'decisions.list'>,
): Promise<ReplayedPage> {
  const rows: ReplayedDecision[] = []
  const remembered = withMemory(replaying)
  const rules = rulesetHash(sha256Hex)
  let before = filter.before
  while (rows.length < filter.limit) {
    const limit = Math.min(PAGE, filter.limit - rows.length)
    const page = await store.decisions.list({ ...filter, limit, ...(before !== undefined && { before }) })
    for (const row of page) rows.push(await replayedRow(row, rules, remembered))
    if (page.length < limit) return { rows, next: null }
    before = page.at(-1)?.sequence
  }
  return { rows, next: before ?? null }
}

/** Many decisions rest on few contracts: each one is read once, and each pair is compared once for a day. */
function withMemory({ policy, flow, store }: Replaying): Replaying {
  const contents = new LRUCache<string, Uint8Array>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  })
  const comparisons = new LRUCache<string, ReturnType<Replaying['flow']['compare']>>({ max: KEPT_COMPARISONS })
  const content = async (digest: string): Promise<Uint8Array | null> => {
    const known = contents.get(digest)
    if (known !== undefined) return known
    const packed = await store.inputs.content(digest)
    if (packed !== null) contents.set(digest, packed)
    return packed
  }
  return {
    policy,
    store: { inputs: { byDecision: (id) => store.inputs.byDecision(id), content } },
    flow: {
      compare(artifact, options) {
        const key = sha256Hex(JSON.stringify([artifact, options]))
        const known = comparisons.get(key)
        if (known !== undefined) return known
        const comparison = flow.compare(artifact, options)
        comparisons.set(key, comparison)
        return comparison
      },
    },
  }
}

async function replayedRow(row: StoredDecision, rules: string, replaying: Replaying): Promise<ReplayedDecision> {
  const envelope = recordIn(JSON.parse(row.envelope))
  const outcome = await replay({ ...row, policyHash: textIn(envelope['policy_hash']) }, replaying)
  const shared = {
    decision_id: row.decisionId,
    evaluated_at: new Date(row.evaluatedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    route: row.route,
    was: row.decision,
    ruleset_changed: textIn(envelope['ruleset_hash']) !== rules,
  }
  if (!outcome.ok)
    return {
      ...shared,
      would: null,
      would_observed: null,
      change: 'unknown',
      reasons: [],
      not_replayed: outcome.problem,
    }
  const { decision, observed_decision: observed } = outcome.value
  const change = decisionChange(row.decision, decision)
  const reasons = change === 'same' ? [] : firstReasons(outcome.value)
  return { ...shared, would: decision, would_observed: observed, change, reasons, not_replayed: null }
}

export function decisionChange(before: Decision, after: Decision): 'same' | 'stricter' | 'laxer' {
  const step = DECISION_CLASSES[after].strictness - DECISION_CLASSES[before].strictness
  return step === 0 ? 'same' : step > 0 ? 'stricter' : 'laxer'
}

function firstReasons({ blocking_reasons: blocking, warnings, degraded_reasons: degraded }: Verdict) {
  return [...blocking, ...warnings, ...degraded].slice(0, 5)
}

export type ReplayCounts = Readonly<Record<ReplayedDecision['change'], number>> & { readonly decisions: number }

export function changeCounts(rows: readonly ReplayedDecision[]): ReplayCounts {
  const of = (wanted: ReplayedDecision['change']) => rows.filter(({ change }) => change === wanted).length
  return {
    decisions: rows.length,
    same: of('same'),
    stricter: of('stricter'),
    laxer: of('laxer'),
    unknown: of('unknown'),
  }
}
