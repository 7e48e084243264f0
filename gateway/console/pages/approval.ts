/** One request for approval: why it is held, what changed, whom it reaches, who may decide, and the decision itself. */
import { approvalState } from '../../approvals/request.ts'
import { GatewayError } from '../../errors/errors.ts'
import { keptAssessment, type KeptAssessment } from '../../flow/kept-assessment.ts'
import { choiceIn, choiceKey, type ApprovalChoice } from '../../notifications/choice-link.ts'
import type { ApprovalRow, ApprovalStep } from '../../store/approvals.ts'
import type { HistoryRow } from '../../store/decisions.ts'
import type { Result } from '../../../engine/internal.ts'
import { Type } from '../../../engine/base.ts'
import { about, decideForm, handOverForm, outcome, progress } from './approval-decide.ts'
import { findingsList } from '../findings.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { holders, personName, type Holders } from '../people.ts'
import { countedNoun, csrfField, decisionBadge, facts, head, moment, notice, stateBadge, table } from '../parts.ts'
import { DONE, searchText } from '../query.ts'
import { message, meter, requestTitle, summaryText } from '../subject.ts'
import type { ConsolePage, Visit } from '../visit.ts'

export const showApproval: ConsolePage = async (visit) => {
  const { visitor, now, deps, query } = visit
  const row = await approvalRequest(visit)
  const { tenant } = visitor
  const decision = await deps.store.decisions.byId(tenant, row.decisionId)
  const [kept, names, scope, steps] = await Promise.all([
    decision === null
      ? ({ ok: false, problem: 'its decision is no longer stored' } as const)
      : keptAssessment(decision, { settings: visit.settings, flow: deps.flow, store: deps.store }),
    holders(tenant, deps.store),
    decision === null
      ? []
      : deps.store.decisions.history({ tenant, supersessionKey: decision.supersessionKey, since: 0, limit: 8 }),
    deps.store.approvals.steps(tenant, row.approvalId),
  ])
  const others = scope.filter(({ evaluatedAt }) => evaluatedAt !== decision?.evaluatedAt)
  const state = approvalState(row, now)
  const title = requestTitle(row)
  const body = html`${head({
      title: title.markup,
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
          ${why(visit, row, kept)}
        </section>
        <section aria-labelledby="changes">
          <div class="title">
            <h2 id="changes">What changes</h2>
            <a href="/console/decisions/${row.decisionId}">The decision</a>
          </div>
          ${findingsOf(kept)}
        </section>
        ${reachLine(kept)} ${discussion(visit, row, steps, names)} ${otherDecisions(others, row, now)}
      </div>
      <aside class="rail" id="decide" aria-label="Decide">
        ${state === 'pending' ? decideForm(visit, row, await choiceOf(visit, row)) : outcome(row, names, now)}
        ${progress(visit, row, names)} ${state === 'pending' ? await handOverForm(visit, row) : null}
        <div class="card pad">${about(row, names, now)}</div>
      </aside>
    </div>`
  return { kind: 'page', title: title.text, isLive: true, body }
}

function otherDecisions(rows: readonly HistoryRow[], { inputFingerprint }: ApprovalRow, now: number): Content {
  if (rows.length === 0) return null
  return html`<section aria-labelledby="history">
    <h2 id="history">Other decisions of this scope</h2>
    <div class="card pad">
      <ol class="timeline">
        ${rows.map(
          (row) =>
            html`<li>
              <div>
                <span>${decisionBadge(row.decision)}</span>
                <small class="muted"
                  >${moment(row.evaluatedAt, now)}${row.inputFingerprint === inputFingerprint ? ', the same change' : ', another change'}</small
                >
              </div>
            </li>`,
        )}
      </ol>
    </div>
  </section>`
}

/** A link of a message whose choice does not hold says so on the page. */
export const APPROVAL_QUERY = Type.Object({
  done: DONE,
  choice: searchText(300),
  until: searchText(300),
  signature: searchText(300),
})

/** What the link of a message chose. */
async function choiceOf(
  { query, deps, now }: Visit,
  { approvalId }: ApprovalRow,
): Promise<ApprovalChoice | 'void' | null> {
  return query.has('choice') ? choiceIn(query, approvalId, await choiceKey(deps.store), now) : null
}

async function approvalRequest({ params, visitor, deps }: Visit): Promise<ApprovalRow> {
  const row = await deps.store.approvals.byId(visitor.tenant, params['id'] ?? '')
  if (row === null) throw new GatewayError('NOT_FOUND', 'There is no such request for approval.')
  return row
}

