/** The inbox: requests for approval of the tenant, by state; of those that wait, the ones that expire next first. */
import { Type } from '../../../engine/base.ts'
import { ID_PATTERN } from '../../api/schemas/shapes.ts'
import { approvalState } from '../../approvals/request.ts'
import type { ApprovalRow, ApprovalState } from '../../store/approvals.ts'
import { groupsIn } from '../../store/approvers.ts'
import { html, type Markup } from '../markup.ts'
import { holders, personName, type Holders } from '../people.ts'
import { countedNoun, empty, head, moment, stateBadge, tabs } from '../parts.ts'
import { message, requestTitle, riskBadge, summaryText } from '../subject.ts'
import type { ConsolePage } from '../visit.ts'

const STATES = ['pending', 'granted', 'denied', 'expired'] as const satisfies readonly ApprovalState[]
const SHOWN = 100

export const APPROVALS_QUERY = Type.Object({
  state: Type.Optional(Type.Enum([...STATES])),
  /** The last one of the page before. */
  after: Type.Optional(Type.String({ pattern: ID_PATTERN })),
})

export const listApprovals: ConsolePage = async ({ query, visitor, now, deps, path }) => {
  const state = STATES.find((known) => known === query.get('state')) ?? 'pending'
  const { tenant } = visitor
  const last = query.get('after')
  const page = { tenant, limit: SHOWN, now }
  const [rows, names] = await Promise.all([
    state === 'pending'
      ? deps.store.approvals.pending({ ...page, ...(last !== null && { after: last }) })
      : deps.store.approvals.list({ ...page, state, ...(last !== null && { before: last }) }),
    holders(tenant, deps.store),
  ])
  const next = rows.length === SHOWN ? rows.at(-1) : undefined
  const body = html`${head({ title: 'Approvals', lede: 'Changes that the policy lets a person decide.' })}
    <section aria-label="Requests">
      <div class="title">
        ${tabs({ label: 'State', path, name: 'state', current: state === 'pending' ? '' : state }, [
          ['', 'Waiting'],
          ['granted', 'Granted'],
          ['denied', 'Denied'],
          ['expired', 'Expired'],
        ])}<a href="/console/delegations">Delegations</a>
      </div>
      ${
        rows.length === 0
          ? empty(...EMPTY_STATES[state])
          : html`<ul class="card list">
              ${rows.map((row) => html`<li>${entry(row, now, names)}</li>`)}
            </ul>`
      }
      ${
        next === undefined
          ? null
          : html`<p>
              <a href="/console/approvals?state=${state}&amp;after=${next.approvalId}"
                >${state === 'pending' ? 'Requests that expire later' : 'Older requests'}</a
              >
            </p>`
      }
    </section>`
  return { kind: 'page', title: 'Approvals', isLive: true, body }
}

const EMPTY_STATES: Readonly<Record<ApprovalState, readonly [string, string]>> = {
  pending: ['Nothing waits for a decision', 'A request appears here as soon as the policy asks for an approval.'],
  granted: ['No granted requests', 'Granted requests stay listed here.'],
  denied: ['No denied requests', 'Denied requests stay listed here.'],
  expired: ['No expired requests', 'Requests that nobody decided in time are listed here.'],
}

export function entry(row: ApprovalRow, now: number, names: Holders = new Map()): Markup {
  const { approvalId, summary, requesters, openedAt, expiresAt, result, approvers } = row
  const state = approvalState(row, now)
  return html`<a class="entry" href="/console/approvals/${approvalId}">
    <strong>${requestTitle(row).markup}<span class="hidden">, request ${approvalId}</span></strong>
    <span>${state === 'pending' ? riskBadge(row.riskScore) : stateBadge(state)}</span>
    <span class="meta">
      <span>${message(summaryText(summary))}</span>
    </span>
    <span class="meta">
      <span>asked ${moment(openedAt, now)}</span>
      ${
        state === 'pending'
          ? html`<span>expires ${moment(expiresAt, now)}</span>`
          : result === null
            ? null
            : html`<span>decided ${moment(result.at, now)} by ${personName(result.by, names)}</span>`
      }
      ${requesters.length > 0 ? html`<span>${countedNoun(requesters.length, 'requester')}</span>` : null}
      ${groupsIn(approvers).length > 0 ? html`<span>for ${groupsIn(approvers).join(', ')}</span>` : null}
    </span>
  </a>`
}
