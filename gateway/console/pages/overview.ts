/** The first page: what waits, what was stopped and what drifted in the last day, by hour and by route. */
import { DECISIONS } from '../../../engine/base.ts'
import type { Decision } from '../../../engine/internal.ts'
import { isOperatorTenant } from '../../callers/rights.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { decisionBadge, DECISION_WORDS, empty, head, moment, table, countText, MOST_COUNTED } from '../parts.ts'
import { seenRoutes, type ConsolePage } from '../visit.ts'
import { decisionLink, decisionTitle } from '../subject.ts'
import { entry } from './approvals.ts'
import type { DecisionCount, StoredDecision } from '../../store/decisions.ts'
import type { ApprovalRow } from '../../store/approvals.ts'

const HOUR_MS = 3_600_000
const HOURS = 24
const SHOWN_STOPPED = 6

export const overview: ConsolePage = async (visit) => {
  const { visitor, now, deps } = visit
  const { tenant } = visitor
  const from = now - HOURS * HOUR_MS
  const [waiting, counts, stopped, exceptions, drifted, views] = await Promise.all([
    deps.store.approvals.pending({ tenant, limit: MOST_COUNTED + 1, now }),
    deps.store.decisions.counts({ tenant, from, period: HOUR_MS }),
    deps.store.decisions.list({ tenant, decision: 'BLOCK', from, limit: SHOWN_STOPPED }),
    deps.store.breakGlass.list({ openAt: now, limit: 100 }),
    deps.store.calls.list({ tenant, effect: 'drifted', from, limit: 100 }),
    deps.baselines.list(),
  ])
  const candidates = seenRoutes(views, visit).filter(({ candidate }) => candidate !== null)
  const blocked = sumOf(counts, 'BLOCK')
  const open = isOperatorTenant(visitor) ? exceptions.length : 0
  const body = html`${head({ title: 'Overview' })}
    <div class="tiles">
      ${tile('Waiting for approval', countText(waiting.length), '/console/approvals', waiting.length > 0 ? 'ask' : '')}
      ${tile('Stopped, last day', String(blocked), '/console/ledger?decision=BLOCK', blocked > 0 ? 'alert' : '')}
      ${tile('Answers that drifted', `${drifted.rows.length}${drifted.next === null ? '' : '+'}`, '/console/ledger?records=calls&effect=drifted', '')}
      ${tile('Changed contracts', String(candidates.length), '/console/routes', candidates.length > 0 ? 'ask' : '')}
      ${tile('Break-glass open', String(open), '/console/break-glass', open > 0 ? 'alert' : '')}
    </div>
    ${waitingSection(waiting, now)} ${daySection(counts)} ${stoppedSection(stopped, now)}`
  return { kind: 'page', title: 'Overview', isLive: true, body }
}

function waitingSection(waiting: readonly ApprovalRow[], now: number): Markup {
  return html`<section aria-labelledby="waiting">
    <div class="title">
      <h2 id="waiting">Waiting for a decision</h2>
      ${waiting.length > 5 ? html`<a href="/console/approvals">All ${countText(waiting.length)}</a>` : null}
    </div>
    ${
      waiting.length === 0
        ? empty('Nothing waits for a decision', 'A request appears here as soon as the policy asks for an approval.')
        : html`<ul class="card list">
            ${waiting.slice(0, 5).map((row) => html`<li>${entry(row, now)}</li>`)}
          </ul>`
    }
  </section>`
}

function daySection(counts: readonly DecisionCount[]): Markup {
  return html`<section aria-labelledby="day">
    <h2 id="day">Decisions of the last day</h2>
    ${
      counts.length === 0
        ? empty('No decisions yet', html`Send a call through a route, or ask with <code>POST /api/v1/preflight</code>.`)
        : html`<div class="card pad stack">${legend(counts)} ${chart(counts)}</div>
            ${byRoute(counts)}`
    }
  </section>`
}

function stoppedSection(stopped: readonly StoredDecision[], now: number): Content {
  if (stopped.length === 0) return null
  return html`<section aria-labelledby="stopped">
    <h2 id="stopped">Stopped last</h2>
    ${table({
      caption: 'Stopped last',
      columns: [
        ['Decision', 'tight'],
        ['What', ''],
        ['Route', ''],
        ['When', 'tight'],
      ],
      rows: stopped.map((row) => [
        decisionBadge(row.decision),
        decisionLink(row.decisionId, decisionTitle(row)),
        row.route ?? 'API',
        moment(row.evaluatedAt, now),
      ]),
    })}
  </section>`
}

function tile(label: string, value: string, path: string, tone: '' | 'ask' | 'alert'): Markup {
  return html`<a class="tile" href="${path}"
    ><span class="label">${label}</span><span class="value ${tone}">${value}</span></a
  >`
}

const TONES: Readonly<Record<Decision, string>> = { ALLOW: 'good', WARN: 'warn', REQUIRE_APPROVAL: 'ask', BLOCK: 'bad' }

/** Of one decision; absent: of all. */
function sumOf(counts: readonly DecisionCount[], decision?: Decision): number {
  const counted = decision === undefined ? counts : counts.filter((one) => one.decision === decision)
  return counted.reduce((sum, { count }) => sum + count, 0)
}

function legend(counts: readonly DecisionCount[]): Markup {
  return html`<div class="legend">
    ${DECISIONS.map(
      (decision) =>
        html`<span
          ><svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class="bar-${TONES[decision]}" width="10" height="10" rx="2" /></svg
          >${DECISION_WORDS[decision].text} ${sumOf(counts, decision).toLocaleString('en')}</span
        >`,
    )}
  </div>`
}

const HEIGHT = 100

/** One bar an hour, stacked by decision. */
function chart(counts: readonly DecisionCount[]): Markup {
  const hours = Array.from({ length: HOURS }, (_, hour) => counts.filter(({ period }) => period === hour))
  const most = Math.max(1, ...hours.map((hour) => sumOf(hour)))
  const bars = hours.map((hour, index) => {
    let top = HEIGHT
    return DECISIONS.map((decision) => {
      const count = sumOf(hour, decision)
      if (count === 0) return null
      const height = Math.max(1.5, (count / most) * HEIGHT)
      top -= height
      return html`<rect
        class="bar-${TONES[decision]}"
        x="${index * 10 + 1}"
        y="${Math.max(0, top)}"
        width="8"
        height="${height}"
      />`
    })
  })
  return html`<figure>
    <svg
      class="chart"
      viewBox="0 0 ${HOURS * 10} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Decisions by hour; ${sumOf(counts)} in all, at most ${most} in an hour"
    >
      ${bars}
    </svg>
    <figcaption class="axis"><span>24 hours ago</span><span>12 hours ago</span><span>now</span></figcaption>
  </figure>`
}

function byRoute(counts: readonly DecisionCount[]): Content {
  const routes = Map.groupBy(counts, ({ route }) => route ?? 'API')
  const sorted = [...routes].toSorted(([, a], [, b]) => sumOf(b) - sumOf(a)).slice(0, 12)
  return table({
    caption: 'Decisions by route',
    columns: [['Route', ''], ...DECISIONS.map((decision) => [DECISION_WORDS[decision].text, 'number'] as const)],
    rows: sorted.map(([route, found]) => [
      route === 'API' ? route : html`<a href="/console/ledger?route=${encodeURIComponent(route)}">${route}</a>`,
      ...DECISIONS.map((decision) => sumOf(found, decision).toLocaleString('en')),
    ]),
  })
}
