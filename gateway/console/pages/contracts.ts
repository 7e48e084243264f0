/** The pinned contracts, readable: what each route's upstream promised, with a search over all of them. */
import type { BaselineView } from '../../baselines/baselines.ts'
import { GatewayError } from '../../errors/errors.ts'
import { seesRoute } from '../../api/visibility.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { matches, contractOutline, searchWords, type Part } from '../outline.ts'
import { badge, clipped, countedNoun, empty, head, moment, shortDigest, table } from '../parts.ts'
import { seenRoutes, type ConsolePage } from '../visit.ts'
import { displayedContract } from '../side-by-side.ts'

const SHOWN_PARTS = 60
const SHOWN_HITS = 100
const AROUND_LINES = 200

export const listContracts: ConsolePage = async (visit) => {
  const { deps, now, query } = visit
  const views = seenRoutes(await deps.baselines.list(), visit)
  const words = searchWords(query.get('q'))
  const body = html`${head({ title: 'Contracts', lede: 'What each upstream promised. Calls are judged against exactly this.' })}
    <section aria-label="Search">
      ${searchForm('/console/contracts', query.get('q') ?? '', 'Search operations and tools of all contracts')}
      ${words.length > 0 ? hits(views, words) : contractsTable(views, now)}
    </section>`
  return { kind: 'page', title: 'Contracts', body }
}

function searchForm(path: string, value: string, label: string): Markup {
  return html`<form class="search" method="get" action="${path}" role="search">
    <label
      ><span class="hidden">${label}</span
      ><input type="search" name="q" value="${value}" maxlength="200" placeholder="${label}"
    /></label>
    <button>Search</button>
  </form>`
}

function contractAddress(route: string): string {
  return `/console/contracts/${encodeURIComponent(route)}`
}

function contractsTable(views: readonly BaselineView[], now: number): Markup {
  if (views.length === 0) return empty('No contracts yet', 'The first call of a route, or its configuration, pins one.')
  return table({
    caption: 'Contracts',
    columns: [
      ['Contract', ''],
      ['State', 'tight'],
      ['Kind', 'tight'],
      ['Pinned', 'tight'],
      ['Since', 'tight'],
    ],
    rows: views.map(({ baseline, candidate }) => [
      html`<a href="${contractAddress(baseline.route)}">${baseline.route}</a>`,
      candidate === null
        ? badge('Unchanged', 'good')
        : html`<a href="/console/routes/${encodeURIComponent(baseline.route)}"
            >${badge('Changed', 'ask')}<span class="hidden">: ${baseline.route}</span></a
          >`,
      baseline.type,
      shortDigest(baseline.digest),
      moment(baseline.setAt, now),
    ]),
  })
}

function hits(views: readonly BaselineView[], words: readonly string[]): Markup {
  const found = views.flatMap(({ baseline }) =>
    (contractOutline(baseline)?.parts ?? [])
      .filter((part) => matches(part, words))
      .map((part) => ({ route: baseline.route, part })),
  )
  if (found.length === 0) return empty('Nothing matches', 'The search looks at names, ids and descriptions.')
  return table({
    caption: 'Operations and tools that match',
    columns: [
      ['Operation or tool', ''],
      ['Contract', ''],
    ],
    rows: found.slice(0, SHOWN_HITS).map(({ route, part }) => [
      html`<a href="${contractAddress(route)}?q=${encodeURIComponent(part.name)}"><code>${part.name}</code></a>
        <p class="muted small">${clipped(part.summary, 200)}</p>`,
      route,
    ]),
  })
}

export const showContract: ConsolePage = async ({ deps, visitor, settings, params, query, now }) => {
  const name = params['name'] ?? ''
  const view = seesRoute(name, visitor, settings.config.routes) ? await deps.baselines.view(name) : null
  if (view === null) throw new GatewayError('NOT_FOUND', 'This route has no contract yet.')
  const { baseline } = view
  const outline = contractOutline(baseline)
  const about = [baseline.type, outline?.title ?? null, outline?.version ?? null].filter((text) => text !== null)
  const body = html`${head({
    title: name,
    parent: ['/console/contracts', 'Contracts'],
    lede: html`${about.join(' · ')}, pinned ${moment(baseline.setAt, now)} as ${shortDigest(baseline.digest)}`,
  })}
  ${searchForm(contractAddress(name), query.get('q') ?? '', 'Search in this contract')}
  ${
    outline === null
      ? lines(displayedContract(baseline.content), searchWords(query.get('q')))
      : parts(outline.parts, searchWords(query.get('q')))
  }
  ${
    outline === null
      ? null
      : html`<details>
          <summary>The text</summary>
          <pre class="card" tabindex="0">${displayedContract(baseline.content)}</pre>
        </details>`
  }`
  return { kind: 'page', title: name, body }
}

function parts(all: readonly Part[], words: readonly string[]): Markup {
  const found = all.filter((part) => matches(part, words))
  if (found.length === 0) return empty('Nothing matches', `The contract has ${countedNoun(all.length, 'entry')}.`)
  return html`<section aria-labelledby="parts">
    <div class="title">
      <h2 id="parts">${countedNoun(found.length, 'entry').replace('entrys', 'entries')}</h2>
      ${found.length > SHOWN_PARTS ? html`<span class="muted small">the first ${SHOWN_PARTS} are shown</span>` : null}
    </div>
    <div class="card list">${found.slice(0, SHOWN_PARTS).map((part) => partEntry(part, found.length === 1))}</div>
  </section>`
}

function partEntry(part: Part, isOpen: boolean): Markup {
  const summary = html`<summary>
    <code>${part.name}</code> ${part.isDeprecated ? badge('Deprecated', 'warn') : null}
    <span class="muted">${clipped(part.summary, 300)}</span>
  </summary>`
  const lists = part.lists().filter(({ fields }) => fields.length > 0)
  const inner = html`${summary}
  ${
    lists.length === 0
      ? html`<p class="muted">It takes and gives nothing that the contract describes.</p>`
      : lists.map(
          ({ title, fields }) =>
            html`<h3>${title}</h3>
              <dl class="fields">
                ${fields.map(
                  ({ name, type, isRequired, note }) =>
                    html`<dt>
                        <code>${name}</code>${isRequired ? html` <span class="required">required</span>` : null}
                      </dt>
                      <dd>
                        ${clipped(type, 200)}${note === '' ? null : html` <span class="muted">${clipped(note, 300)}</span>`}
                      </dd>`,
                )}
              </dl>`,
        )
  }`
  return isOpen ? html`<details class="part" open>${inner}</details>` : html`<details class="part">${inner}</details>`
}

/** A text without an outline: all of it, or the lines that match. */
function lines(text: string, words: readonly string[]): Content {
  if (words.length === 0) return html`<pre class="card" tabindex="0">${text}</pre>`
  const found = text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => words.every((word) => line.toLowerCase().includes(word)))
  if (found.length === 0) return empty('Nothing matches', 'The search looks at each line of the text.')
  return html`<pre class="card" tabindex="0">
${found
  .slice(0, AROUND_LINES)
  .map(({ line, number }) => `${String(number).padStart(6)}  ${line}`)
  .join('\n')}</pre>`
}
