/**
 * What the gateway shows at a commit of a platform. GitHub gets a check run or a commit status, GitLab a commit status, Bitbucket a
 * build status with a Code Insights report. Whoever decides about a commit writes it through here.
 */
import { at } from './members.ts'
import type { PlatformId } from './platform.ts'
import type { ScmAnswer, ScmTransport } from './transport.ts'

/** `pending`: the decision is being made. `held`: a person has to approve first. */
export type CommitReportState = 'pending' | 'held' | 'success' | 'failure'

export interface CommitAnnotation {
  /** In the repository. */
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export interface CommitReport {
  /** Name among the checks of the commit. A report replaces the earlier one of the same name. */
  readonly name: string
  readonly state: CommitReportState
  /** One line. */
  readonly title: string
  /** Markdown. */
  readonly summary: string
  /** Page with the details; null: there is none. */
  readonly url: string | null
  readonly annotations: readonly CommitAnnotation[]
}

export interface CommitPlace {
  /** Path of the repository at the API. */
  readonly repository: string
  /** Full commit id. */
  readonly commit: string
  /** Address that the status links to when the report has none: Bitbucket requires one. */
  readonly page: string
  /** Pipeline of GitLab that the status belongs to; null: the platform finds it by the commit. */
  readonly pipeline: string | null
  /** True: the credential is that of a GitHub App, which writes check runs; others write statuses. */
  readonly isApp: boolean
  /** Id that `publishReport` returned for this name and commit; null: nothing is shown yet, or it is to be shown anew. */
  readonly shown: string | null
}

type Publish = (transport: ScmTransport, place: CommitPlace, report: CommitReport) => Promise<string | null>

/**
 * Shows the report, or updates the one that is shown.
 * @returns id to update it by; null: the platform finds it by its name
 * @throws ScmError
 */
export function publishReport(
  platform: PlatformId,
  transport: ScmTransport,
  place: CommitPlace,
  report: CommitReport,
): Promise<string | null> {
  return PUBLISHERS[platform](transport, place, report)
}

const PUBLISHERS: Readonly<Record<PlatformId, Publish>> = {
  scm_a: (transport, place, report) => (place.isApp ? checkRun : githubStatus)(transport, place, report),
  scm_b: gitlabStatus,
  scm_c: bitbucketReport,
}

/** Longest texts and lists that the platforms accept. */
const SUMMARY_LENGTH = 60_000
const ANNOTATIONS_A_REQUEST = 50
const MOST_ANNOTATIONS = 200
const GITHUB_DESCRIPTION = 140
const GITLAB_DESCRIPTION = 255
const BITBUCKET_KEY = 40
const BITBUCKET_DETAILS = 2000
const BITBUCKET_SUMMARY = 450

const CONCLUSIONS = { held: 'action_required', success: 'success', failure: 'failure' } as const

/** https://docs.github.com/rest/checks/runs */
async function checkRun(
  transport: ScmTransport,
  { repository, commit, shown }: CommitPlace,
  { name, state, title, summary, url, annotations }: CommitReport,
): Promise<string | null> {
  const rows = annotations.slice(0, MOST_ANNOTATIONS).map(({ path, line, level, title: head, message }) => ({
    path,
    start_line: line,
    end_line: line,
    annotation_level: level,
    title: clippedText(head, 255),
    message,
  }))
  const output = (from: number) => ({
    title: clippedText(title, 255),
    summary: clippedText(summary, SUMMARY_LENGTH),
    annotations: rows.slice(from, from + ANNOTATIONS_A_REQUEST),
  })
  const progress =
    state === 'pending' ? { status: 'in_progress' } : { status: 'completed', conclusion: CONCLUSIONS[state] }
  const body = { name, ...progress, ...(url !== null && { details_url: url }), output: output(0) }
  const list = `${repository}/check-runs`
  const answer =
    shown === null
      ? await transport.send('POST', list, { ...body, head_sha: commit })
      : await transport.send('PATCH', `${list}/${shown}`, body)
  const id = String(at(await transport.json(answer), 'id'))
  for (let from = ANNOTATIONS_A_REQUEST; from < rows.length; from += ANNOTATIONS_A_REQUEST)
    await transport.json(await transport.send('PATCH', `${list}/${id}`, { output: output(from) }))
  return id
}

const GITHUB_STATES = { pending: 'pending', held: 'pending', success: 'success', failure: 'failure' } as const

/** https://docs.github.com/rest/commits/statuses */
async function githubStatus(
  transport: ScmTransport,
  { repository, commit }: CommitPlace,
  { name, state, title, url }: CommitReport,
): Promise<null> {
  const body = {
    state: GITHUB_STATES[state],
    context: name,
    description: clippedText(title, GITHUB_DESCRIPTION),
    ...(url !== null && { target_url: url }),
  }
  await transport.json(await transport.send('POST', `${repository}/statuses/${commit}`, body))
  return null
}

const GITLAB_STATES = { pending: 'pending', held: 'pending', success: 'success', failure: 'failed' } as const

/** https://docs.gitlab.com/api/commits/#set-commit-pipeline-status */
async function gitlabStatus(
  transport: ScmTransport,
  { repository, commit, pipeline }: CommitPlace,
  { name, state, title, url }: CommitReport,
): Promise<null> {
  const body = {
    state: GITLAB_STATES[state],
    name,
    description: clippedText(title, GITLAB_DESCRIPTION),
    ...(pipeline !== null && { pipeline_id: Number(pipeline) }),
    ...(url !== null && { target_url: url }),
  }
  const answer = await transport.send('POST', `${repository}/statuses/${commit}`, body)
  if (!isSameState(answer)) await transport.json(answer)
  return null
}

/** GitLab refuses a status that is already in the state: "Cannot transition status via :enqueue from :pending". */
function isSameState({ status, bytes }: ScmAnswer): boolean {
  return status === 400 && bytes.includes('Cannot transition status')
}

const BITBUCKET_STATES = {
  pending: 'INPROGRESS',
  held: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
} as const
const BITBUCKET_RESULTS = { pending: 'PENDING', held: 'PENDING', success: 'PASSED', failure: 'FAILED' } as const
const BITBUCKET_SEVERITIES = { failure: 'HIGH', warning: 'MEDIUM', notice: 'LOW' } as const
const BITBUCKET_ANNOTATIONS = 100

/** https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/ and api-group-commit-statuses */
async function bitbucketReport(
  transport: ScmTransport,
  { repository, commit, page }: CommitPlace,
  { name, state, title, summary, url, annotations }: CommitReport,
): Promise<null> {
  const id = name.replaceAll(/[^\w-]/g, '-')
  const link = url ?? page
  const at = `${repository}/commit/${commit}`
  const insights = `${at}/reports/${id}`
  const report = {
    title: name,
    details: clippedText(`${title}\n\n${summary}`, BITBUCKET_DETAILS),
    report_type: 'TEST',
    result: BITBUCKET_RESULTS[state],
    link,
  }
  await transport.json(await transport.send('PUT', insights, report))
  const rows = annotations
    .slice(0, BITBUCKET_ANNOTATIONS)
    .map(({ path, line, level, title: head, message }, index) => ({
      external_id: `${id}-${index}`,
      annotation_type: 'BUG',
      path,
      line,
      severity: BITBUCKET_SEVERITIES[level],
      summary: clippedText(head, BITBUCKET_SUMMARY),
      details: clippedText(message, BITBUCKET_DETAILS),
    }))
  if (rows.length > 0) await transport.json(await transport.send('POST', `${insights}/annotations`, rows))
  const status = {
    key: clippedText(id, BITBUCKET_KEY),
    state: BITBUCKET_STATES[state],
    name,
    description: clippedText(title, 255),
  }
  await transport.json(await transport.send('POST', `${at}/statuses/build`, { ...status, url: link }))
  return null
}

function clippedText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
