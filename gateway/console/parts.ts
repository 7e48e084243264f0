/** The parts that pages are composed of: heads, badges, times, empty states, facts, digests. */
import { lookupTable } from '../../engine/base.ts'
import type { Decision } from '../../engine/internal.ts'
import type { StoredDecision } from '../store/decisions.ts'
import { html, type Content, type Markup } from './markup.ts'

type Tone = 'good' | 'warn' | 'ask' | 'bad' | 'none'

export const DECISION_WORDS: Readonly<Record<Decision, { readonly text: string; readonly tone: Tone }>> = {
  ALLOW: { text: 'Allowed', tone: 'good' },
  WARN: { text: 'Monitored', tone: 'warn' },
  REQUIRE_APPROVAL: { text: 'Needs approval', tone: 'ask' },
  BLOCK: { text: 'Blocked', tone: 'bad' },
}

export function badge(text: string, tone: Tone): Markup {
  return html`<span class="badge ${tone}">${text}</span>`
}

export function decisionBadge(decision: Decision): Markup {
  const { text, tone } = DECISION_WORDS[decision]
  return badge(text, tone)
}

const STATE_TONES: Readonly<Record<string, Tone>> = lookupTable({
  pending: 'ask',
  granted: 'good',
  denied: 'bad',
  current: 'good',
  revoked: 'bad',
  open: 'bad',
})

export function stateBadge(state: string): Markup {
  return badge(state.charAt(0).toUpperCase() + state.slice(1), STATE_TONES[state] ?? 'none')
}

/** A receipt that authorizes nothing, or no longer, is not shown as good. */
export function receiptBadge(
  { decision, receiptState, expiresAt }: Pick<StoredDecision, 'decision' | 'receiptState' | 'expiresAt'>,
  now: number,
): Markup {
  if (receiptState !== 'current') return stateBadge(receiptState)
  if (expiresAt <= now) return stateBadge('expired')
  return decision === 'ALLOW' || decision === 'WARN' ? stateBadge('current') : badge('Current', 'none')
}

interface PageHead {
  readonly title: Content
  /** Where the page belongs: path and name. */
  readonly parent?: readonly [path: string, name: string]
  readonly badges?: readonly Markup[]
  readonly lede?: Content
}

export function head({ title, parent, badges = [], lede }: PageHead): Markup {
  return html`<header class="head">
    ${parent === undefined ? null : html`<p class="crumbs"><a href="${parent[0]}">${parent[1]}</a></p>`}
    <div class="row">
      <h1>${title}</h1>
      ${badges}
    </div>
    ${lede === undefined ? null : html`<p class="lede">${lede}</p>`}
  </header>`
}

/** What waits is counted up to this. */
export const MOST_COUNTED = 100

/** @param count of a list that was read up to one more than `MOST_COUNTED` */
export function countText(count: number): string {
  return count > MOST_COUNTED ? `${MOST_COUNTED}+` : String(count)
}

export function empty(title: string, text: Content): Markup {
  return html`<div class="card empty"><strong>${title}</strong><span>${text}</span></div>`
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** `3 hours ago`, `in 20 minutes`, with the instant as the title. */
export function moment(at: number, now: number): Markup {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}" title="${iso}">${distance(at, now)}</time>`
}

function distance(at: number, now: number): string {
  const seconds = Math.round(Math.abs(now - at) / 1000)
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1]
  const count = Math.floor(seconds / size)
  // What is recorded while a page is made is later than the time of the page.
  if (unit === 'second' && count < 10) return at > now && count > 1 ? 'in a moment' : 'just now'
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`
  return at > now ? `in ${words}` : `${words} ago`
}

/** Rows without a value are left out. */
export function facts(rows: readonly (readonly [string, Content])[]): Markup {
  const stated = rows.filter(([, value]) => value !== null && value !== false && value !== '')
  return html`<dl class="facts">
    ${stated.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

/** The first digits of a digest, with the whole as the title. */
export function shortDigest(digest: string): Markup {
  const digits = digest.replace(/^sha256:/, '')
  return html`<code title="${digest}">${digits.slice(0, 12)}</code>`
}

export function notice(tone: 'good' | 'warn' | 'bad' | 'info', content: Content): Markup {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${content}</div>`
}

export function countedNoun(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** A bounded text; the number of characters that are left out follows. */
export function clipped(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most)}… (${(text.length - most).toLocaleString('en')} more characters)`
}

interface Table {
  readonly caption: string
  /** True: the table stands in a card already. */
  readonly isPlain?: boolean
  readonly columns: readonly (readonly [name: string, kind: '' | 'number' | 'tight'])[]
  readonly rows: readonly (readonly Content[])[]
}

/** On a narrow screen each row is a card that names its columns. The roles keep what it is for those who listen. */
export function table({ caption, isPlain = false, columns, rows }: Table): Markup {
  return html`<div class="${isPlain ? '' : 'card '}scroll" tabindex="0" role="group" aria-label="${caption}">
    <table class="rows" role="table">
      <caption class="hidden">
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(([name, kind]) => html`<th scope="col" role="columnheader" class="${kind}">${name}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (row) =>
            html`<tr role="row">
              ${row.map((cell, index) => {
                const [name = '', kind = ''] = columns[index] ?? []
                return html`<td role="cell" class="${kind}" data-label="${name}">${cell}</td>`
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** The field that a form must carry. */
export function csrfField(token: string): Markup {
  return html`<input type="hidden" name="csrf" value="${token}" />`
}

interface Tabs {
  readonly label: string
  readonly path: string
  /** Of the parameter. */
  readonly name: string
  readonly current: string
}

/** Links to the same page under another value of one parameter. */
export function tabs(
  { label, path, name, current }: Tabs,
  choices: readonly (readonly [value: string, text: string])[],
): Markup {
  return html`<nav class="tabs" aria-label="${label}">
    ${choices.map(([value, text]) => {
      const address = value === '' ? path : `${path}?${name}=${encodeURIComponent(value)}`
      return value === current
        ? html`<a href="${address}" aria-current="page">${text}</a>`
        : html`<a href="${address}">${text}</a>`
    })}
  </nav>`
}

/** Two lists joined by something between them. */
export function joinedContent(items: readonly Content[], between: Content): Content {
  return items.map((item, index) => (index === 0 ? item : [between, item]))
}
