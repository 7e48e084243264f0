/** Channels of messages to people, what was delivered, and a test message. */
import { hasRight, isOperatorTenant, rolesWith } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Channel } from '../../notifications/settings.ts'
import type { Backlog, DeliveryRow } from '../../store/notifications.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { badge, clipped, csrfField, empty, head, moment, notice, table } from '../parts.ts'
import type { ConsolePage, Visit } from '../visit.ts'

const SHOWN = 100

export const notifications: ConsolePage = async (visit) => {
  requireOperator(visit)
  const { deps, now, settings, query } = visit
  const { channels } = settings.config.notifications
  const [rows, backlog] = await Promise.all([deps.store.notifications.log(SHOWN), deps.store.notifications.backlog()])
  const body = html`${head({ title: 'Notifications', lede: 'Who is notified of requests, changed contracts and exceptions, and what was delivered.' })}
  ${query.has('done') ? notice('good', 'The test message is in the queue. The log shows its delivery.') : null}
  ${channelsSection(channels, backlog, visit.csrf)} ${logSection(rows, now)}`
  return { kind: 'page', title: 'Notifications', body }
}

function channelsSection(channels: readonly Channel[], backlog: readonly Backlog[], csrf: string): Markup {
  const waiting = (name: string) => backlog.find(({ channel }) => channel === name)?.waiting ?? 0
  return html`<section aria-labelledby="channels">
    <h2 id="channels">Channels</h2>
    ${
      channels.length === 0
        ? empty('No channels', html`Add one to the configuration: see <code>notifications.channels</code>.`)
        : table({
            caption: 'Channels',
            columns: [
              ['Name', ''],
              ['Type', 'tight'],
              ['Gets', ''],
              ['Waiting', 'number'],
              ['Actions', 'tight'],
            ],
            rows: channels.map((channel) => [
              html`<strong>${channel.name}</strong>`,
              channel.type,
              routingOf(channel),
              String(waiting(channel.name)),
              testForm(channel.name, csrf),
            ]),
          })
    }
  </section>`
}

function logSection(rows: readonly DeliveryRow[], now: number): Markup {
  return html`<section aria-labelledby="log">
    <h2 id="log">Delivery log</h2>
    ${
      rows.length === 0
        ? empty('Nothing was sent yet', 'Each message to a channel is listed here for 30 days.')
        : table({
            caption: 'Delivery log',
            columns: [
              ['State', 'tight'],
              ['Channel', 'tight'],
              ['Event', ''],
              ['Tries', 'number'],
              ['When', 'tight'],
            ],
            rows: rows.map((row) => [
              deliveryState(row),
              row.channel,
              html`${row.kind}
                <p class="muted small">
                  ${subjectLink(row)}${row.problem === null ? null : html` · ${clipped(row.problem, 200)}`}
                </p>`,
              String(row.attempts),
              moment(row.deliveredAt ?? row.failedAt ?? row.createdAt, now),
            ]),
          })
    }
  </section>`
}

function subjectLink({ subject, kind }: DeliveryRow): Content {
  return kind.startsWith('approval.') ? html`<a href="/console/approvals/${subject}">${subject}</a>` : subject
}

function deliveryState({ deliveredAt, failedAt, attempts }: DeliveryRow): Markup {
  if (deliveredAt !== null) return badge('Delivered', 'good')
  if (failedAt !== null) return badge('Given up', 'bad')
  return attempts === 0 ? badge('Waiting', 'none') : badge('Retrying', 'warn')
}

function routingOf({ events, groups, routes, environments, min_risk: risk }: Channel): string {
  const parts = [
    events === undefined ? 'all events' : events.join(', '),
    ...(groups === undefined ? [] : [`groups ${groups.join(', ')}`]),
    ...(routes === undefined ? [] : [`routes ${routes.join(', ')}`]),
    ...(environments === undefined ? [] : [`environments ${environments.join(', ')}`]),
    ...(risk === 0 ? [] : [`risk from ${risk}`]),
  ]
  return parts.join('; ')
}

function testForm(name: string, csrf: string): Markup {
  return html`<form method="post" action="/console/notifications">
    ${csrfField(csrf)}<input type="hidden" name="channel" value="${name}" /><button aria-label="Test ${name}">
      Test
    </button>
  </form>`
}

export const sendTest: ConsolePage = async (visit) => {
  requireOperator(visit)
  await visit.deps.notifier.test(visit.form.get('channel') ?? '')
  return { kind: 'redirect', to: '/console/notifications?done=1' }
}

/** Messages of all tenants pass the same channels. */
function requireOperator({ visitor }: Visit): void {
  if (isOperatorTenant(visitor) && hasRight(visitor, 'operate')) return
  throw new GatewayError('FORBIDDEN', `This needs the role ${rolesWith('operate')} of the operator’s tenant.`)
}
