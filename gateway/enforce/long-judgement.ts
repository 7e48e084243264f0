/**
 * A judgement that took long, since another resource was compared or its platform was slow to answer, or a store that was
 * slow to write the rows. The receipts and decisions that were checked first may have ended meanwhile.
 */
import { performance } from 'node:perf_hooks'
import { directiveOf } from '../../engine/base.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { BreakGlass } from '../break-glass/break-glass.ts'
import type { CallEffect } from '../store/calls.ts'
import type { HoldState } from '../listen/request-context.ts'
import type { Route } from '../routing/route.ts'
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
  used: HoldState['used'],
  deps: LongJudgementDeps,
): boolean | Promise<boolean> {
  return !isLate(begun, deps) || allHold(verdicts, used, deps)
}

/** True once a change that was made since `begun` is in force everywhere. */
export function isLate(begun: number, { store }: { readonly store: Pick<Store, 'changes'> }): boolean {
  return performance.now() - begun >= store.changes.bound * 1000
}

/** Whether what allowed a call still does, after its rows were written for long. Rejects when the store cannot be read. */
export async function isStillAllowed(
  { name }: Pick<Route, 'name'>,
  { effect, verdicts }: { readonly effect: CallEffect | 'passed'; readonly verdicts: readonly CallVerdict[] },
  used: HoldState['used'],
  deps: LongJudgementDeps & { readonly breakGlass: Pick<BreakGlass, 'isOpen'> },
): Promise<boolean> {
  if (effect === 'break_glass') return deps.breakGlass.isOpen(name)
  const basis = verdicts.map((verdict) => ({ verdict }))
  return effect !== 'forwarded' || allHold(basis, used, deps)
}

/**
 * Looks all of them up. Rejects when the store cannot be read.
 * @param used by this call: these receipts count as current although they are used up
 */
export async function allHold(
  verdicts: Parameters<typeof stillHold>[0],
  used: HoldState['used'],
  { store, now }: LongJudgementDeps,
): Promise<boolean> {
  for (const { verdict } of verdicts) {
    if (verdict.basis === 'missing_receipt' || !directiveOf(verdict.action).proceeds) continue
    const state = await store.receipts.state(verdict.decisionId)
    // Of two equal calls at the same moment, the decision of one supersedes that of the other.
    const isOwnUse = state === 'consumed' && used.includes(verdict.decisionId)
    const isEnded = verdict.basis === 'receipt' ? state !== 'current' && !isOwnUse : state === 'revoked'
    const end = verdict.basis === 'receipt' ? verdict.expiresAt : Date.parse(verdict.envelope.expires_at)
    if (isEnded || now() >= end) return false
  }
  return true
}
