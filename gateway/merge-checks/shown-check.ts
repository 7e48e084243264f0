/** Keeps what is to be shown at a commit, and shows the strictest of it. */
import { isJsonObject } from '../json/strict-json.ts'
import type { ScmAccess } from '../scm/access.ts'
import type { CommitReport } from '../scm/commit-report.ts'
import type { StorePart } from '../store/store.ts'
import type { MergeCheck } from '../store/webhooks.ts'
import { strictestReport } from './report.ts'

export interface ShowDeps {
  readonly scm: Pick<ScmAccess, 'publish'>
  readonly store: StorePart<'webhooks.checksAt' | 'webhooks.saveCheck'>
}

/** What a check run is updated by; null: there is none yet, or it is to be shown anew. */
type NewCheck = Omit<MergeCheck, 'shown'>

interface CheckPage {
  /** As the binding spells it. */
  readonly repository: string
  /** Where a status links to when its report has no address. */
  readonly page: string
  /** The check run is shown anew. */
  readonly isRerun: boolean
}

/** Durable first: whatever happens to the platform's answer, a later try shows the same. */
export async function keepAndShow(
  check: NewCheck,
  { repository, page, isRerun }: CheckPage,
  deps: ShowDeps,
): Promise<void> {
  const { webhooks } = deps.store
  const earlier = await webhooks.checksAt(check.platform, check.repository, check.commit)
  const known = isRerun ? null : (earlier.find(({ shown }) => shown !== null)?.shown ?? null)
  await webhooks.saveCheck({ ...check, shown: known })
  const shown = await publishStrictest(check, { repository, page, known }, deps)
  if (shown !== known) await webhooks.saveCheck({ ...check, shown })
}

interface CheckPublication {
  readonly repository: string
  readonly page: string
  readonly known: string | null
}

/** Shows the strictest of the checks that are stored for the commit. */
export async function publishStrictest(
  { platform, repository, commit }: Pick<MergeCheck, 'platform' | 'repository' | 'commit'>,
  { repository: name, page, known }: CheckPublication,
  { store, scm }: ShowDeps,
): Promise<string | null> {
  const checks = await store.webhooks.checksAt(platform, repository, commit)
  const report = strictestReport(checks.map(({ report: text }) => storedReport(text)))
  if (report === null) return known
  return scm.publish(
    { platform, repository: name },
    { commit, page, pipeline: pipelineOf(checks), shown: known },
    report,
  )
}

/** The pipeline of GitLab that waits for the status; null: the platform finds it by the commit. */
function pipelineOf(checks: readonly MergeCheck[]): string | null {
  const tasks = checks.map(({ task }): unknown => JSON.parse(task))
  const pipelines = tasks.map((task) => (isJsonObject(task) ? task['pipeline'] : undefined))
  return pipelines.find((pipeline) => typeof pipeline === 'string') ?? null
}

export function storedReport(text: string): CommitReport {
  const report: unknown = JSON.parse(text)
  if (!isReport(report)) throw new TypeError('a stored report is none')
  return report
}

const STATES: ReadonlySet<unknown> = new Set<CommitReport['state']>(['pending', 'held', 'success', 'failure'])

/** What another version wrote is not shown at a commit. */
function isReport(value: unknown): value is CommitReport {
  if (!isJsonObject(value)) return false
  const { name, state, title, summary, url, annotations } = value
  const isText = [name, title, summary].every((text) => typeof text === 'string')
  return isText && STATES.has(state) && (url === null || typeof url === 'string') && Array.isArray(annotations)
}
