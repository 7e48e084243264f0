/** The files that pages load. Their addresses contain their hash, so browsers never need to load them again. */
import { sha256Hex } from '../../runtime/hash.ts'
import { STYLE } from './style.ts'

/** Makes pages quicker to use. Every page reads and decides without it. */
const SCRIPT = `
'use strict'
const isTyping = () => {
  const active = document.activeElement
  return active !== null && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName)
}
let isChanged = false
document.addEventListener('input', () => { isChanged = true })
document.addEventListener('submit', () => { isChanged = false })

// The page is loaded again when something changed, unless a person is writing in it.
const refresh = async () => {
  if (isTyping() || isChanged || document.hidden) return
  const response = await fetch(location.href)
  if (!response.ok || response.redirected) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const selector of ['main', '.nav']) {
    const old = document.querySelector(selector)
    const made = fresh.querySelector(selector)
    if (old !== null && made !== null && old.innerHTML !== made.innerHTML) {
      const open = [...old.querySelectorAll('details')].map((entry) => entry.open)
      old.replaceWith(document.adoptNode(made))
      ;[...made.querySelectorAll('details')].forEach((entry, index) => { if (open[index]) entry.open = true })
    }
  }
  document.title = fresh.title
}
if (document.querySelector('[data-live]') !== null) {
  const events = new EventSource('/console/events')
  events.addEventListener('change', () => void refresh().catch(() => {}))
  document.addEventListener('visibilitychange', () => { if (!document.hidden) void refresh().catch(() => {}) })
  window.addEventListener('pagehide', () => events.close())
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping()) return
  const rows = [...document.querySelectorAll('main a.entry, main tbody td:nth-child(1 of :has(a)) a:first-of-type')]
  const at = rows.indexOf(document.activeElement)
  if (event.key === 'j') rows[Math.min(at + 1, rows.length - 1)]?.focus()
  else if (event.key === 'k') rows[Math.max(at - 1, 0)]?.focus()
  else if (event.key === '/') (document.querySelector('#decide textarea') ?? document.querySelector('main input:not([type=hidden]), main select, main textarea'))?.focus()
  else return
  event.preventDefault()
})
`

interface Asset {
  readonly type: string
  readonly text: string
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="#2450c9" stroke-width="2"><path d="M6 2.5H3.5v15H6M14 2.5h2.5v15H14"/><path d="m6.5 10.5 2.5 2.5 4.5-6"/></svg>'

const named = (name: string, ending: string, text: string) =>
  `/console/assets/${name}.${sha256Hex(text).slice(0, 12)}.${ending}`

export const STYLE_PATH = named('console', 'css', STYLE)
export const SCRIPT_PATH = named('console', 'js', SCRIPT)

export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_PATH, { type: 'text/css; charset=utf-8', text: STYLE }],
  [SCRIPT_PATH, { type: 'text/javascript; charset=utf-8', text: SCRIPT }],
  ['/console/assets/icon.svg', { type: 'image/svg+xml', text: ICON }],
])
