/** The policy in force: its rules with what they ask and how often they fired, a change tried out, and past decisions made again. */
import { decisionChange } from '../../flow/replayed-decisions.ts'
import {
  approverWords,
  ARTIFACT_TYPES,
  canonicalArtifactType,
  EMPTY_CONTEXT,
  lookupTable,
  requiredApproval,
} from '../../../engine/base.ts'
import { judgeChangeSet, type CompiledPolicy, type Decision } from '../../../engine/internal.ts'
import { policyOf } from '../../api/policy-source.ts'
import { matchedRules } from '../../api/matched-rules.ts'
import { declaredConsumers } from '../../consumers/known.ts'
import { GatewayError } from '../../errors/errors.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { keptChangeSet } from '../../flow/replay.ts'
import type { StoredDecision } from '../../store/decisions.ts'
import { findingsList } from '../findings.ts'
import { html, type Content, type Markup } from '../markup.ts'
import {
  badge,
  countedNoun,
  csrfField,
  decisionBadge,
  empty,
  facts,
  head,
  joinedContent,
  moment,
  notice,
  shortDigest,
  table,
} from '../parts.ts'
import { message, decisionLink, decisionTitle, riskBadge, summaryText } from '../subject.ts'
import type { ConsolePage, PageReply, Visit } from '../visit.ts'

/** The newest decisions in which rules are counted. */
const COUNTED = 200
const MOST_REPLAYED = 50

export const policies: ConsolePage = (visit) => policyPage(visit, null)

type ShownRule = CompiledPolicy['document']['rules'][number]

async function policyPage(visit: Visit, result: Markup | null): Promise<PageReply> {
  const { settings, deps, visitor, now, form } = visit
  const { policy } = settings
  const { document } = policy
  const recent = await deps.store.decisions.list({ tenant: visitor.tenant, limit: COUNTED })
  const fired = firedRules(recent)
  const body = html`${head({
      title: 'Policies',
      badges: [badge(policy.mode === 'observe' ? 'Observes' : 'Enforced', policy.mode === 'observe' ? 'warn' : 'good')],
      lede: html`The pack <strong>${policy.name}</strong> (${shortDigest(policy.hash)}) decides.
        ${document.metadata.description ?? ''}`,
    })}
    ${result}
    <div class="split">
      <div class="stack">
        <section aria-labelledby="rules">
          <div class="title">
            <h2 id="rules">Rules</h2>
            <span class="muted small">counted over the newest ${countedNoun(recent.length, 'decision')}</span>
          </div>
          <ul class="card list">
            ${document.rules.map((rule) => ruleEntry(rule, fired.get(rule.id), now))}
          </ul>
          <p class="muted small">The strictest of all rules and findings decides. What no rule matches is allowed.</p>
        </section>
        ${freezes(policy, now)} ${waivers(policy, now)}
      </div>
      <aside class="rail" aria-label="Try it">${simulateForm(visit, form)} ${replayForm(visit, form)}</aside>
    </div>`
  return { kind: 'page', title: 'Policies', body }
}

interface Fired {
  readonly count: number
  readonly last: number
}

/** Rule → how often it decided, and when last. The evidence of a decision names its rules as PACK/RULE. */
function firedRules(rows: readonly StoredDecision[]): ReadonlyMap<string, Fired> {
  const fired = new Map<string, Fired>()
  for (const { envelope, evaluatedAt } of rows)
    for (const rule of new Set(ruleIdsIn(JSON.parse(envelope)))) {
      const known = fired.get(rule)
      fired.set(rule, { count: (known?.count ?? 0) + 1, last: Math.max(known?.last ?? 0, evaluatedAt) })
    }
  return fired
}

function ruleIdsIn(envelope: unknown): readonly string[] {
  const evidence = isJsonObject(envelope) ? envelope['evidence'] : null
  const rows: readonly unknown[] = Array.isArray(evidence) ? evidence : []
  return rows.flatMap((row) => {
    if (!isJsonObject(row) || row['type'] !== 'POLICY_RULE' || typeof row['source'] !== 'string') return []
    return row['source'].includes('/') ? [row['source'].slice(row['source'].indexOf('/') + 1)] : []
  })
}

function ruleEntry(rule: ShownRule, fired: Fired | undefined, now: number): Markup {
  const required = requiredApproval(rule)
  const where = [
    ...(rule.environments ?? []).map((name) => `in ${name}`),
    ...(rule.operations ?? []).map((name) => `for ${name}`),
    ...(required === null ? [] : [`needs ${approverWords([required])}`]),
    ...(rule.owner === undefined ? [] : [`owner ${rule.owner}`]),
  ]
  return html`<li class="entry" id="rule-${rule.id}">
    <span><strong>${rule.id}</strong>${rule.mode === 'observe' ? html` ${badge('Observes', 'warn')}` : null}</span>
    <span>${decisionBadge(rule.then)}</span>
    ${rule.description === undefined ? null : html`<span class="meta"><span>${rule.description}</span></span>`}
    <code class="whole">${rule.when}</code>
    <span class="meta"
      >${where.map((text) => html`<span>${text}</span>`)}<span
        >${fired === undefined ? 'not fired' : html`fired ${fired.count} ×, last ${moment(fired.last, now)}`}</span
      ></span
    >
  </li>`
}

