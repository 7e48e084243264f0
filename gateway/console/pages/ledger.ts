/** Search in the ledger: decisions, or calls, by every filter that the API has, page by page. */
import { DECISIONS, Type } from '../../../engine/base.ts'
import { ledgerLines, type LedgerExport } from '../../api/routes/ledger.ts'
import { ID_PATTERN, TRACE_ID_PATTERN } from '../../api/schemas/shapes.ts'
import { EFFECTS } from '../../store/calls.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { decisionBadge, DECISION_WORDS, empty, head, moment, receiptBadge, shortDigest, table, tabs } from '../parts.ts'
import { queryMistake, searchText } from '../query.ts'
import { decisionLink, decisionTitle } from '../subject.ts'
import type { ConsolePage, Visit } from '../visit.ts'

const SHOWN = 50

export const ledger: ConsolePage = async (visit) => {
  const isCalls = visit.query.get('records') === 'calls'
  const [{ rows, older }, chain] = await Promise.all([
    isCalls ? callRows(visit) : decisionRows(visit),
    chainState(visit),
  ])
  const body = html`${head({ title: 'Ledger', lede: 'Decisions and calls, newest first. No entry is ever changed; retention and pruning remove the oldest.' })}
    <section aria-label="Search">
      ${ledgerSearch(visit)}
      <p class="title small">
        <span class="muted">${chain}</span><a href="${exportAddress(visit)}" download>Export what matches</a>
      </p>
      ${rows ?? empty('Nothing matches', 'Remove a filter, or widen the time.')}
      ${older === null ? null : html`<p><a href="${older}">Older entries</a></p>`}
    </section>`
  return { kind: 'page', title: 'Ledger', body }
}

export function ledgerSearch(visit: Visit): Markup {
  const isCalls = visit.query.get('records') === 'calls'
  return html`${tabs({ label: 'Records', path: visit.path, name: 'records', current: isCalls ? 'calls' : '' }, [
    ['', 'Decisions'],
    ['calls', 'Calls'],
  ])}
  ${filters(visit, isCalls)}`
}

/** The entries of the chain of this gateway that are kept, and whether they are signed. */
async function chainState({ deps, now }: Visit): Promise<Content> {
  const head = await deps.store.ledger.head()
  if (head === null) return 'The chain of the ledger is missing: run preflight ledger verify.'
  const [signed, cut] = await Promise.all([
    deps.store.ledger.newestCheckpoint(head.chain),
    deps.store.ledger.newestCut(head.chain),
  ])
  const state =
    signed === null
      ? 'not signed yet'
      : signed.sequence === head.sequence
        ? html`all of it signed ${moment(signed.at, now)}`
        : html`signed up to entry ${signed.sequence.toLocaleString('en')}, ${moment(signed.at, now)}`
  const kept =
    cut === null
      ? html`${head.sequence.toLocaleString('en')} entries, none removed`
      : html`entries ${(cut.sequence + 1).toLocaleString('en')} to ${head.sequence.toLocaleString('en')}, the earlier
        ones removed ${moment(cut.at, now)}`
  return html`Chain ${shortDigest(head.chain)}: ${kept}, head ${shortDigest(head.hash)}, ${state}. Verify with
    <code>preflight ledger verify</code>.`
}

function exportAddress({ query }: Visit): string {
  const kept = new URLSearchParams(query)
  kept.delete('before')
  return `/console/ledger/export?${kept.toString()}`
}

/** Every matching entry as lines of JSON, as the API exports them. */
export const exportLedger: ConsolePage = ({ query, visitor, deps }) => {
  const records = query.get('records') === 'calls' ? 'calls' : 'decisions'
  const texts = filterFields(query, COMMON_FILTERS)
  const common = {
    records,
    ...(texts.route !== undefined && { route: texts.route }),
    ...(texts.traceId !== undefined && { trace_id: texts.traceId }),
    ...(texts.from !== undefined && { from: new Date(texts.from).toISOString() }),
    ...(texts.to !== undefined && { to: new Date(texts.to).toISOString() }),
  } as const
  const own = records === 'calls' ? ofCalls(query) : ofDecisions(query)
  const lines = ledgerLines({ ...common, ...own }, visitor, deps.store)
  return Promise.resolve({ kind: 'lines', name: `${records}.ndjson`, lines })
}

function ofDecisions(query: URLSearchParams): LedgerExport {
  const { repository, operation, environment } = filterFields(query, DECISION_FILTERS)
  const decision = DECISIONS.find((known) => known === query.get('decision'))
  return {
    ...(repository !== undefined && { repository }),
    ...(operation !== undefined && { operation }),
    ...(environment !== undefined && { environment }),
    ...(decision !== undefined && { decision }),
  }
}

function ofCalls(query: URLSearchParams): LedgerExport {
  const { correlationId } = filterFields(query, ['correlationId'])
  const effect = EFFECTS.find((known) => known === query.get('effect'))
  return {
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(effect !== undefined && { effect }),
  }
}

interface FoundEntries {
  readonly rows: Markup | null
  /** Address of the next page. */
  readonly older: string | null
}

async function decisionRows(visit: Visit): Promise<FoundEntries> {
  const { query, visitor, deps, now } = visit
  const decision = DECISIONS.find((known) => known === query.get('decision'))
  const filter = filterFields(query, [...DECISION_FILTERS, ...COMMON_FILTERS])
  const rows = await deps.store.decisions.list({
    tenant: visitor.tenant,
    limit: SHOWN,
    ...filter,
    ...(decision !== undefined && { decision }),
  })
  const last = rows.length === SHOWN ? rows.at(-1) : undefined
  return {
    older: last === undefined ? null : ledgerAddress(visit, { before: String(last.sequence) }),
    rows:
      rows.length === 0
        ? null
        : table({
            caption: 'Decisions',
            columns: [
              ['Decision', 'tight'],
              ['What', ''],
              ['Route', ''],
              ['Receipt', 'tight'],
              ['When', 'tight'],
            ],
            rows: rows.map((row) => [
              decisionBadge(row.decision),
              decisionLink(row.decisionId, decisionTitle(row)),
              row.route ?? 'API',
              receiptBadge(row, now),
              moment(row.evaluatedAt, now),
            ]),
          }),
  }
}

