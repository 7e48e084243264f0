/** One request for approval: why it is held, what changed, whom it reaches, who may decide, and the decision itself. */
import { commentOn } from '../../approvals/comment.ts'
import { approvalState } from '../../approvals/request.ts'
import { decideRequest } from '../../approvals/decide.ts'
import { hasRight } from '../../callers/rights.ts'
import { grantsNeeded } from '../../approvals/resolve.ts'
import { GatewayError } from '../../errors/errors.ts'
import { keptAssessment, type KeptAssessment } from '../../flow/kept-assessment.ts'
import { approverWords, mayGrant } from '../../store/approvers.ts'
import type { ApprovalRow, ApprovalStep } from '../../store/approvals.ts'
import type { Result } from '../../../engine/internal.ts'
import { findingsList } from '../findings.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { holders, personName, type Holders } from '../people.ts'
import { counted, csrfField, decisionBadge, facts, head, moment, notice, shortDigest, stateBadge } from '../parts.ts'
import { message, meter, placeOf, summaryText } from '../subject.ts'
import type { Page, Visit } from '../visit.ts'

export const showApproval: Page = async (visit) => {
  const { params, visitor, now, deps, query } = visit
  const row = await requestOf(visit)
  const { tenant } = visitor
  const decision = await deps.store.decisions.byId(tenant, row.decisionId)
  const [kept, names, earlier, steps] = await Promise.all([
    decision === null
      ? ({ ok: false, problem: 'its decision is no longer stored' } as const)
      : keptAssessment(decision, { settings: visit.settings, flow: deps.flow, store: deps.store }),
    holders(tenant, deps.store),
    decision === null
      ? []
      : deps.store.decisions.history({ tenant, supersessionKey: decision.supersessionKey, since: 0, limit: 8 }),
    deps.store.approvals.steps(tenant, row.approvalId),
  ])
  const state = approvalState(row, now)
  const title = placeOf(row)
  const body = html`${head({
      title,
      parent: ['/console/approvals', 'Approvals'],
      badges: [
        stateBadge(state),
        ...(state === 'pending' ? [html`<a class="button jump" href="#decide">Decide</a>`] : []),
      ],
      lede: message(summaryText(row.summary)),
    })}
    ${query.has('done') ? notice('good', 'Your decision is recorded.') : null}
    <div class="split">
      <div class="stack">
        <section aria-labelledby="why">
          <h2 id="why">Why it is held</h2>
          <ul class="card list">
            ${reasonsOf(row).map(
              (reason) =>
                html`<li class="entry">
                  <span>${message(reason.message)}</span><span></span
                  ><span class="meta"><code>${reason.code}</code></span>
                </li>`,
            )}
          </ul>
        </section>
        <section aria-labelledby="changes">
          <div class="title">
            <h2 id="changes">What changes</h2>
            <a href="/console/decisions/${row.decisionId}">The decision</a>
          </div>
          ${changes(kept)}
        </section>
        ${reach(kept)} ${discussion(visit, row, steps, names)}
        <section aria-labelledby="history">
          <h2 id="history">Earlier decisions of this scope</h2>
          <div class="card pad">
            <ol class="timeline">
              ${earlier.map(
                ({ decision: made, evaluatedAt, inputFingerprint }) =>
                  html`<li>
                    <div>
                      <span>${decisionBadge(made)}</span>
                      <small class="muted"
                        >${moment(evaluatedAt, now)}${
                          inputFingerprint === row.inputFingerprint ? ', the same change' : ', another change'
                        }</small
                      >
                    </div>
                  </li>`,
              )}
            </ol>
          </div>
        </section>
      </div>
      <aside class="rail" id="decide" aria-label="Decide">
        ${state === 'pending' ? decideForm(visit, row, params['id'] ?? '') : outcome(row, names, now)}
        <div class="card pad">${about(row, names, now, grantsNeeded(row, visit.settings.config.approvals))}</div>
      </aside>
    </div>`
  return { kind: 'page', title, isLive: true, body }
}

async function requestOf({ params, visitor, deps }: Visit): Promise<ApprovalRow> {
  const row = await deps.store.approvals.byId(visitor.tenant, params['id'] ?? '')
  if (row === null) throw new GatewayError('NOT_FOUND', 'There is no such request for approval.')
  return row
}

function reasonsOf({ reasons }: ApprovalRow): readonly { readonly code: string; readonly message: string }[] {
  const listed: unknown = JSON.parse(reasons)
  const rows: readonly unknown[] = Array.isArray(listed) ? listed : []
  return rows.flatMap((row) =>
    typeof row === 'object' && row !== null && 'code' in row && 'message' in row
      ? [{ code: String(row.code), message: String(row.message) }]
      : [],
  )
}

function changes(kept: Result<KeptAssessment, string>): Markup {
  if (kept.ok) return findingsList(kept.value)
  return notice('warn', `The findings cannot be shown: ${kept.problem}.`)
}

