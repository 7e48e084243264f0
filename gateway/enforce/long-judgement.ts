/**
 * A judgement that took long, because another resource of the call was compared or its platform was slow to answer. The
 * receipts and decisions that were checked first may have ended meanwhile.
 */
import { performance } from 'node:perf_hooks'
import { directiveOf } from '../../engine/base.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { CallVerdict } from './verdict-cache.ts'

export interface LongJudgementDeps {
  readonly store: StorePart<'receipts.state'> & Pick<Store, 'changes'>
  readonly now: () => number
}

/**
 * False: the call is to be judged again. Synchronous where judging took less time than a change needs to be in force
 * everywhere. Rejects when the store cannot be read.
 * @param begun of judging, as `performance.now()`
 */
export function stillHold(
  verdicts: readonly { readonly verdict: CallVerdict }[],
  begun: number,
  deps: LongJudgementDeps,
): boolean | Promise<boolean> {
  return performance.now() - begun < deps.store.changes.bound * 1000 || allHold(verdicts, deps)
}

async function allHold(verdicts: Parameters<typeof stillHold>[0], { store, now }: LongJudgementDeps): Promise<boolean> {
  for (const { verdict } of verdicts) {
    if (verdict.basis === 'missing_receipt' || !directiveOf(verdict.action).proceeds) continue
    const state = await store.receipts.state(verdict.decisionId)
    // Of two equal calls at the same moment, the decision of one supersedes that of the other.
    const isEnded = verdict.basis === 'receipt' ? state !== 'current' : state === 'revoked'
    const end = verdict.basis === 'receipt' ? verdict.expiresAt : Date.parse(verdict.envelope.expires_at)
    if (isEnded || now() >= end) return false
  }
  return true
}
