/** A decision as it is shown at a commit: one line, a summary in Markdown, and annotations at the lines that changed. */
import { LEVELS, type FindingGroup, type Reason } from '../../engine/internal.ts'
import type { Authorization } from '../flow/flow.ts'
import { reportGroup } from '../report/diff-report.ts'
import { markdownCode, markdownText, printable } from '../report/printable.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CommitAnnotation, CommitReport, CommitReportState } from '../scm/commit-report.ts'
import type { DerivedChangeSet } from '../scm/derivation.ts'
import { pageAddress, publicAddress, type AddressConfig } from '../settings/public-address.ts'
import { approvalState } from '../approvals/request.ts'
import type { ApprovalRow, ApprovalState } from '../store/approvals.ts'
import { pointerToken } from '../../engine/base.ts'

const STATES: Readonly<Record<Authorization['envelope']['decision'], CommitReportState>> = {
  ALLOW: 'success',
  WARN: 'success',
  REQUIRE_APPROVAL: 'held',
  BLOCK: 'failure',
}

const WORDS: Readonly<Record<Authorization['envelope']['decision'], string>> = {
  ALLOW: 'Allowed',
  WARN: 'Allowed with warnings',
  REQUIRE_APPROVAL: 'Approval required',
  BLOCK: 'Blocked',
}

const LEVEL_OF = { breaking: 'failure', dangerous: 'warning', info: 'notice' } as const
const MOST_ANNOTATIONS = 100
const MOST_ROWS = 50

interface ReportedDecision {
  readonly name: string
  readonly authorization: Authorization
  readonly change: DerivedChangeSet
  /** The request that the decision waits for; null: none. */
  readonly approval: ApprovalRow | null
  readonly config: AddressConfig
}

export function decisionReport({ name, authorization, change, approval, config }: ReportedDecision): CommitReport {
  const { envelope } = authorization
  const { decision, decision_id: id } = envelope
  const denied = decision === 'REQUIRE_APPROVAL' && approval?.result?.state === 'denied' ? approval.result : null
  const waits = decision === 'REQUIRE_APPROVAL' && approval !== null && denied === null ? approval.approvalId : null
  const title = denied === null ? `${WORDS[decision]}: ${envelope.summary}` : `Denied: ${denied.comment}`
  return {
    name,
    state: denied === null ? STATES[decision] : 'failure',
    title: printable(title),
    summary: summaryOf(authorization, { change, waits, config }),
    url: waits === null ? decisionAddress(id, config) : requestAddress(waits, config),
    annotations: reportAnnotations(authorization, change, decision === 'ALLOW' || decision === 'WARN'),
  }
}

/** A merge that the gateway holds on the wire. What the request said then is all that is known of it here. @param now milliseconds since the epoch */
export function heldMergeReport(name: string, row: ApprovalRow, config: AddressConfig, now: number): CommitReport {
  const words = HELD_STATES[approvalState(row, now)]
  const comment = row.result === null || row.result.comment === '' ? '' : `: ${row.result.comment}`
  const what = row.summary.replace(/^[A-Z_]+: /, '')
  const title = printable(`${words.title}${row.result === null ? `: ${what}` : comment}`)
  const lines = [
    `**${words.title}.** ${markdownText(what)}`,
    '',
    words.next,
    '',
    `Request ${markdownCode(row.approvalId)}.`,
  ]
  return {
    name,
    state: words.state,
    title,
    summary: lines.join('\n'),
    url: requestAddress(row.approvalId, config),
    annotations: [],
  }
}

const HELD_STATES: Readonly<
  Record<ApprovalState, { readonly state: CommitReportState; readonly title: string; readonly next: string }>
> = {
  pending: { state: 'held', title: 'Approval required', next: 'The merge waits for an approval.' },
  granted: { state: 'success', title: 'Approved', next: 'The merge may be made until the grant ends.' },
  denied: { state: 'failure', title: 'Denied', next: 'The merge was denied.' },
  expired: { state: 'held', title: 'Approval expired', next: 'Nobody decided in time. Ask for the merge again.' },
}

/** The decision could not be made; nothing was allowed. */
export function undecidedReport(name: string, why: string): CommitReport {
  const title = printable(`Not decided: ${why}`)
  return { name, state: 'failure', title, summary: markdownText(title), url: null, annotations: [] }
}

export function pendingReport(name: string): CommitReport {
  const title = 'The change is being compared'
  return { name, state: 'pending', title, summary: title, url: null, annotations: [] }
}

/** The report of a request that nobody answered in time: what it shows stays, and how to ask again. */
export function expiredReport(report: CommitReport): CommitReport {
  const note = 'Nobody granted or denied the request in time. Run the check again to ask again.'
  return { ...report, title: `Approval expired: ${report.title}`, summary: `${note}\n\n${report.summary}` }
}

const STRICTEST_FIRST: readonly CommitReportState[] = ['failure', 'held', 'pending', 'success']

const rank = ({ state }: CommitReport): number => STRICTEST_FIRST.indexOf(state)

/**
 * One commit may be the head of several pull requests. Platforms show one check of one name at a commit, so it is the strictest:
 * what one pull request may do must not let another one pass.
 */
