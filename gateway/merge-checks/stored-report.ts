/** Whether a stored text holds a report: what another version wrote is not shown at a commit. */
import { isJsonObject } from '../json/strict-json.ts'
import type { CommitReport } from '../scm/commit-report.ts'

const STATES: ReadonlySet<unknown> = new Set<CommitReport['state']>(['pending', 'held', 'success', 'failure'])

export function isReport(value: unknown): value is CommitReport {
  if (!isJsonObject(value)) return false
  const { name, state, title, summary, url, annotations } = value
  const isText = [name, title, summary].every((text) => typeof text === 'string')
  return isText && STATES.has(state) && (url === null || typeof url === 'string') && Array.isArray(annotations)
}
