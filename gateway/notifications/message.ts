/** The message about a notice: what happened, where, and the page that shows it. Made from the row when the notice is taken. */
import { approverWords, lookupTable } from '../../engine/base.ts'
import type { ApprovalRow } from '../store/approvals.ts'
import type { Notice, NoticeKind } from '../store/notifications.ts'
import type { StorePart } from '../store/store.ts'
import { approvalAddress } from '../approvals/request.ts'
import { groupsIn } from '../store/approvers.ts'
import { pageAddress } from '../settings/public-address.ts'
import { CHOICES, choiceKey, choiceQuery, type ApprovalChoice } from './choice-link.ts'
import type { Channel, NotificationsConfig } from './settings.ts'

export interface NotificationMessage {
  readonly kind: NoticeKind | 'test'
  readonly subject: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly title: string
  readonly text: string
  /** A page of the console, or a path of the API; null: there is none. */
  readonly url: string | null
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly risk: number | null
  readonly route: string | null
  readonly environment: string | null
  /** Every group that may grant it; empty: any approver. */
  readonly groups: readonly string[]
  readonly tenant: string
  /** Links to the page with a choice made. It asks for sign-in and a confirmation. */
  readonly actions: readonly { readonly choice: ApprovalChoice; readonly title: string; readonly url: string }[]
}

export type MessageStore = StorePart<'approvals.byId' | 'breakGlass.list' | 'baselines.candidate' | 'uses.salt'>

/** Null: the row is gone, so there is nothing to say. */
export async function notificationMessage(
  notice: Notice,
  store: MessageStore,
  config: NotificationsConfig,
): Promise<NotificationMessage | null> {
  if (notice.kind === 'baseline.candidate') return candidateMessage(notice, store, config)
  if (notice.kind === 'break_glass.opened' || notice.kind === 'break_glass.closed')
    return exceptionMessage(notice, store, config)
  const row = await store.approvals.byId(notice.tenant, notice.subject)
  return row === null ? null : approvalMessage(notice, row, await choicesOf(notice.kind, row, store, config), config)
}

const APPROVAL_TITLES: Readonly<Record<string, string>> = lookupTable({
  'approval.requested': 'Approval needed',
  'approval.granted': 'Approved',
  'approval.denied': 'Denied',
  'approval.expired': 'Not decided in time',
  'approval.moot': 'No longer needed',
  'approval.reminder': 'Still waiting for approval',
  'approval.delegated': 'Approval delegated',
})

/** None for a request that is decided, or when nobody knows the address of the console. */
async function choicesOf(
  kind: Notice['kind'],
  { approvalId, expiresAt: until, result, endedAt }: ApprovalRow,
  store: MessageStore,
  config: NotificationsConfig,
): Promise<NotificationMessage['actions']> {
  const page = pageAddress(`approvals/${approvalId}`, config)
  if (page === null || !UNDECIDED.has(kind) || result !== null || endedAt !== null) return []
  const key = await choiceKey(store)
  return CHOICES.map((choice) => ({
    choice,
    title: CHOICE_TITLES[choice],
    url: `${page}?${choiceQuery({ approvalId, choice, until }, key)}`,
  }))
}

const UNDECIDED: ReadonlySet<NoticeKind> = new Set(['approval.requested', 'approval.reminder', 'approval.delegated'])
const CHOICE_TITLES: Readonly<Record<ApprovalChoice, string>> = { granted: 'Grant…', denied: 'Deny…' }

function approvalMessage(
  notice: Notice,
  row: ApprovalRow,
  actions: NotificationMessage['actions'],
  config: NotificationsConfig,
): NotificationMessage {
  const { operation, environment, repository, pullRequest, targetId, route, summary, riskScore, approvers, result } =
    row
  const what = `${operation ?? 'change'} ${repository ?? targetId ?? route ?? ''}${pullRequest === null ? '' : ` #${pullRequest}`}`
  const facts: (readonly [string, string | null])[] = [
    ['Environment', environment],
    ['Risk', `${riskScore} of 100`],
    ['For', approvers.length === 0 ? null : approverWords(approvers)],
    ['Expires', result === null ? new Date(row.expiresAt).toISOString() : null],
    ['By', result?.by ?? null],
    ['Comment', result === null || result.comment === '' ? null : result.comment],
  ]
  return {
    ...basis(notice),
    title: `${APPROVAL_TITLES[notice.kind] ?? 'Approval'}: ${what.trim()}`,
    text: summary.replace(/^[A-Z_]+: /, ''),
    url: approvalAddress(row.approvalId, config),
    facts: statedFacts(facts),
    risk: riskScore,
    route,
    environment,
    groups: groupsIn(approvers),
    actions,
  }
}

async function candidateMessage(
  notice: Notice,
  store: MessageStore,
  config: NotificationsConfig,
): Promise<NotificationMessage | null> {
  const row = await store.baselines.candidate(notice.subject)
  return {
    ...basis(notice),
    title: `Changed contract: ${notice.subject}`,
    text: 'The upstream offers a contract that differs from the baseline. Calls are judged against the baseline until a person accepts the change.',
    url: pageAddress(`routes/${encodeURIComponent(notice.subject)}`, config),
    facts: row === null ? [] : [['Candidate', row.digest]],
    route: notice.subject.split('/', 1)[0] ?? null,
  }
}

async function exceptionMessage(
  notice: Notice,
  store: MessageStore,
  config: NotificationsConfig,
): Promise<NotificationMessage | null> {
  const row = (await store.breakGlass.list({ limit: 500 })).find(({ id }) => id === notice.subject)
  if (row === undefined) return null
  const isOpened = notice.kind === 'break_glass.opened'
  return {
    ...basis(notice),
    title: `Break-glass ${isOpened ? 'opened' : 'closed'}: ${row.route}`,
    text: isOpened ? `Enforcement of this route is suspended: ${row.reason}` : `It forwarded ${row.calls} calls.`,
    url: pageAddress('break-glass', config),
    facts: statedFacts([
      ['By', isOpened ? row.openedBy : row.closedBy],
      ['Until', isOpened ? new Date(row.expiresAt).toISOString() : null],
    ]),
    route: row.route,
  }
}

function basis({ kind, subject, at, tenant }: Notice) {
  const about = { kind, subject, at: new Date(at).toISOString(), tenant }
  return { ...about, risk: null, route: null, environment: null, groups: [] as readonly string[], actions: [] }
}

function statedFacts(facts: readonly (readonly [string, string | null])[]): NotificationMessage['facts'] {
  return facts.flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value] as const]))
}

/** Whether a channel gets a message. A request for any approver concerns every group. */
export function concerns(message: NotificationMessage, channel: Channel): boolean {
  const { events, groups, routes, environments, tenants, min_risk: least } = channel
  return (
    tenants.includes(message.tenant) &&
    (events === undefined || events.some((kind) => kind === message.kind)) &&
    (groups === undefined || message.groups.length === 0 || groups.some((group) => message.groups.includes(group))) &&
    isInList(routes, message.route) &&
    isInList(environments, message.environment) &&
    (message.risk === null || message.risk >= least)
  )
}

function isInList(list: readonly string[] | undefined, value: string | null): boolean {
  return list === undefined || (value !== null && list.includes(value))
}