export function strictestReport(reports: readonly CommitReport[]): CommitReport | null {
  const [strictest, ...others] = reports.toSorted((a, b) => rank(a) - rank(b))
  if (strictest === undefined || others.length === 0) return strictest ?? null
  const note = `This commit is the head of ${reports.length} pull requests. This is the strictest of their checks.`
  return { ...strictest, summary: `${note}\n\n${strictest.summary}` }
}

function decisionAddress(id: string, config: AddressConfig): string | null {
  return pageAddress(`decisions/${id}`, config) ?? absolute(publicAddress(`api/v1/decisions/${id}`, config))
}

export function requestAddress(id: string, config: AddressConfig): string | null {
  return pageAddress(`approvals/${id}`, config) ?? absolute(publicAddress(`api/v1/approvals/${id}`, config))
}

/** Platforms take whole addresses only. */
function absolute(address: string): string | null {
  return URL.canParse(address) ? address : null
}

interface SummaryFacts {
  readonly change: DerivedChangeSet
  readonly waits: string | null
  readonly config: AddressConfig
}

function summaryOf({ envelope, verdict }: Authorization, { change, waits, config }: SummaryFacts): string {
  const { decision, risk_score: risk, completeness_mode: mode, correlation_id: correlation } = envelope
  const { blocking_reasons: blocking, warnings, degraded_reasons: degraded = [] } = envelope
  const { breaking, dangerous, info } = verdict.severity_summary
  const asks =
    waits === null ? [] : [`Waits for an approval: ${requestAddress(waits, config) ?? markdownCode(waits)}`, '']
  const contracts = verdict.artifacts.slice(0, MOST_ROWS).map((row) => {
    const { id, type, decision: own, breaking_changes: breaks } = row
    return `| ${markdownCode(id)} | ${type} | ${own ?? ''} | ${breaks} |`
  })
  return [
    `**${WORDS[decision]}.** ${markdownText(envelope.summary)}`,
    '',
    ...asks,
    ...reasonSection('Blocks', blocking),
    ...reasonSection('Not complete', degraded ?? []),
    ...reasonSection('Warnings', warnings),
    ...(contracts.length === 0
      ? ['No contract changed.', '']
      : ['| contract | type | decision | breaking |', '| --- | --- | --- | --- |', ...contracts, '']),
    `${breaking} breaking, ${dangerous} dangerous, ${info} compatible. Risk ${risk ?? 0} of 100. ` +
      `${change.commitment.count} files changed, listed by the gateway (${mode ?? ''}).`,
    '',
    `Decision ${markdownCode(envelope.decision_id)}, correlation ${markdownCode(correlation)}.`,
  ].join('\n')
}

function reasonSection(heading: string, reasons: readonly Reason[]): readonly string[] {
  if (reasons.length === 0) return []
  const rows = reasons
    .slice(0, MOST_ROWS)
    .map(({ code, message }) => `- ${markdownCode(code)} ${markdownText(message)}`)
  return [`### ${heading}`, '', ...rows, '']
}

/** @param isAllowed the policy accepts the changes: none of them is a failure */
function reportAnnotations(
  { analyses }: Authorization,
  change: DerivedChangeSet,
  isAllowed: boolean,
): readonly CommitAnnotation[] {
  const all = analyses.flatMap((analysis) =>
    analysis.ok ? analysis.comparison.groups.map((group) => ({ id: analysis.id, group })) : [],
  )
  const worstFirst = LEVELS.flatMap((level) => all.filter(({ group }) => group.level === level))
  const annotations = worstFirst
    .slice(0, MOST_ANNOTATIONS)
    .flatMap(({ id, group }) => annotation(id, group, change) ?? [])
  return isAllowed
    ? annotations.map((one) => (one.level === 'failure' ? { ...one, level: 'warning' as const } : one))
    : annotations
}

/** Null where the head has no file to show it in. */
function annotation(id: string, group: FindingGroup, change: DerivedChangeSet): CommitAnnotation | null {
  const { side, line, rule, level, message, fix } = reportGroup(group)
  const place = annotatedPlace(id, group, change)
  if (place === null) return null
  const isExact = place.isText && side === 'head' && line !== null
  return {
    path: place.path,
    line: isExact ? line : 1,
    level: LEVEL_OF[level],
    title: rule,
    message: printable(level === 'info' ? message : `${message} ${fix}`),
  }
}

/** A contract of several files is compared as one text: its lines are not those of a file. */
function annotatedPlace(
  id: string,
  { location }: FindingGroup,
  { files, artifacts }: DerivedChangeSet,
): { readonly path: string; readonly isText: boolean } | null {
  const own = files.find(({ path }) => path === id)
  const artifact = artifacts.find((one) => one.id === id)
  if (own !== undefined)
    return own.change === 'removed'
      ? null
      : { path: id, isText: artifact !== undefined && own.after === sha256Hex(artifact.after) }
  const named = files.find(({ path, change }) => change !== 'removed' && location.startsWith(`/${pointerToken(path)}`))
  return named === undefined ? null : { path: named.path, isText: false }
}