function freezes({ document }: CompiledPolicy, now: number): Content {
  const rows = document.freezes ?? []
  if (rows.length === 0) return null
  return html`<section aria-labelledby="freezes">
    <h2 id="freezes">Freeze windows</h2>
    ${table({
      caption: 'Freeze windows',
      columns: [
        ['Window', ''],
        ['Operations', ''],
        ['From', 'tight'],
        ['Until', 'tight'],
      ],
      rows: rows.map(({ id, reason, operations, from, until }) => [
        html`<strong>${id}</strong> <span class="muted">${reason}</span>`,
        operations.join(', '),
        moment(Date.parse(from), now),
        moment(Date.parse(until), now),
      ]),
    })}
  </section>`
}

function waivers({ document }: CompiledPolicy, now: number): Content {
  const rows = document.waivers ?? []
  if (rows.length === 0) return null
  return html`<section aria-labelledby="waivers">
    <h2 id="waivers">Waivers</h2>
    ${table({
      caption: 'Waivers',
      columns: [
        ['Waiver', ''],
        ['Covers', ''],
        ['Owner', ''],
        ['Ends', 'tight'],
      ],
      rows: rows.map(({ id, reason, rule, location, fingerprint, owner, expires }) => [
        html`<strong>${id}</strong> <span class="muted">${reason}</span>`,
        joinedContent(
          [rule, location, fingerprint].filter((text) => text !== undefined).map((text) => html`<code>${text}</code>`),
          ' ',
        ),
        owner,
        moment(Date.parse(expires), now),
      ]),
    })}
  </section>`
}

function packField(form: URLSearchParams): Markup {
  return html`<label
    >Pack
    <textarea name="policy" class="pack" maxlength="262144" spellcheck="false" placeholder="YAML of a pack">
${form.get('policy') ?? ''}</textarea>
    <span class="hint">Empty: the present policy.</span>
  </label>`
}

function simulateForm({ csrf }: Visit, form: URLSearchParams): Markup {
  const field = (name: string, label: string) =>
    html`<label>${label}<input name="${name}" maxlength="200" value="${form.get(name) ?? ''}" /></label>`
  const text = (name: string, label: string) =>
    html`<label>${label}<textarea name="${name}" required spellcheck="false">${form.get(name) ?? ''}</textarea></label>`
  const type = form.get('type') ?? 'openapi'
  return html`<details class="card pad" ${form.has('base') ? html`open` : null}>
    <summary>Try a change</summary>
    <form method="post" action="/console/policies/simulate">
      ${csrfField(csrf)}
      <p class="hint">What the policy would decide. Nothing is recorded, and it permits nothing.</p>
      <label
        >Kind
        <select name="type">
          ${ARTIFACT_TYPES.map((known) =>
            known === type
              ? html`<option value="${known}" selected>${known}</option>`
              : html`<option value="${known}">${known}</option>`,
          )}
        </select>
      </label>
      ${text('base', 'Contract before')} ${text('head', 'Contract after')} ${field('operation', 'Operation')}
      ${field('environment', 'Environment')} ${field('repository', 'Repository')} ${packField(form)}
      <button class="primary">Try it</button>
    </form>
  </details>`
}

function replayForm({ csrf }: Visit, form: URLSearchParams): Markup {
  return html`<details class="card pad" ${form.has('count') ? html`open` : null}>
    <summary>Decide past changes again</summary>
    <form method="post" action="/console/policies/replay">
      ${csrfField(csrf)}
      <p class="hint">
        Under another pack, with the contracts of that time. History, consumers and the clock are those of now;
        <code>preflight policy replay</code> uses those of then.
      </p>
      <label
        >Newest decisions
        <input
          name="count"
          type="number"
          min="1"
          max="${MOST_REPLAYED}"
          value="${form.get('count') ?? '20'}"
          required
        />
      </label>
      <label>Since (UTC)<input type="datetime-local" name="since" value="${form.get('since') ?? ''}" /></label>
      <label>Until (UTC)<input type="datetime-local" name="until" value="${form.get('until') ?? ''}" /></label>
      ${packField(form)}
      <button class="primary">Decide again</button>
    </form>
  </details>`
}