async function callRows(visit: Visit): Promise<FoundEntries> {
  const { query, visitor, deps, now } = visit
  const effect = EFFECTS.find((known) => known === query.get('effect'))
  const filter = filterFields(query, ['correlationId', ...COMMON_FILTERS])
  const page = await deps.store.calls.list({
    tenant: visitor.tenant,
    limit: SHOWN,
    ...filter,
    ...(effect !== undefined && { effect }),
  })
  return {
    older: page.next === null ? null : ledgerAddress(visit, { before: String(page.next) }),
    rows:
      page.rows.length === 0
        ? null
        : table({
            caption: 'Calls',
            columns: [
              ['Outcome', 'tight'],
              ['Call', ''],
              ['Route', ''],
              ['When', 'tight'],
            ],
            rows: page.rows.map(({ effect: what, decisionId, action, route, at, violations }) => [
              what ?? '',
              html`${decisionId === null ? html`<code>${action}</code>` : decisionLink(decisionId, html`<code>${action}</code>`)}
              ${violations === null ? null : html`<p class="muted small">${violations.slice(0, 3).map(({ where, message }) => html`${where}: ${message} `)}</p>`}`,
              route,
              moment(at, now),
            ]),
          }),
  }
}

const DECISION_FILTERS = ['repository', 'operation', 'environment'] as const
const COMMON_FILTERS = ['route', 'traceId'] as const
type TextFilter = (typeof DECISION_FILTERS | typeof COMMON_FILTERS)[number] | 'correlationId'

/** Filters that only one kind of record has. */
const FOREIGN = { decisions: ['effect', 'correlationId'], calls: ['decision', ...DECISION_FILTERS] } as const

export const LEDGER_QUERY = Type.Object({
  records: Type.Optional(Type.Enum(['decisions', 'calls'])),
  decision: Type.Optional(Type.Enum(DECISIONS)),
  effect: Type.Optional(Type.Enum([...EFFECTS])),
  repository: searchText(300),
  operation: searchText(300),
  environment: searchText(300),
  route: searchText(300),
  correlationId: Type.Optional(Type.String({ pattern: ID_PATTERN })),
  traceId: Type.Optional(Type.String({ pattern: TRACE_ID_PATTERN })),
  from: searchText(300),
  to: searchText(300),
  before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
})

/** @throws GatewayError INVALID_INPUT */
function filterFields<Name extends TextFilter>(query: URLSearchParams, names: readonly Name[]) {
  const records = query.get('records') === 'calls' ? 'calls' : 'decisions'
  const foreign = FOREIGN[records].find((name) => query.has(name))
  if (foreign !== undefined) throw queryMistake(foreign, `is not a filter of ${records}`)
  const texts: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null) texts[name] = value
  }
  const [from, to] = [givenInstant('from', query), givenInstant('to', query)]
  if (from !== null && to !== null && from >= to) throw queryMistake('from', 'must be before to')
  const before = query.get('before')
  return {
    ...texts,
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(before !== null && { before: Number(before) }),
  }
}

/** Fields of the browser have no zone: they are UTC here, as everywhere in the ledger. */
function givenInstant(name: 'from' | 'to', query: URLSearchParams): number | null {
  const text = query.get(name)
  if (text === null) return null
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN
  // The 31st of June is read as the first of July.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text))
    throw queryMistake(name, 'must be a date and time of UTC, such as 2026-01-31T12:00')
  return at
}

function ledgerAddress({ path, query }: Visit, further: Readonly<Record<string, string>>): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(further)) next.set(name, value)
  return `${path}?${next.toString()}`
}

function filters({ query, path }: Visit, isCalls: boolean): Markup {
  const field = (name: TextFilter, label: string) =>
    html`<label>${label}<input name="${name}" value="${query.get(name) ?? ''}" maxlength="300" /></label>`
  const time = (name: 'from' | 'to', label: string) =>
    html`<label>${label}<input type="datetime-local" name="${name}" value="${query.get(name) ?? ''}" /></label>`
  return html`<form class="filters" method="get" action="${path}">
    ${
      isCalls
        ? html`<input type="hidden" name="records" value="calls" />${choice(
              'effect',
              'Outcome',
              query,
              EFFECTS.map((effect) => [effect, effect]),
            )}
            ${field('correlationId', 'Correlation')}`
        : html`${choice(
            'decision',
            'Decision',
            query,
            DECISIONS.map((decision) => [decision, DECISION_WORDS[decision].text]),
          )}
          ${field('operation', 'Operation')} ${field('repository', 'Repository')} ${field('environment', 'Environment')}`
    }
    ${field('route', 'Route')} ${field('traceId', 'Trace')}
    <div class="times">${time('from', 'From (UTC)')} ${time('to', 'To (UTC)')}<button>Search</button></div>
  </form>`
}

function choice(
  name: string,
  label: string,
  query: URLSearchParams,
  choices: readonly (readonly [value: string, text: string])[],
): Content {
  const current = query.get(name) ?? ''
  return html`<label
    >${label}<select name="${name}">
      <option value="">any</option>
      ${choices.map(([value, text]) =>
        value === current
          ? html`<option value="${value}" selected>${text}</option>`
          : html`<option value="${value}">${text}</option>`,
      )}
    </select></label
  >`
}
