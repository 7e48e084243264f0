/** The decision on a request: who has granted, who still has to, the forms to grant, deny and hand over, and what they do. */
import { commentOn, decideRequest, requiredFor } from '../../approvals/decide.ts'
import { approverKeys, handOver } from '../../approvals/delegation.ts'
import { hasRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { approverWords } from '../../../engine/base.ts'
import type { Approvers } from '../../../engine/internal.ts'
import type { ApprovalChoice } from '../../notifications/choice-link.ts'
import { mayGrant, stillRequired } from '../../store/approvers.ts'
import type { ApprovalRow } from '../../store/approvals.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { personName, type Holders } from '../people.ts'
import { badge, countedNoun, csrfField, facts, moment, notice, shortDigest } from '../parts.ts'
import type { ConsolePage, PageReply, Visit } from '../visit.ts'
import { addLinks, approvalLinks } from '../../telemetry/approval-traces.ts'

/** Who has to grant, and who has. One person who may be anybody is not worth a box. */
export function progress({ settings }: Visit, row: ApprovalRow, names: Holders): Content {
  const required = requiredFor(row.approvers, settings.config.approvals)
  if (required.length === 0) return null
  const left = stillRequired(required, row.grants)
  return html`<section class="card pad stack" aria-labelledby="needed">
    <h2 id="needed">Required approvals</h2>
    <ul class="stack">
      ${required.map((one) => html`<li class="title"><span>${approverWords([one])}</span>${grantState(one, left)}</li>`)}
    </ul>
    ${
      row.grants.length === 0
        ? null
        : html`<p class="small muted">Granted by ${row.grants.map(({ by }) => personName(by, names)).join(', ')}.</p>`
    }
  </section>`
}

function grantState(one: Approvers[number], left: Approvers): Markup {
  const open = left.find(({ groups }) => groups.join(' ') === one.groups.join(' '))?.count ?? 0
  return badge(`${one.count - open} of ${one.count}`, open === 0 ? 'good' : 'ask')
}

/** An approver who has the right may hand this request to another one. */
export async function handOverForm(visit: Visit, row: ApprovalRow): Promise<Content> {
  const { visitor, csrf, deps } = visit
  const isHeld = row.approvers.some(({ groups }) => groups.some((group) => visitor.groups.includes(group)))
  if (!hasRight(visitor, 'approve') || !isHeld) return null
  const others = (await approverKeys(visitor.tenant, deps)).filter(({ audience }) => audience !== visitor.audience)
  return html`<details class="card pad">
    <summary>Hand it to another approver</summary>
    <form method="post" action="/console/approvals/${row.approvalId}">
      ${csrfField(csrf)} ${approverField(others)}
      <p class="hint">This approver may then grant the request with your groups: ${visitor.groups.join(', ')}.</p>
      <div><button name="state" value="hand-over">Hand over</button></div>
    </form>
  </details>`
}

/** Keys to choose from; a person of a provider is typed in. */
export function approverField(others: readonly { readonly audience: string; readonly name: string }[]): Markup {
  return html`<label
    >Approver
    <input name="to" list="approvers" required maxlength="300" autocomplete="off" />
    <datalist id="approvers">
      ${others.map(({ audience, name }) => html`<option value="${audience}">${name}</option>`)}
    </datalist>
    <span class="hint">Choose a key, or write <code>oidc:PROVIDER:SUBJECT</code>.</span>
  </label>`
}

export function about(row: ApprovalRow, names: Holders, now: number): Markup {
  const request = facts([
    [
      'Asked by',
      row.requesters.length === 0
        ? 'a call without a key'
        : row.requesters.map((id) => personName(id, names)).join(', '),
    ],
    ['Opened', moment(row.openedAt, now)],
    ['Expires', row.result === null ? moment(row.expiresAt, now) : null],
    ['Route', row.route],
    ['Repository', row.repository],
    ['Branch', row.branch],
    ['Pull request', row.pullRequest],
    ['Environment', row.environment],
    ['Target', row.targetId],
    ['Change', shortDigest(row.inputFingerprint)],
    ['Policy', shortDigest(row.policyHash)],
    ['Request', html`<code>${row.approvalId}</code>`],
  ])
  return html`<div class="stack">
    <h2>Request</h2>
    ${request}
  </div>`
}

export function outcome({ result, endedAt }: ApprovalRow, names: Holders, now: number): Markup {
  if (result === null)
    return notice(
      'warn',
      html`<strong>Expired</strong>
        <p>
          Nobody decided before the end${endedAt === null ? '' : html` (${moment(endedAt, now)})`}. The next attempt
          opens a new request.
        </p>`,
    )
  const { state, by, at, comment, validUntil } = result
  const isOver = validUntil !== null && validUntil <= now
  return notice(
    state === 'granted' ? 'good' : 'bad',
    html`<strong>${state === 'granted' ? 'Granted' : 'Denied'} by ${personName(by, names)}</strong>
      <p>
        ${moment(at, now)}${validUntil === null ? null : html`, ${isOver ? 'ended' : 'ends'} ${moment(validUntil, now)}`}
      </p>
      ${comment === '' ? null : html`<p>“${comment}”</p>`}`,
  )
}

/** @param choice made by a link of a message; null: none */
export function decideForm(
  { visitor, csrf, settings }: Visit,
  row: ApprovalRow,
  choice: ApprovalChoice | 'void' | null,
): Content {
  const { four_eyes: isFourEyes, validity } = settings.config.approvals
  if (!hasRight(visitor, 'approve')) return notice('info', 'Your role may read this request. An approver decides it.')
  if (isFourEyes && row.requesters.includes(visitor.audience))
    return notice(
      'warn',
      html`<strong>Somebody else has to decide</strong>
        <p>You asked for this approval (four eyes).</p>`,
    )
  const isOfGroup = mayGrant(row.approvers, visitor.groups)
  return html`${choice === 'void' ? notice('warn', 'The link of the message has ended. Decide here.') : null}
    <form class="card pad" method="post" action="/console/approvals/${row.approvalId}">
      ${csrfField(csrf)}
      <h2>${DECIDE_TITLES[choice ?? 'void']}</h2>
      ${
        isOfGroup
          ? html`<p class="hint">
              A grant lets this change continue under monitoring. It covers exactly this change and this place, until it
              ends.
            </p>`
          : notice(
              'warn',
              `Only ${approverWords(row.approvers)} may grant it. You may deny it, or grant it with a right that was handed to you.`,
            )
      }
      <label
        >Comment
        <textarea name="comment" maxlength="1000"></textarea>
        <span class="hint">The reason. It stays with the request.</span>
      </label>
      ${choice === 'denied' ? null : validityField(validity)}
      <div class="actions">
        ${choice === 'denied' ? null : html`<button class="${isOfGroup ? 'primary' : ''}" name="state" value="granted">Grant</button>`}
        ${choice === 'granted' ? null : html`<button class="danger" name="state" value="denied">Deny</button>`}
        ${
          choice === 'granted' || choice === 'denied'
            ? html`<a class="button" href="/console/approvals/${row.approvalId}#decide">Other choices</a>`
            : null
        }
      </div>
    </form>`
}

const DECIDE_TITLES: Readonly<Record<ApprovalChoice | 'void', string>> = {
  granted: 'Confirm the grant',
  denied: 'Confirm the denial',
  void: 'Decide',
}

function validityField(validity: number): Markup {
  return html`<label
    >Valid for
    <select name="validity">
      ${validities(validity).map(([seconds, text]) => html`<option value="${seconds}">${text}</option>`)}
    </select></label
  >`
}

const DURATIONS = [
  [900, '15 minutes'],
  [3600, '1 hour'],
  [14_400, '4 hours'],
  [86_400, '1 day'],
  [604_800, '1 week'],
] as const

/** The longest first: it is the default. */
function validities(most: number): readonly (readonly [number, string])[] {
  const below = DURATIONS.filter(([seconds]) => seconds < most).toReversed()
  const named = DURATIONS.find(([seconds]) => seconds === most)?.[1] ?? countedNoun(Math.round(most / 60), 'minute')
  return [[most, named], ...below]
}

export const decideApproval: ConsolePage = async (visit) => {
  const { params, form, visitor, settings, observation, deps, now } = visit
  const { tenant, audience: by, groups } = visitor
  const id = params['id'] ?? ''
  const page = `/console/approvals/${encodeURIComponent(id)}`
  if (form.get('state') === 'comment') {
    const text = (form.get('text') ?? '').trim().slice(0, 1000)
    if (text === '') throw new GatewayError('INVALID_INPUT', 'Write a comment.')
    await commentOn(id, text, visitor, deps)
    return { kind: 'redirect', to: `${page}#steps` }
  }
  if (form.get('state') === 'hand-over') return giveAway(visit, id)
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not decide requests.')
  const state = form.get('state')
  if (state !== 'granted' && state !== 'denied') throw new GatewayError('INVALID_INPUT', 'Choose Grant or Deny.')
  const seconds = Number(form.get('validity') ?? Number.NaN)
  const validity = Number.isInteger(seconds) && seconds > 0 ? seconds : null
  const comment = (form.get('comment') ?? '').slice(0, 1000)
  const word = { state, tenant, approvalId: id, by, groups, comment, validity, at: now } as const
  const row = await decideRequest(word, settings.config, `console:${id}`, deps)
  addLinks(approvalLinks(row), observation)
  return { kind: 'redirect', to: `${page}?done=1` }
}

async function giveAway({ visitor, form, deps, now }: Visit, id: string): Promise<PageReply> {
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not delegate requests.')
  const row = await deps.store.approvals.byId(visitor.tenant, id)
  if (row === null) throw new GatewayError('NOT_FOUND', 'There is no such request for approval.')
  const seconds = Math.max(60, Math.ceil((row.expiresAt - now) / 1000))
  const to = (form.get('to') ?? '').trim()
  await handOver({ to, seconds, approvalId: id, reason: '' }, visitor, deps)
  return { kind: 'redirect', to: `/console/approvals/${encodeURIComponent(id)}#steps` }
}
