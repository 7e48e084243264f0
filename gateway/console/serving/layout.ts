/** The frame around every page: navigation, the person, and the page itself. */
import type { PageReply, Visit } from '../visit.ts'
import { STYLE_PATH, SCRIPT_PATH } from './assets.ts'
import { hasRight, type Right } from '../../callers/rights.ts'
import { html, type Content, type Markup } from '../markup.ts'
import { csrfField, countText } from '../parts.ts'

interface Link {
  readonly path: string
  readonly name: string
  /** Where further pages of this part are. */
  readonly also?: string
  /** Shown to those who have it; absent: to everybody. */
  readonly right?: Right
}

const NAVIGATION: readonly { readonly title: string; readonly links: readonly Link[] }[] = [
  {
    title: 'Decisions',
    links: [
      { path: '/console', name: 'Overview' },
      { path: '/console/approvals', name: 'Approvals', also: '/console/delegations' },
      { path: '/console/ledger', name: 'Ledger', also: '/console/decisions' },
    ],
  },
  {
    title: 'Contracts',
    links: [
      { path: '/console/routes', name: 'Routes' },
      { path: '/console/contracts', name: 'Contracts' },
      { path: '/console/policies', name: 'Policies' },
    ],
  },
  {
    title: 'Operation',
    links: [
      { path: '/console/monitoring', name: 'Monitoring' },
      { path: '/console/break-glass', name: 'Break-glass' },
      { path: '/console/fleet', name: 'Fleet' },
    ],
  },
  {
    title: 'Administration',
    links: [
      { path: '/console/notifications', name: 'Notifications', right: 'operate' },
      { path: '/console/keys', name: 'Keys and roles', right: 'administer' },
    ],
  },
]

/** A bracket around a check mark. */
const MARK = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
  <path d="M6 2.5H3.5v15H6M14 2.5h2.5v15H14" />
  <path d="m6.5 10.5 2.5 2.5 4.5-6" />
</svg>`

/** @param waiting requests that wait for an approval */
export function framed(
  visit: Visit,
  { title, body, isLive = false }: Extract<PageReply, { readonly kind: 'page' }>,
  waiting: number,
): Markup {
  const { visitor, csrf } = visit
  return document(
    titleWithin(title, visit.path),
    html`<a class="skip" href="#content">Skip to content</a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="/console">${MARK}<span>Preflight</span></a>
          <button class="menu" popovertarget="nav">Menu</button>
          <nav class="nav" id="nav" popover aria-label="Console">
            ${shownNavigation(visit).map((group) => navigationSection(group, visit.path, waiting))}
          </nav>
          <div class="who">
            <strong title="${visitor.audience}">${visitor.name}</strong>
            <span class="small muted">${visitor.role} · ${visitor.tenant}</span>
            <form method="post" action="/console/sign-out">
              ${csrfField(csrf)}<button class="quiet">Sign out</button>
            </form>
          </div>
        </header>
        <main id="content" tabindex="-1" ${isLive ? html`data-live="1"` : null}>${body}</main>
      </div>`,
  )
}

function shownNavigation({ visitor }: Visit): typeof NAVIGATION {
  const isShown = ({ right }: Link): boolean => right === undefined || hasRight(visitor, right)
  return NAVIGATION.map(({ title, links }) => ({ title, links: links.filter(isShown) })).filter(
    ({ links }) => links.length > 0,
  )
}

function navigationSection({ title, links }: (typeof NAVIGATION)[number], current: string, waiting: number): Markup {
  return html`<div>
    <h2>${title}</h2>
    <ul>
      ${links.map((link) => {
        const { path, name } = link
        const count =
          name === 'Approvals' && waiting > 0
            ? html`<span class="count">${countText(waiting)}<span class="hidden"> waiting</span></span>`
            : null
        return html`<li>
          <a href="${path}" ${leadsTo(link, current) ? html`aria-current="page"` : null}>${name}${count}</a>
        </li>`
      })}
    </ul>
  </div>`
}

/** Whether the link leads to the page, or to the list that the page is in. */
function leadsTo({ path, also }: Link, current: string): boolean {
  const isBelow = (top: string | undefined): boolean => top !== undefined && current.startsWith(`${top}/`)
  return current === path || current === also || (path !== '/console' && isBelow(path)) || isBelow(also)
}

/** A request and its decision, or a route and its contract, have one name: tabs and the history tell them apart by the list. */
function titleWithin(title: string, current: string): string {
  const list = NAVIGATION.flatMap(({ links }) => links).find((link) => leadsTo(link, current))?.name
  return list === undefined || list === title ? title : `${title} · ${list}`
}

/** A page before sign-in. */
export function gate(title: string, body: Content): Markup {
  return document(
    title,
    html`<main class="gate" id="content">
      <div class="card">
        <p class="brand">${MARK}<span>Preflight</span></p>
        ${body}
      </div>
    </main>`,
  )
}

function document(title: string, body: Content): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Preflight</title>
        <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <script src="${SCRIPT_PATH}" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html>`
}
