/** Routes and their baselines; one route with its candidate side by side, and the promotion of a reviewed contract. */
import { countFindings, lookupTable } from '../../../engine/base.ts'
import type { BaselineView } from '../../baselines/baselines.ts'
import { promotedArtifact, routeOfBaseline } from '../../baselines/promotion.ts'
import { decidesForAll, hasRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { seesRoute } from '../../api/visibility.ts'
import { displayedContract, sideBySide } from '../side-by-side.ts'
import { plainFindings } from '../findings.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { holders, personName } from '../people.ts'
import { badge, csrfField, empty, facts, head, moment, notice, shortDigest, table } from '../parts.ts'
import { seenRoutes, type ConsolePage, type Visit } from '../visit.ts'

const SOURCES: Readonly<Record<string, string>> = lookupTable({
  file: 'a file of the configuration',
  url: 'an address of the configuration',
  git: 'a git revision',
  first_use: 'the first call',
  promotion: 'a promotion',
})

export const listRoutes: ConsolePage = async (visit) => {
  const { deps, now, settings, visitor } = visit
  const views = seenRoutes(await deps.baselines.list(), visit)
  const unseen = settings.config.routes.filter(
    ({ name }) =>
      seesRoute(name, visitor, settings.config.routes) &&
      !views.some(({ baseline }) => baseline.route.split('/', 1)[0] === name),
  )
  const body = html`${head({ title: 'Routes', lede: 'The contract that calls of each route are compared with, and what its upstream offers now.' })}
  ${
    views.length + unseen.length === 0
      ? empty('No routes', html`Add a route to the configuration: see <code>routes</code>.`)
      : table({
          caption: 'Routes',
          columns: [
            ['Route', ''],
            ['State', 'tight'],
            ['Contract', 'tight'],
            ['Baseline', 'tight'],
            ['Since', 'tight'],
          ],
          rows: [
            ...views.map(({ baseline, candidate }) => [
              html`<a href="/console/routes/${encodeURIComponent(baseline.route)}">${baseline.route}</a>`,
              candidate === null ? badge('Unchanged', 'good') : badge('Changed', 'ask'),
              baseline.type,
              shortDigest(baseline.digest),
              moment(baseline.setAt, now),
            ]),
            ...unseen.map(({ name, protocol }) => [name, badge('No call yet', 'none'), protocol, '', '']),
          ],
        })
  }`
  return { kind: 'page', title: 'Routes', isLive: true, body }
}

export const showRoute: ConsolePage = async (visit) => {
  const { deps, now, visitor, query } = visit
  const name = visit.params['name'] ?? ''
  const view = await seenRoute(visit, name)
  const { baseline, candidate } = view
  const names = await holders(visitor.tenant, deps.store)
  const body = html`${head({
      title: name,
      parent: ['/console/routes', 'Routes'],
      badges: [
        candidate === null ? badge('Unchanged', 'good') : badge('Changed', 'ask'),
        ...(candidate === null ? [] : [html`<a class="button jump" href="#accept">Accept the change</a>`]),
      ],
    })}
    ${query.has('done') ? notice('good', 'The reviewed contract is the baseline now.') : null}
    <div class="split">
      <div class="stack">${candidate === null ? contract(view) : await candidateReview(visit, view)}</div>
      <aside class="rail" id="accept" aria-label="Baseline">
        ${candidate === null ? null : promotion(visit, view, candidate.digest)}
        <div class="card pad stack">
          <h2>Contract</h2>
          ${facts([
            ['Baseline', shortDigest(baseline.digest)],
            ['Kind', baseline.type],
            ['Set by', personName(baseline.setBy, names)],
            ['From', SOURCES[baseline.source] ?? baseline.source],
            ['Since', moment(baseline.setAt, now)],
            ['Candidate', candidate === null ? null : shortDigest(candidate.digest)],
            ['First seen', candidate === null ? null : moment(candidate.seenAt, now)],
          ])}
        </div>
      </aside>
    </div>`
  return { kind: 'page', title: name, body }
}

async function seenRoute({ deps, visitor, settings }: Visit, name: string): Promise<BaselineView> {
  const isSeen = seesRoute(name, visitor, settings.config.routes)
  const view = isSeen ? await deps.baselines.view(name) : null
  if (view === null) throw new GatewayError('NOT_FOUND', 'This route has no baseline yet.')
  return view
}

function contract({ baseline }: BaselineView): Markup {
  return html`<section aria-labelledby="contract">
    <h2 id="contract">The contract</h2>
    <p class="muted">The upstream offers the baseline. Calls are judged against this text.</p>
    <pre class="card" tabindex="0">${displayedContract(baseline.content)}</pre>
  </section>`
}

async function candidateReview({ deps }: Visit, { baseline, candidate }: BaselineView): Promise<Content> {
  if (candidate === null) return null
  const comparison = await deps.flow.compare(promotedArtifact(baseline.route, baseline, candidate), {})
  const found = comparison.ok
    ? html`<p class="legend">
          ${(['breaking', 'dangerous', 'info'] as const).map(
            (level) => html`<span>${countFindings(comparison.value.groups, level)} ${level}</span>`,
          )}
        </p>
        ${plainFindings(comparison.value.groups)}`
    : notice('bad', `The two contracts cannot be compared: ${comparison.problem.message}`)
  return html`<section aria-labelledby="findings">
      <h2 id="findings">What the change means</h2>
      ${found}
    </section>
    <section aria-labelledby="texts">
      <h2 id="texts">The texts side by side</h2>
      ${sideBySide(baseline.content, candidate.content)}
    </section>`
}

function promotion({ csrf, visitor, settings }: Visit, { baseline }: BaselineView, digest: string): Markup {
  const name = baseline.route
  if (!hasRight(visitor, 'approve')) return notice('info', 'Your role may read this. An approver promotes a contract.')
  const tenants = routeOfBaseline(name, settings.config.routes)?.tenants ?? []
  if (!decidesForAll(visitor, tenants))
    return notice(
      'info',
      'This route serves other tenants too. An approver of the tenant “local” promotes its contract.',
    )
  return html`<form class="card pad" method="post" action="/console/routes/${encodeURIComponent(name)}">
    ${csrfField(csrf)}
    <input type="hidden" name="digest" value="${digest}" />
    <h2>Accept the change</h2>
    <p class="hint">
      The candidate becomes the baseline of all calls. If the policy requires an approval, this is the approval.
    </p>
    <label
      >Reason
      <textarea name="comment" maxlength="1000"></textarea>
      <span class="hint">Required where the policy asks for an approval.</span>
    </label>
    <label
      >Only these parts
      <input name="only" maxlength="4000" placeholder="tool:search, operation:getOrder" />
      <span class="hint">Separated by commas. Empty: all of it.</span>
    </label>
    <button class="primary">Promote ${digest.replace('sha256:', '').slice(0, 12)}</button>
  </form>`
}

export const promote: ConsolePage = async (visit) => {
  const { params, form, visitor, deps } = visit
  if (!hasRight(visitor, 'approve')) throw new GatewayError('FORBIDDEN', 'Your role may not promote contracts.')
  const name = params['name'] ?? ''
  await seenRoute(visit, name)
  const only = (form.get('only') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const { tenant, audience: by, groups } = visitor
  const acceptor = { tenant, by, groups, comment: (form.get('comment') ?? '').slice(0, 1000) }
  const row = await deps.baselines.promote(name, form.get('digest') ?? '', acceptor, only)
  deps.approvalDecided()
  deps.logger.info({ event: 'baseline.promoted', route: name, digest: row.digest, by }, 'baseline promoted')
  return { kind: 'redirect', to: `/console/routes/${encodeURIComponent(name)}?done=1` }
}
