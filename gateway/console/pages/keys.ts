/**
 * API keys: who holds which role, when a key ends and was last used, and what its plan leaves for the month; made, rotated and
 * revoked by administrators.
 */
import { Type } from '../../../engine/base.ts'
import { monthEnd, monthlyQuotas, type MonthlyQuota } from '../../api/quota.ts'
import { endOf, isKeyInForce, SESSION_PLAN } from '../../callers/api-keys.ts'
import { createKey, managedKeys, revokeKey, rotateKey, type MadeKey } from '../../callers/manage-keys.ts'
import { RIGHTS, hasRight, requireRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { ROLES, type ApiKey } from '../../store/api-keys.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { badge, csrfField, empty, head, moment, notice, table, tabs } from '../parts.ts'
import type { ConsolePage, PageReply, Visit } from '../visit.ts'

const DAY = 86_400
const SHOWN = 50

export const listKeys: ConsolePage = (visit) => keysPage(visit, null)

async function keysPage(visit: Visit, made: MadeKey | null): Promise<PageReply> {
  const { visitor, deps, now, csrf, settings } = visit
  const rows = await managedKeys(visitor, deps)
  const inForce = rows.filter((row) => isKeyInForce(row, now) && row.plan !== SESSION_PLAN)
  const quotas = await monthlyQuotas(inForce, settings.config.plans, deps.store, now)
  const body = html`${head({ title: 'Keys and roles', lede: 'Who may do what. A key is shown once, when it is made.' })}
    ${
      made === null
        ? null
        : notice(
            'good',
            html`<strong>${made.row.name}: copy the key now. It is not shown again.</strong>
              <p><code>${made.key}</code></p>`,
          )
    }
    <div class="split">
      <div class="stack">${keyList(rows, visit)} ${quotaTable(quotas, visit)} ${rightsTable()}</div>
      <aside class="rail" aria-label="New key">${newKeyForm(csrf)}</aside>
    </div>`
  return { kind: 'page', title: 'Keys and roles', body }
}

/** What the tabs list. Sign-ins at a command line leave many keys that have ended, and the console a session of each person. */
const TABS = {
  '': (row: ApiKey, now: number) => isKeyInForce(row, now) && row.plan !== SESSION_PLAN,
  sessions: (row: ApiKey, now: number) => isKeyInForce(row, now) && row.plan === SESSION_PLAN,
  ended: (row: ApiKey, now: number) => !isKeyInForce(row, now),
} as const

export const KEYS_QUERY = Type.Object({
  state: Type.Optional(Type.Enum(['ended', 'sessions'])),
  from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})

function keyList(rows: readonly ApiKey[], visit: Visit): Markup {
  const { query, now } = visit
  const asked = query.get('state')
  const state = asked === 'ended' || asked === 'sessions' ? asked : ''
  const wanted = rows.filter((row) => TABS[state](row, now))
  const from = Number(query.get('from') ?? 0)
  const shown = wanted.slice(from, from + SHOWN)
  const next = from + SHOWN
  return html`<section aria-label="Keys">
    ${tabs({ label: 'Keys', path: '/console/keys', name: 'state', current: state }, [
      ['', 'In force'],
      ['sessions', 'Sessions'],
      ['ended', 'Ended'],
    ])}
    ${shown.length === 0 ? empty('No keys', state === '' ? 'Make one here.' : 'Expired and revoked keys are listed here.') : keyTable(shown, visit)}
    ${next < wanted.length ? html`<p><a href="/console/keys?state=${state}&amp;from=${next}">Older keys</a></p>` : null}
  </section>`
}

function keyTable(rows: readonly ApiKey[], visit: Visit): Markup {
  const { now } = visit
  return table({
    caption: 'Keys',
    columns: [
      ['Name', ''],
      ['Role', ''],
      ['State', 'tight'],
      ['Last used', 'tight'],
      ['Ends', 'tight'],
      ['Actions', 'tight'],
    ],
    rows: rows.map((row) => [
      html`<strong>${row.name}</strong>
        <p class="muted small">${row.audience}${row.owner === null ? null : html` · ${row.owner}`}</p>`,
      html`${row.role}
        <p class="muted small">
          ${row.tenant} · ${row.plan}${row.groups.length === 0 ? null : html` · ${row.groups.join(', ')}`}
        </p>`,
      keyState(row, now),
      row.usedAt === null ? 'never' : moment(row.usedAt, now),
      endOf(row) === null ? '–' : moment(endOf(row) ?? now, now),
      actions(row, visit),
    ]),
  })
}

function keyState(row: ApiKey, now: number): Markup {
  if (row.revokedAt !== null) return badge('Revoked', 'bad')
  return isKeyInForce(row, now) ? badge('Valid', 'good') : badge('Expired', 'none')
}

function actions(row: ApiKey, { visitor, csrf, now }: Visit): Content {
  if (!isKeyInForce(row, now)) return null
  const path = `/console/keys/${encodeURIComponent(row.audience)}`
  const rotate = html`<button name="action" value="rotate" aria-label="Rotate ${row.name}">Rotate</button>`
  const revoke = html`<button class="danger" name="action" value="revoke" aria-label="Revoke ${row.name}">
    Revoke
  </button>`
  return html`<form class="actions" method="post" action="${path}">
    ${csrfField(csrf)}${rotate}${row.audience === visitor.audience ? null : revoke}
  </form>`
}

function quotaTable(quotas: readonly MonthlyQuota[], { settings, now }: Visit): Markup {
  return html`<section aria-labelledby="quotas">
    <h2 id="quotas">Quotas</h2>
    <p class="muted small">
      The keys of a tenant share its count of the month. Unlimited plans are not counted. Each key may also make
      ${settings.config.rate.per_minute.toLocaleString('en')} counted requests a minute at each gateway.
    </p>
    ${table({
      caption: 'Requests of this month by tenant and plan',
      columns: [
        ['Tenant', ''],
        ['Plan', ''],
        ['Valid keys', 'number'],
        ['Used', 'number'],
        ['Limit', 'number'],
        ['Left', 'number'],
        ['Resets', 'tight'],
      ],
      rows: quotas.map((quota) => [quota.tenant, quota.plan, quota.keys, ...quotaCells(quota, now)]),
    })}
  </section>`
}

function quotaCells({ limit, used }: MonthlyQuota, now: number): readonly Content[] {
  if (limit === null) return ['–', 'unlimited', 'unlimited', '–']
  if (limit === undefined) return ['–', badge('Plan not configured', 'bad'), '–', '–']
  const left = limit - used
  const numbers = [used, limit].map((count) => count.toLocaleString('en'))
  return [...numbers, left > 0 ? left.toLocaleString('en') : badge('None', 'bad'), moment(monthEnd(now), now)]
}

const RIGHT_WORDS = {
  ask: 'Ask',
  read: 'Read all',
  approve: 'Approve',
  revoke: 'Revoke',
  operate: 'Break-glass',
  administer: 'Keys',
} as const

function rightsTable(): Markup {
  return html`<section aria-labelledby="roles">
    <h2 id="roles">What each role may do</h2>
    ${table({
      caption: 'Rights by role',
      columns: [['Role', ''], ...RIGHTS.map((right) => [RIGHT_WORDS[right], 'tight'] as const)],
      rows: ROLES.map((role) => [role, ...RIGHTS.map((right) => (hasRight({ role }, right) ? 'yes' : '–'))]),
    })}
  </section>`
}

function newKeyForm(csrf: string): Markup {
  return html`<form class="card pad" method="post" action="/console/keys">
    ${csrfField(csrf)}
    <h2>New key</h2>
    <label>Name<input name="name" required maxlength="200" autocomplete="off" /></label>
    <label
      >Role<select name="role">
        ${ROLES.map((role) => html`<option>${role}</option>`)}
      </select></label
    >
    <label>Groups<input name="groups" maxlength="1000" placeholder="payments, security" /></label>
    <label
      >Owner<input name="owner" maxlength="300" />
      <span class="hint">The person behind it. Keys of one owner count as one person.</span></label
    >
    <label
      >Days until it ends<input type="number" name="days" min="1" max="3650" /><span class="hint"
        >Empty: until it is revoked.</span
      ></label
    >
    <button class="primary">Make key</button>
  </form>`
}

/** Answers with the page itself: the key must be in no address and no cookie. */
export const addKey: ConsolePage = async (visit) => {
  const { form, visitor, settings, deps } = visit
  requireRight(visit.visitor, 'administer')
  const role = ROLES.find((known) => known === form.get('role'))
  const name = (form.get('name') ?? '').trim()
  if (role === undefined || name === '' || name.length > 200)
    throw new GatewayError('INVALID_INPUT', 'Give a name and a role.')
  const days = Number(form.get('days') ?? '')
  const groups = (form.get('groups') ?? '').split(',').map((group) => group.trim())
  const owner = (form.get('owner') ?? '').trim().slice(0, 300)
  const asked = {
    name,
    role,
    groups: groups.filter((group) => group !== ''),
    owner: owner === '' ? null : owner,
    lifetime: Number.isInteger(days) && days > 0 ? days * DAY : null,
  }
  return keysPage(visit, await createKey(visitor, asked, settings.config.plans, deps))
}

export const endKey: ConsolePage = async (visit) => {
  const { params, form, visitor, deps } = visit
  requireRight(visit.visitor, 'administer')
  const id = params['id'] ?? ''
  if (form.get('action') === 'rotate') return keysPage(visit, await rotateKey(visitor, id, DAY, deps))
  if (form.get('action') !== 'revoke') throw new GatewayError('INVALID_INPUT', 'Choose Rotate or Revoke.')
  await revokeKey(visitor, id, deps)
  return { kind: 'redirect', to: '/console/keys?state=ended' }
}
