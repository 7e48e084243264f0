/** Bounds how often something is done on behalf of many callers: within the interval all of them share one outcome. */

/** @param interval milliseconds @param now milliseconds */
export function atMostEvery(interval: number, now: () => number, act: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | null = null
  return () => {
    if (last === null || now() - last.at >= interval) last = { at: now(), outcome: act() }
    return last.outcome
  }
}
