/**
 * Call records as one text, in which they cross between threads: calls are many, and one text costs half of many small
 * objects. A call that repeats what the one before it says is written as its ids and its time: most calls are.
 */
import type { InterceptionRow } from '../calls.ts'

/** Correlation id, trace id, whether the trace is sampled, time. */
type OwnValues = readonly [string, string | null, boolean, number]

/** Consecutive calls: the first as it is, and what the others have for themselves. */
type CallRun = readonly [first: InterceptionRow, others: OwnValues[]]

export function writeCallText(rows: readonly InterceptionRow[]): string {
  const runs: CallRun[] = []
  let run: CallRun | null = null
  for (const row of rows) {
    const { correlationId, traceId, isTraceSampled, at } = row
    if (run !== null && isTraceSampled !== undefined && isRepeated(row, run[0]))
      run[1].push([correlationId, traceId, isTraceSampled, at])
    else runs.push((run = [row, []]))
  }
  return JSON.stringify(runs)
}

export function readCallText(text: string): readonly InterceptionRow[] {
  const runs: readonly CallRun[] = JSON.parse(text)
  return runs.flatMap(([first, others]) => [
    first,
    ...others.map(([correlationId, traceId, isTraceSampled, at]) => ({
      ...first,
      correlationId,
      traceId,
      isTraceSampled,
      at,
    })),
  ])
}

/** All members but those that every call has for itself. Written out: it runs for every call. */
function isRepeated(row: InterceptionRow, first: InterceptionRow): boolean {
  return (
    row.decisionId === first.decisionId &&
    row.action === first.action &&
    row.effect === first.effect &&
    row.executionAction === first.executionAction &&
    row.route === first.route &&
    row.protocol === first.protocol &&
    row.tenant === first.tenant &&
    row.enforced === first.enforced &&
    row.breakGlassId === first.breakGlassId &&
    row.violations === first.violations
  )
}