function reach(kept: Result<KeptAssessment, string>): Content {
  if (!kept.ok) return null
  const { verdict, judged } = kept.value
  const { endpoints, fields, params } = verdict.blast_radius
  const { declared, observed } = judged.reach
  return html`<section aria-labelledby="reach">
    <h2 id="reach">Reach and risk</h2>
    <div class="card pad stack">
      ${facts([
        ['Touched', `${counted(endpoints, 'endpoint')}, ${counted(fields, 'field')}, ${counted(params, 'parameter')}`],
        ['Consumers', consumersText(declared, observed)],
      ])}
      <div class="scroll" tabindex="0" role="group" aria-label="Risk">
        <table>
          <caption class="hidden">
            Risk by factor
          </caption>
          <thead>
            <tr>
              <th scope="col">Factor</th>
              <th scope="col">Why</th>
              <th scope="col" class="number">Points</th>
            </tr>
          </thead>
          <tbody>
            ${verdict.risk_factors.map(
              ({ id, because, points, weight }) =>
                html`<tr>
                  <td>${id.replaceAll('_', ' ')}${meter(points, weight, points * 2 > weight ? 'bad' : 'warn')}</td>
                  <td class="muted">${because}</td>
                  <td class="number nowrap">${points} of ${weight}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>
  </section>`
}

function consumersText(declared: readonly string[] | null, observed: readonly string[] | null): string {
  const names = [...new Set([...(declared ?? []), ...(observed ?? [])])]
  if (declared === null && observed === null) return 'not known'
  if (names.length === 0) return 'none of the known ones'
  const shown = names.slice(0, 20).join(', ')
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown
}

const STEP_WORDS = { grant: 'granted, one of several', comment: 'commented', moot: 'ended it' } as const

function discussion({ csrf, now }: Visit, row: ApprovalRow, steps: readonly ApprovalStep[], names: Holders): Markup {
  return html`<section aria-labelledby="steps">
    <h2 id="steps">Grants and comments</h2>
    <div class="card pad stack">
      ${
        steps.length === 0
          ? html`<p class="muted">None yet.</p>`
          : html`<ol class="timeline">
              ${steps.map(
                ({ kind, by, text, at }) =>
                  html`<li>
                    <div>
                      <span><strong>${personName(by, names)}</strong> ${STEP_WORDS[kind]}</span>
                      ${text === '' ? null : html`<span>“${text}”</span>`}
                      <small class="muted">${moment(at, now)}</small>
                    </div>
                  </li>`,
              )}
            </ol>`
      }
      <form method="post" action="/console/approvals/${row.approvalId}">
        ${csrfField(csrf)}
        <label>Your note<textarea name="text" required maxlength="1000"></textarea></label>
        <div><button name="state" value="comment">Add note</button></div>
      </form>
    </div>
  </section>`
}

function about(row: ApprovalRow, names: Holders, now: number, needed: number): Markup {
  return facts([
    [
      'Asked by',
      row.requesters.length === 0
        ? 'a call without a key'
        : row.requesters.map((id) => personName(id, names)).join(', '),
    ],
    ['Opened', moment(row.openedAt, now)],
    ['Expires', row.result === null ? moment(row.expiresAt, now) : null],
    ['Who may grant', row.approvers.length === 0 ? 'every approver' : `an approver of ${approverWords(row.approvers)}`],
    ['People needed', needed === 1 ? null : String(needed)],
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
}

function outcome({ result, endedAt }: ApprovalRow, names: Holders, now: number): Markup {
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

function decideForm({ visitor, csrf, settings }: Visit, row: ApprovalRow, id: string): Markup {
  const { four_eyes: isFourEyes, validity } = settings.config.approvals
  if (!hasRight(visitor, 'approve')) return notice('info', 'Your role may read this request. An approver decides it.')
  if (isFourEyes && row.requesters.includes(visitor.audience))
    return notice(
      'warn',
      html`<strong>Somebody else has to decide</strong>
        <p>You asked for this approval (four eyes).</p>`,
    )
  const isOfGroup = mayGrant(row.approvers, visitor.groups)
  return html`<form class="card pad" method="post" action="/console/approvals/${id}">
    ${csrfField(csrf)}
    <h2>Decide</h2>
    ${
      isOfGroup
        ? html`<p class="hint">
            A grant lets this change continue under monitoring. It covers exactly this change and this place, until it
            ends.
          </p>`
        : notice('warn', `Only an approver of ${approverWords(row.approvers)} may grant it. You may deny it.`)
    }
    <label
      >Comment
      <textarea name="comment" maxlength="1000"></textarea>
      <span class="hint">The reason. It stays with the request.</span>
    </label>
    ${
      isOfGroup
        ? html`<label
            >Valid for
            <select name="validity">
              ${validities(validity).map(([seconds, text]) => html`<option value="${seconds}">${text}</option>`)}
            </select></label
          >`
        : null
    }
    <div class="actions">
      ${isOfGroup ? html`<button class="primary" name="state" value="granted">Grant</button>` : null}
      <button class="danger" name="state" value="denied">Deny</button>
    </div>
  </form>`
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
  const named = DURATIONS.find(([seconds]) => seconds === most)?.[1] ?? counted(Math.round(most / 60), 'minute')
  return [[most, named], ...below]
}

export const decideApproval: Page = async (visit) => {
  const { params, form, visitor, settings, deps, now } = visit
  const { tenant, audience: by, groups } = visitor
  const id = params['id'] ?? ''
  const page = `/console/approvals/${encodeURIComponent(id)}`
  if (form.get('state') === 'comment') {
    const text = (form.get('text') ?? '').trim().slice(0, 1000)
    if (text === '') throw new GatewayError('INVALID_INPUT', 'Write a comment.')
    await commentOn(id, text, visitor, deps)
    return { kind: 'redirect', to: `${page}#steps` }
  }
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not decide requests.')
  const state = form.get('state')
  if (state !== 'granted' && state !== 'denied') throw new GatewayError('INVALID_INPUT', 'Choose Grant or Deny.')
  const seconds = Number(form.get('validity') ?? Number.NaN)
  const validity = Number.isInteger(seconds) && seconds > 0 ? seconds : null
  const comment = (form.get('comment') ?? '').slice(0, 1000)
  const word = { state, tenant, approvalId: id, by, groups, comment, validity, at: now } as const
  await decideRequest(word, settings.config, `console:${id}`, deps)
  return { kind: 'redirect', to: `${page}?done=1` }
}