function storedReasons({ reasons }: ApprovalRow): readonly { readonly code: string; readonly message: string }[] {
  const listed: unknown = JSON.parse(reasons)
  const rows: readonly unknown[] = Array.isArray(listed) ? listed : []
  return rows.flatMap((row) =>
    typeof row === 'object' && row !== null && 'code' in row && 'message' in row
      ? [{ code: String(row.code), message: String(row.message) }]
      : [],
  )
}

/** The rules that ask, once each; what they found follows below. */
function why({ settings }: Visit, row: ApprovalRow, kept: Result<KeptAssessment, string>): Markup {
  const asked = kept.ok ? askedBy(kept.value) : []
  if (asked.length === 0)
    return html`<ul class="card list">
      ${storedReasons(row).map(
        (reason) =>
          html`<li class="entry">
            <span>${message(reason.message)}</span><span></span><span class="meta"><code>${reason.code}</code></span>
          </li>`,
      )}
    </ul>`
  const { document } = settings.policy
  return html`<ul class="card list">
    ${asked.map(({ rule, text }) => {
      const described = document.rules.find(({ id }) => id === rule)?.description ?? null
      return html`<li class="entry">
        <span><a href="/console/policies#rule-${rule}">${rule}</a> asks for an approval: ${message(text)}</span
        ><span></span>${described === null ? null : html`<span class="meta"><span>${described}</span></span>`}
      </li>`
    })}
  </ul>`
}

/** Rule of the policy → what it asks about. */
function askedBy({ judged }: KeptAssessment): readonly { readonly rule: string; readonly text: string }[] {
  const found = judged.artifacts
    .flatMap(({ judgements }) => judgements)
    .filter(({ effect }) => effect.decision === 'REQUIRE_APPROVAL')
  const rulings = judged.rulings.filter(({ decision }) => decision === 'REQUIRE_APPROVAL')
  return [
    ...rulings.map(({ ruleId, reason }) => ({ rule: ruleId, text: reason.message })),
    ...[...Map.groupBy(found, ({ effect }) => effect.ruleId)].map(([rule, rows]) => ({
      rule,
      text: rows.length === 1 ? (rows[0]?.group.message ?? '') : countedNoun(rows.length, 'change'),
    })),
  ]
}

function findingsOf(kept: Result<KeptAssessment, string>): Markup {
  if (kept.ok) return findingsList(kept.value)
  return notice('warn', `The findings cannot be shown: ${kept.problem}.`)
}

function reachLine(kept: Result<KeptAssessment, string>): Content {
  if (!kept.ok) return null
  const { verdict, judged } = kept.value
  const { endpoints, fields, params } = verdict.blast_radius
  const { declared, observed } = judged.reach
  return html`<section aria-labelledby="reach">
    <h2 id="reach">Reach and risk</h2>
    <div class="card pad stack">
      ${facts([
        [
          'Touched',
          `${countedNoun(endpoints, 'endpoint')}, ${countedNoun(fields, 'field')}, ${countedNoun(params, 'parameter')}`,
        ],
        ['Consumers', consumersText(declared, observed)],
      ])}
      ${table({
        caption: 'Risk by factor',
        isPlain: true,
        columns: [
          ['Factor', ''],
          ['Why', ''],
          ['Points', 'number'],
        ],
        rows: verdict.risk_factors.map(({ id, because, points, weight }) => [
          html`${id.replaceAll('_', ' ')}${meter(points, weight, points * 2 > weight ? 'bad' : 'warn')}`,
          html`<span class="muted">${because}</span>`,
          html`<span class="nowrap">${points} of ${weight}</span>`,
        ]),
      })}
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

const STEP_WORDS: Readonly<Record<ApprovalStep['kind'], string>> = {
  grant: 'granted',
  comment: 'commented',
  moot: 'ended it',
  acting: 'acted in place of',
  delegated: 'handed it to',
  reminder: 'reminded the channels before the end',
}
/** The text of these steps is an identity. */
const NAMING_STEPS: ReadonlySet<ApprovalStep['kind']> = new Set(['acting', 'delegated'])

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
                      <span
                        ><strong>${kind === 'reminder' ? 'The gateway' : personName(by, names)}</strong>
                        ${STEP_WORDS[kind]}${NAMING_STEPS.has(kind) ? html` <strong>${personName(text, names)}</strong>` : null}</span
                      >
                      ${text === '' || NAMING_STEPS.has(kind) ? null : html`<span>“${text}”</span>`}
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
