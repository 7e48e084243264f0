/**
 * A changed contract that stopped a call, as reported to the caller: which one, what changed for this call, and how it
 * is accepted.
 */
import type { Envelope } from '../../../engine/internal.ts'

/** The contract that an upstream offers instead of the baseline. */
export interface OfferedCandidate {
  /** Name of the baseline: the route's, or `ROUTE/NAME`. */
  readonly baseline: string
  readonly digest: string
}

/** Members of a refusal that a candidate causes (docs/reference/api.md#baselines). */
export interface CandidateNotice extends OfferedCandidate {
  /** What changed for this call, in one sentence each. */
  readonly changes: readonly string[]
  /** How an approver makes it the baseline, where the policy lets them. */
  readonly accept: {
    readonly command: string
    readonly api: {
      readonly method: 'POST'
      readonly path: string
      readonly body: { readonly digest: string; readonly comment: string }
    }
  }
}

/** A placeholder for the approver's reason. */
const REASON = 'WHY'

export function candidateNotice(
  { baseline, digest }: OfferedCandidate,
  envelope: Pick<Envelope, 'blocking_reasons' | 'degraded_reasons'>,
): CandidateNotice {
  const reasons = [...envelope.blocking_reasons, ...(envelope.degraded_reasons ?? [])]
  const path = `/api/v1/baselines/${encodeURIComponent(baseline)}/promote`
  return {
    baseline,
    digest,
    changes: reasons.map(({ code, message }) => `${code}: ${message}`),
    accept: {
      command: `preflight baselines promote ${quoted(baseline)} ${digest} --comment "${REASON}"`,
      api: { method: 'POST', path, body: { digest, comment: REASON } },
    },
  }
}

/** As two sentences, for protocols whose refusal is text. */
export function candidateText({ baseline, digest, accept }: CandidateNotice): string {
  const { method, path, body } = accept.api
  return (
    `The contract is now another one than the baseline of ${baseline}: the candidate ${digest}. ` +
    `An approver accepts it, where the policy allows, with \`${accept.command}\` or ${method} ${path} ${JSON.stringify(body)}.`
  )
}

/** Quoted for a shell, where the name holds more than names of routes do. */
function quoted(name: string): string {
  return /^[\w./:-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`
}
