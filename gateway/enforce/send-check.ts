/**
 * Whether a judged call may still be sent when a connection takes it. It may have waited for the connection as long as its route
 * allows, and what allowed it may have ended meanwhile.
 */
import { performance } from 'node:perf_hooks'
import type { Call } from '../calls/call.ts'
import type { HoldState } from '../listen/request-context.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { JudgedAction } from '../protocols/common/action.ts'
import { isOutdated, MOST_ADMISSIONS, type EnforcementDeps, type ForwardResult } from './enforcement.ts'
import { isLate, isStillAllowed } from './long-judgement.ts'

interface CallToSend {
  readonly call: Call
  readonly action: Pick<JudgedAction, 'confirm'>
  readonly settings: Pick<ListenSettingsInForce, 'generation'>
  readonly result: ForwardResult
  readonly held: Pick<HoldState, 'used'>
  /** When its judgement began, as `performance.now()`. */
  readonly begun: number
}

type SendCheckDeps = Pick<EnforcementDeps, 'settings' | 'store' | 'now' | 'breakGlass'>

/** False: the call is admitted again. Synchronous for a call that did not wait. Never rejects. */
export function sendCheck(allowed: CallToSend, deps: SendCheckDeps): () => boolean | Promise<boolean> {
  const { settings, begun } = allowed
  const forwardedAt = performance.now()
  let lookedAt = begun
  let looks = 0
  return () => {
    if (isOutdated(settings, deps)) return false
    if (!isLate(lookedAt, deps)) return true
    // A store that takes as long for each look is no proof.
    looks += 1
    if (looks > MOST_ADMISSIONS) return false
    lookedAt = performance.now()
    // The contract and the sources were confirmed at the end of the judgement.
    return stillAllowed(allowed, isLate(forwardedAt, deps), deps)
  }
}

/** A store or a server that does not answer allows nothing: the next judgement reports it. */
async function stillAllowed(
  { call, action, result, held }: CallToSend,
  isConfirmed: boolean,
  deps: SendCheckDeps,
): Promise<boolean> {
  try {
    if (!(await isStillAllowed(call.route, result, held.used, deps))) return false
    return !isConfirmed || result.effect !== 'forwarded' || ((await action.confirm?.()) ?? true)
  } catch {
    return false
  }
}
