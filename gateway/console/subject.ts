/** How a request or decision is named for people, and how high its risk is. */
import { lookupTable } from '../../engine/base.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { jsonOrNull } from '../json/unchecked-json.ts'
import { html, type Content, type Markup } from './markup.ts'
import { badge } from './parts.ts'

interface NamedRequest {
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly targetId?: string | null
  readonly pullRequest?: string | null
  readonly route: string | null
}

const OPERATION_WORDS: Readonly<Record<string, string>> = lookupTable({ tool_call: 'call' })

/** A summary without the decision at its start: a badge states it. */
export function summaryText(summary: string): string {
  return sentence(summary.replace(/^[A-Z_]+: /, ''))
}

/** With a capital letter at its start. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A message with its quoted names as code. */
export function message(text: string): Content {
  return sentence(text)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

interface RequestTitle {
  /** `Merge acme/shop #7`, `Call GET /orders → production`. */
  readonly text: string
  /** The same. A name in a script that runs from right to left does not reorder the rest. */
  readonly markup: Content
}

export function requestTitle(named: NamedRequest): RequestTitle {
  const { operation, environment, repository, targetId, pullRequest, route } = named
  const prefix = route === null ? '' : `${route}/`
  const target = targetId?.startsWith(prefix) === true ? targetId.slice(prefix.length) : (targetId ?? null)
  const what = repository ?? target ?? route ?? 'a change'
  const request = pullRequest === null || pullRequest === undefined ? '' : ` #${pullRequest}`
  const verb = sentence(operation === null ? 'change' : (OPERATION_WORDS[operation] ?? operation))
  return {
    text: `${verb} ${what}${request}${environment === null ? '' : ` → ${environment}`}`,
    markup: [verb, ' ', isolated(what), request, ...(environment === null ? [] : [' → ', isolated(environment)])],
  }
}

function isolated(name: string): Markup {
  return html`<bdi>${name}</bdi>`
}

/** The same of a stored decision: its envelope alone names the target, such as the tool of a call. */
export function decisionTitle(row: NamedRequest & { readonly envelope: string }): Content {
  const envelope = jsonOrNull(row.envelope)
  const target = isJsonObject(envelope) ? envelope['target_id'] : null
  return requestTitle({ ...row, targetId: typeof target === 'string' ? target : null }).markup
}

/** Rows with one title lead to different decisions: whoever hears the links one by one hears the id too. */
export function decisionLink(decisionId: string, title: Content): Markup {
  return html`<a href="/console/decisions/${decisionId}"
    >${title}<span class="hidden">, decision ${decisionId}</span></a
  >`
}

export function riskBadge(score: number): Markup {
  return badge(`Risk ${score}`, score >= 70 ? 'bad' : score >= 40 ? 'warn' : 'none')
}

/** A bar from 0 to `most`. */
export function meter(value: number, most: number, tone: 'good' | 'warn' | 'ask' | 'bad'): Markup {
  const width = most === 0 ? 0 : Math.round((value / most) * 1000) / 10
  return html`<svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width="100" height="6" />
    <rect class="bar-${tone}" width="${width}" height="6" />
  </svg>`
}
