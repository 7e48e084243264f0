/** Exceptions to enforcement: opened with a reason and for a time, listed and closed. */
import { isInForce, openBreakGlass } from '../../break-glass/break-glass.ts'
import { isOperatorTenant, requireOperatorTenant } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { holders, personName } from '../people.ts'
import { csrfField, empty, head, moment, notice, stateBadge, table } from '../parts.ts'
import type { ConsolePage, Visit } from '../visit.ts'

const SHOWN = 100
const LEAST_REASON = 10

export const breakGlass: ConsolePage = async (visit) => {
  const { deps, now, visitor, csrf } = visit
  requireOperatorTenant(visit.visitor)
  const [rows, names] = await Promise.all([
    deps.store.breakGlass.list({ limit: SHOWN }),
    holders(visitor.tenant, deps.store),
  ])
  const body = html`${head({ title: 'Break-glass', lede: 'Lets the calls of one route continue for a time, whatever the decision on them. Each such call is counted and logged.' })}
    <div class="split">
      <section aria-label="Exceptions">
        ${
          rows.length === 0
            ? empty('No exceptions', 'Enforcement was never suspended.')
            : table({
                caption: 'Exceptions',
                columns: [
                  ['Route', ''],
                  ['State', 'tight'],
                  ['Calls', 'number'],
                  ['By', ''],
                  ['Until', 'tight'],
                  ['Actions', 'tight'],
                ],
                rows: rows.map((row) => [
                  html`<strong>${row.route}</strong>
                    <p class="muted small">${row.reason}</p>`,
                  stateBadge(isInForce(row, now) ? 'open' : row.closedAt === null ? 'ended' : 'closed'),
                  String(row.calls),
                  personName(row.openedBy, names),
                  moment(row.closedAt ?? row.expiresAt, now),
                  isInForce(row, now) && mayOpen(visit) ? closeForm(row.id, csrf) : null,
                ]),
              })
        }
      </section>
      <aside class="rail" aria-label="Open an exception">${openForm(visit)}</aside>
    </div>`
  return { kind: 'page', title: 'Break-glass', isLive: true, body }
}

function closeForm(id: string, csrf: string): Markup {
  return html`<form method="post" action="/console/break-glass/${id}">${csrfField(csrf)}<button>Close</button></form>`
}

function openForm(visit: Visit): Content {
  const { settings, csrf } = visit
  const { roles, maximum } = settings.config.break_glass
  if (!mayOpen(visit)) return notice('info', `Only the role ${roles.join(' or ')} may open an exception.`)
  return html`<form class="card pad" method="post" action="/console/break-glass">
    ${csrfField(csrf)}
    <h2>Open an exception</h2>
    <label
      >Route
      <select name="route" required>
        ${settings.config.routes.map(({ name }) => html`<option>${name}</option>`)}
      </select></label
    >
    <label
      >Reason
      <textarea name="reason" required minlength="${LEAST_REASON}" maxlength="1000"></textarea>
      <span class="hint">An incident or a ticket. The ledger keeps it.</span>
    </label>
    <label
      >Minutes
      <input
        type="number"
        name="minutes"
        required
        min="1"
        max="${Math.floor(maximum / 60)}"
        value="${Math.min(15, Math.floor(maximum / 60))}"
      />
    </label>
    <button class="danger">Suspend enforcement</button>
  </form>`
}

export const openException: ConsolePage = async (visit) => {
  const { form, visitor, settings, deps, now } = visit
  requireRole(visit)
  const route = form.get('route') ?? ''
  const reason = (form.get('reason') ?? '').trim()
  const minutes = Number(form.get('minutes') ?? Number.NaN)
  if (!settings.config.routes.some(({ name }) => name === route))
    throw new GatewayError('NOT_FOUND', `There is no route "${route}" in the configuration.`)
  if (reason.length < LEAST_REASON || reason.length > 1000)
    throw new GatewayError('INVALID_INPUT', `Give a reason of ${LEAST_REASON} to 1000 characters.`)
  if (!Number.isInteger(minutes) || minutes < 1)
    throw new GatewayError('INVALID_INPUT', 'Give the time in whole minutes.')
  const opening = { route, reason, duration: minutes * 60, by: visitor.audience }
  await openBreakGlass(opening, settings.config.break_glass.maximum, deps.store, now)
  await deps.breakGlass.refresh()
  deps.approvalDecided()
  return { kind: 'redirect', to: '/console/break-glass' }
}

export const closeException: ConsolePage = async (visit) => {
  const { params, visitor, deps, now } = visit
  requireRole(visit)
  const id = params['id'] ?? ''
  const row = await deps.store.breakGlass.close(id, visitor.audience, now)
  if (row === null) throw new GatewayError('NOT_FOUND', 'There is no such exception.')
  await deps.breakGlass.refresh()
  deps.logger.warn(
    { event: 'break_glass.closed', break_glass_id: id, route: row.route, by: visitor.audience, calls: row.calls },
    'break-glass closed',
  )
  return { kind: 'redirect', to: '/console/break-glass' }
}

function mayOpen({ visitor, settings }: Visit): boolean {
  return isOperatorTenant(visitor) && settings.config.break_glass.roles.some((role) => role === visitor.role)
}

function requireRole(visit: Visit): void {
  requireOperatorTenant(visit.visitor)
  if (mayOpen(visit)) return
  throw new GatewayError('FORBIDDEN', `This needs the role ${visit.settings.config.break_glass.roles.join(' or ')}.`)
}
