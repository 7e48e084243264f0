/** Delegations: who may use whose right to grant, until when; made and ended by approvers. */
import {
  approverKeys,
  handOver,
  isDelegationInForce,
  shownDelegations,
  LONGEST_DELEGATION_SECONDS,
  takeBack,
} from '../../approvals/delegation.ts'
import { hasRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { DelegationRow } from '../../store/approvals.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { holders, personName } from '../people.ts'
import { badge, csrfField, empty, head, moment, notice, table } from '../parts.ts'
import type { ConsolePage, Visit } from '../visit.ts'
import { approverField } from './approval-decide.ts'

const PAGE = '/console/delegations'
const DAY = 86_400

export const delegations: ConsolePage = async (visit) => {
  const { visitor, deps, now } = visit
  const [rows, names] = await Promise.all([shownDelegations(visitor.tenant, deps), holders(visitor.tenant, deps.store)])
  const body = html`${head({
      title: 'Delegations',
      parent: ['/console/approvals', 'Approvals'],
      lede: 'An approver who is away lets another one grant in their place. Neither grants what one of them asked for.',
    })}
    <div class="split">
      ${
        rows.length === 0
          ? empty('Nobody has handed anything over', 'A delegation is listed here with its reason and its end.')
          : table({
              caption: 'Delegations',
              columns: [
                ['From', ''],
                ['To', ''],
                ['For', ''],
                ['State', 'tight'],
                ['Actions', 'tight'],
              ],
              rows: rows.map((row) => [
                personName(row.by, names),
                personName(row.to, names),
                html`${row.groups.join(', ')}
                  <p class="muted small">
                    ${
                      row.approvalId === null
                        ? 'every request'
                        : html`<a href="/console/approvals/${row.approvalId}"
                            >one request<span class="hidden"> (${row.approvalId})</span></a
                          >`
                    }${row.reason === '' ? null : ` · ${row.reason}`}
                  </p>`,
                delegationState(row, now),
                isDelegationInForce(row, now) ? endForm(visit, row) : '',
              ]),
            })
      }
      <aside class="rail" aria-label="Hand over">${await form(visit)}</aside>
    </div>`
  return { kind: 'page', title: 'Delegations', body }
}

function delegationState(row: DelegationRow, now: number): Markup {
  if (row.ended !== null) return html`${badge('Taken back', 'none')} ${moment(row.ended.at, now)}`
  return isDelegationInForce(row, now)
    ? html`${badge('In force', 'good')} ends ${moment(row.until, now)}`
    : html`${badge('Ended', 'none')} ${moment(row.until, now)}`
}

function endForm({ visitor, csrf }: Visit, { by, to, delegationId }: DelegationRow): Content {
  if (by !== visitor.audience && to !== visitor.audience && !hasRight(visitor, 'administer')) return null
  return html`<form method="post" action="${PAGE}/${delegationId}">${csrfField(csrf)}<button>End</button></form>`
}

async function form({ visitor, csrf, deps }: Visit): Promise<Markup> {
  if (!hasRight(visitor, 'approve')) return notice('info', 'Your role may read this. Approvers can delegate.')
  if (visitor.groups.length === 0)
    return notice('info', 'You are in no group of approvers, so there is nothing to delegate.')
  const others = (await approverKeys(visitor.tenant, deps)).filter(({ audience }) => audience !== visitor.audience)
  return html`<form class="card pad" method="post" action="${PAGE}">
    ${csrfField(csrf)}
    <h2>Hand over</h2>
    <p class="hint">Another approver may grant with your groups: ${visitor.groups.join(', ')}.</p>
    ${approverField(others)}
    <label
      >Days
      <input name="days" type="number" min="1" max="${LONGEST_DELEGATION_SECONDS / DAY}" value="7" required />
    </label>
    <label
      >Reason
      <input name="reason" maxlength="1000" />
    </label>
    <button class="primary">Hand over</button>
  </form>`
}

export const addDelegation: ConsolePage = async ({ visitor, form: sent, deps }) => {
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not delegate.')
  const days = Number(sent.get('days'))
  if (!Number.isInteger(days) || days < 1) throw new GatewayError('INVALID_INPUT', 'Give a number of days.')
  const reason = (sent.get('reason') ?? '').slice(0, 1000)
  const handover = { to: (sent.get('to') ?? '').trim(), seconds: days * DAY, approvalId: null, reason }
  await handOver(handover, visitor, deps)
  return { kind: 'redirect', to: PAGE }
}

export const endDelegation: ConsolePage = async ({ visitor, params, deps }) => {
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not end delegations.')
  await takeBack(params['id'] ?? '', visitor, deps)
  return { kind: 'redirect', to: PAGE }
}
