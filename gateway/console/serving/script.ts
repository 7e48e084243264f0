/** The script of the console: what makes pages quicker to use. Every page reads and decides without it. */

export const SCRIPT = `
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
