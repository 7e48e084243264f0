/** One request for approval as text: why it is held, what changes, whom it reaches, who may decide, and what a grant does. */
import type { ReviewedApproval } from '../flow/approval-review.ts'
import { printable } from '../report/printable.ts'
import { changeLines } from '../report/text.ts'
import { columns } from './command.ts'
import { secondsOf } from './format.ts'
import { wantsColour, type CommandIo } from './io.ts'

export function reviewText({ approval, steps, review }: ReviewedApproval, io: CommandIo): string {
  const isPending = approval.state === 'pending'
  return [
    `${approval.id}  ${approval.state}`,
    printable(approval.summary),
    '',
    ...columns(factRows(approval)),
    titledLines('Why it is held', reasonLines(approval.blocking_reasons)),
    titledLines(`What changes (${review.findings_total})`, findingLines(review, io)),
    titledLines('Reach and risk', reachText(review, approval.risk_score)),
    titledLines(
      'Grants and comments',
      steps.map(({ kind, by, text, at }) => `${secondsOf(at)}  ${by}  ${kind}  ${text}`.trimEnd()),
    ),
    titledLines('Who may grant', [
      review.who_may_grant,
      ...(isPending && review.you_may_not_grant !== null ? [`You may not: ${review.you_may_not_grant}.`] : []),
    ]),
    ...(isPending ? [titledLines('What a grant does', [review.on_grant])] : []),
  ]
    .filter((part) => part !== null)
    .join('\n')
}

type Approval = ReviewedApproval['approval']
type Review = ReviewedApproval['review']

/** Null without lines. Lines that are already safe to print start with a space. */
function titledLines(title: string, lines: readonly string[]): string | null {
  if (lines.length === 0) return null
  return ['', title, ...lines.map((line) => (line.startsWith(' ') ? line : `  ${printable(line)}`))].join('\n')
}

function factRows(approval: Approval): readonly (readonly [string, string])[] {
  const facts = [
    ['operation', approval.operation],
    ['environment', approval.environment],
    ['route', approval.route],
    ['repository', approval.repository],
    ['branch', approval.branch],
    ['pull request', approval.pull_request],
    ['target', approval.target_id],
    ['asked by', approval.requesters.join(', ') || 'a call without a key'],
    ['opened', secondsOf(approval.opened_at)],
    ['expires', approval.settled_at === null ? secondsOf(approval.expires_at) : null],
    [approval.state, approval.approver === null ? null : `by ${approval.approver}`],
    ['comment', approval.comment === '' ? null : approval.comment],
    ['valid until', approval.valid_until === null ? null : secondsOf(approval.valid_until)],
    ['decision', approval.decision_id],
  ] as const
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, printable(value)] as const]))
}

function reasonLines(reasons: Approval['blocking_reasons']): readonly string[] {
  return reasons.map(({ code, message }) => `${code}  ${message}`)
}

function findingLines(review: Review, io: CommandIo): readonly string[] {
  if (review.problem !== null) return [`The findings cannot be shown: ${review.problem}.`]
  const left = review.findings_total - review.findings.length
  return [
    ...review.findings.flatMap((finding) => changeLines(finding, wantsColour(io))),
    ...(left === 0 ? [] : [`and ${left} more`]),
  ]
}

function reachText(
  { blast_radius: radius, consumers, risk_factors: factors }: Review,
  risk: number,
): readonly string[] {
  if (radius === null) return [`risk ${risk} of 100`]
  const { endpoints, fields, params } = radius
  const names = consumers === null ? 'not known' : consumers.join(', ') || 'none of the known ones'
  return [
    `touches ${endpoints} endpoints, ${fields} fields, ${params} parameters; consumers: ${names}`,
    `risk ${risk} of 100`,
    ...factors.map(
      ({ id, points, weight, because }) => `- ${id.replaceAll('_', ' ')} ${points} of ${weight}: ${because}`,
    ),
  ]
}