/** @throws GatewayError INVALID_INPUT with every mistake */
function packOf({ form, settings }: Visit): CompiledPolicy {
  const text = (form.get('policy') ?? '').trim()
  return text === '' ? settings.policy : policyOf(text)
}

export const simulateChange: ConsolePage = async (visit) => {
  const { form, deps, settings, now } = visit
  const type = canonicalArtifactType(form.get('type') ?? '')
  if (type === null) throw new GatewayError('INVALID_INPUT', 'Choose the kind of the contract.')
  const value = (name: string) => {
    const text = (form.get(name) ?? '').trim().slice(0, 200)
    return text === '' ? null : text
  }
  const policy = packOf(visit)
  const artifact = { id: 'contract', type, before: form.get('base') ?? '', after: form.get('head') ?? '' }
  const context = {
    ...EMPTY_CONTEXT,
    operation: value('operation'),
    environment: value('environment'),
    repository: value('repository'),
  }
  const { verdict, analyses } = await deps.flow.analyze({ artifacts: [artifact], context, scope: null, policy })
  const consumers = declaredConsumers(settings.config)
  const judged = judgeChangeSet(analyses, { policy, context, scope: null, now: Math.floor(now / 1000), consumers })
  const rules = matchedRules(judged)
  const result = html`<section aria-labelledby="result">
    <div class="title">
      <h2 id="result">What ${policy.name} would decide</h2>
      <span>${decisionBadge(verdict.decision)} ${riskBadge(verdict.risk_score)}</span>
    </div>
    <div class="card pad stack">
      <p>${message(summaryText(verdict.summary))}</p>
      ${facts([
        [
          'Matched rules',
          rules.length === 0
            ? 'none'
            : joinedContent(
                rules.map(({ rule, findings }) => html`<code>${rule}</code> (${findings})`),
                ', ',
              ),
        ],
        ['Not complete', verdict.degraded_reasons.map((reason) => reason.message).join('; ')],
      ])}
    </div>
    ${findingsList({ judged, artifacts: [artifact] })}
  </section>`
  return policyPage(visit, result)
}

const CHANGES = lookupTable({ same: 'the same', stricter: 'stricter', laxer: 'less strict' })

export const replayDecisions: ConsolePage = async (visit) => {
  const { form, deps, visitor, now } = visit
  const count = Math.min(MOST_REPLAYED, Math.max(1, Number(form.get('count')) || 1))
  const [since, until] = ['since', 'until'].map((name) => Date.parse(`${form.get(name) ?? ''}Z`))
  const policy = packOf(visit)
  const rows = await deps.store.decisions.list({
    tenant: visitor.tenant,
    limit: count,
    ...(Number.isFinite(since) && { from: since }),
    ...(Number.isFinite(until) && { to: until }),
  })
  const made = await Promise.all(rows.map(async (row) => ({ row, would: await decidedAgain(row, policy, visit) })))
  const changed = made.filter(({ row, would }) => typeof would === 'object' && would.decision !== row.decision)
  const unknown = made.filter(({ would }) => typeof would === 'string')
  const result = html`<section aria-labelledby="result">
    <h2 id="result">${countedNoun(rows.length, 'decision')} under ${policy.name}</h2>
    ${notice(
      changed.length === 0 ? 'good' : 'warn',
      `${changed.length} would be decided differently.${unknown.length === 0 ? '' : ` ${unknown.length} could not be made again.`}`,
    )}
    ${
      made.length === 0
        ? empty('No decisions', 'There is nothing in this time.')
        : table({
            caption: 'Decisions made again',
            columns: [
              ['What', ''],
              ['Then', 'tight'],
              ['Now', 'tight'],
              ['Change', ''],
              ['When', 'tight'],
            ],
            rows: made.map(({ row, would }) => [
              decisionLink(row.decisionId, decisionTitle(row)),
              decisionBadge(row.decision),
              typeof would === 'string' ? badge('Unknown', 'none') : decisionBadge(would.decision),
              typeof would === 'string'
                ? html`<span class="muted small">${would}</span>`
                : (CHANGES[decisionChange(row.decision, would.decision)] ?? ''),
              moment(row.evaluatedAt, now),
            ]),
          })
    }
  </section>`
  return policyPage(visit, result)
}

/** The decision, or the reason why there is none. */
async function decidedAgain(
  row: StoredDecision,
  policy: CompiledPolicy,
  { deps }: Visit,
): Promise<{ readonly decision: Decision } | string> {
  const found = await keptChangeSet(row.decisionId, deps.store)
  if (!found.ok) return found.problem
  const { kept, artifacts } = found.value
  const unreadable = kept.failed.filter(({ id }) => !artifacts.some((artifact) => artifact.id === id))
  const { context, scope, route } = kept
  const { verdict } = await deps.flow.analyze({ artifacts, unreadable, context, scope, route, policy })
  return verdict
}
