/** One decision: verdict, reasons, findings, what fixes it, its receipt, and the calls that it served. */
import { checkProducerForm, type Envelope } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { keptAssessment } from '../../flow/kept-assessment.ts'
import type { StoredDecision } from '../../store/decisions.ts'
import { findingsList } from '../findings.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { decisionBadge, facts, head, moment, notice, receiptBadge, shortDigest, table } from '../parts.ts'
import { holders, personName, type Holders } from '../people.ts'
import { message, requestTitle, riskBadge, summaryText } from '../subject.ts'
import type { ConsoleSettings } from '../settings.ts'
import type { ConsoleDeps, ConsolePage } from '../visit.ts'
import type { StoredCall } from '../../store/calls.ts'

export const showDecision: ConsolePage = async (visit) => {
  const { params, visitor, now, deps, settings } = visit
  const { tenant } = visitor
  const row = await deps.store.decisions.byId(tenant, params['id'] ?? '')
  if (row === null) throw new GatewayError('NOT_FOUND', 'There is no such decision.')
  const checked = checkProducerForm(JSON.parse(row.envelope))
  if (!checked.ok) throw new GatewayError('INTERNAL', undefined, { cause: new Error('a stored envelope is not valid') })
  const envelope = checked.value
  const kept = await keptAssessment(row, { settings, flow: deps.flow, store: deps.store })
  const [page, names, request] = await Promise.all([
    deps.store.calls.list({ tenant, correlationId: envelope.correlation_id, limit: 50 }),
    holders(tenant, deps.store),
    approvalIdIn(envelope, tenant, deps),
  ])
  const title = requestTitle({ ...row, targetId: envelope.target_id ?? null })
  const body = html`${head({
      title: title.markup,
      parent: ['/console/ledger', 'Ledger'],
      badges: [
        decisionBadge(row.decision),
        ...(typeof envelope.risk_score === 'number' ? [riskBadge(envelope.risk_score)] : []),
      ],
      lede: message(summaryText(envelope.summary)),
    })}
    <div class="split">
      <div class="stack">
        ${reasons('Reasons', envelope.blocking_reasons)} ${reasons('Warnings', envelope.warnings)}
        ${reasons('Not judged completely', envelope.degraded_reasons ?? [])} ${changesSection(kept, request)}
        ${remediation(envelope)}
        ${callsSection(
          page.rows.filter(({ decisionId }) => decisionId === row.decisionId),
          now,
        )}
      </div>
      <aside class="rail" aria-label="Receipt and decision">
        <div class="card pad">${receipt(row, envelope, names, now)}</div>
        <div class="card pad">${context(row, envelope, { now, trace: traceLink(row, settings.config.console) })}</div>
      </aside>
    </div>`
  return { kind: 'page', title: title.text, body }
}

function changesSection(kept: Awaited<ReturnType<typeof keptAssessment>>, request: string | null): Markup {
  return html`<section aria-labelledby="changes">
    <div class="title">
      <h2 id="changes">What changes</h2>
      ${request === null ? null : html`<a href="/console/approvals/${request}">The request for approval</a>`}
    </div>
    ${kept.ok ? findingsList(kept.value) : notice('warn', `The findings cannot be shown: ${kept.problem}.`)}
  </section>`
}

function callsSection(calls: readonly StoredCall[], now: number): Markup {
  return html`<section aria-labelledby="calls">
    <h2 id="calls">Calls under this correlation</h2>
    ${
      calls.length === 0
        ? html`<p class="muted">None were recorded for this decision.</p>`
        : table({
            caption: 'Calls',
            columns: [
              ['When', 'tight'],
              ['Call', ''],
              ['Outcome', 'tight'],
            ],
            rows: calls.map(({ at, action, effect }) => [moment(at, now), html`<code>${action}</code>`, effect ?? '']),
          })
    }
  </section>`
}

/** The request that the decision opened, joined or used: its address is a next action, its id is in the evidence. */
async function approvalIdIn(
  { next_actions: actions, evidence }: Envelope,
  tenant: string,
  { store }: Pick<ConsoleDeps, 'store'>,
): Promise<string | null> {
  const texts = [...actions.map(({ target }) => target ?? ''), ...evidence.map(({ source }) => source)]
  const [id] = texts.flatMap((text) => /\bapr_[0-9a-f]{32}\b/.exec(text) ?? [])
  return id === undefined || (await store.approvals.byId(tenant, id)) === null ? null : id
}

function reasons(title: string, rows: Envelope['blocking_reasons']): Content {
  if (rows.length === 0) return null
  return html`<section>
    <h2>${title}</h2>
    <ul class="card list">
      ${rows.map(
        (reason) =>
          html`<li class="entry">
            <span>${message(reason.message)}</span><span></span><span class="meta"><code>${reason.code}</code></span>
          </li>`,
      )}
    </ul>
  </section>`
}

function remediation({ remediation_transaction: fix }: Envelope): Content {
  if (!fix || fix.required_changes.length === 0) return null
  return html`<section aria-labelledby="fix">
    <h2 id="fix">What would fix it</h2>
    <ol class="card list">
      ${fix.required_changes.slice(0, 40).map(
        ({ label, target, instruction, effort }) =>
          html`<li class="entry">
            <strong>${label}</strong><span class="muted small">${effort} effort</span>
            <span class="meta"><code>${target}</code></span
            ><span class="meta"><span>${instruction}</span></span>
          </li>`,
      )}
    </ol>
  </section>`
}

function receipt(row: StoredDecision, envelope: Envelope, names: Holders, now: number): Markup {
  return html`<div class="stack">
    <div class="title">
      <h2>Receipt</h2>
      ${receiptBadge(row, now)}
    </div>
    ${facts([
      ['Issued', moment(row.evaluatedAt, now)],
      [row.expiresAt > now ? 'Expires' : 'Expired', moment(row.expiresAt, now)],
      ['Issued to', envelope.audience ? personName(envelope.audience, names) : 'a call without a key'],
      ['Key', html`<code>${envelope.receipt.key_id}</code>`],
      ['Ledger entry', String(row.sequence)],
      ['Hash', shortDigest(row.hash)],
    ])}
  </div>`
}

/** A link where the operator said where traces are shown. */
function traceLink({ traceId }: StoredDecision, { trace_url: template }: ConsoleSettings): Markup | null {
  if (traceId === null) return null
  const id = html`<code>${traceId}</code>`
  if (template === undefined) return id
  return html`<a href="${template.replaceAll('{trace_id}', traceId)}" rel="noreferrer">${id}</a>`
}

interface ContextParts {
  readonly now: number
  readonly trace: Markup | null
}

function context(row: StoredDecision, envelope: Envelope, { now, trace }: ContextParts): Markup {
  const decision = facts([
    ['Action', envelope.execution_action],
    ['Route', row.route],
    ['Operation', row.operation],
    ['Environment', row.environment],
    ['Repository', row.repository],
    ['Branch', envelope.branch ?? null],
    ['Target', envelope.target_id ?? null],
    ['Correlation', html`<code>${envelope.correlation_id}</code>`],
    ['Trace', trace],
    ['Change', shortDigest(row.inputFingerprint)],
    ['Policy', envelope.policy_hash ? shortDigest(envelope.policy_hash) : null],
    ['Decision', html`<code>${row.decisionId}</code>`],
    ['Evaluated', moment(row.evaluatedAt, now)],
  ])
  return html`<div class="stack">
    <h2>Decision</h2>
    ${decision}
  </div>`
}
