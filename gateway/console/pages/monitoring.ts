/** Calls that are monitored now: each window waits for the outcome of one call. */
import { html } from '../markup.ts'
import { countedNoun, empty, head, moment, table } from '../parts.ts'
import type { ConsolePage } from '../visit.ts'

const SHOWN = 200

export const monitoring: ConsolePage = async ({ deps, visitor, now }) => {
  const windows = (await deps.store.windows.listOpen()).filter(({ tenant }) => tenant === visitor.tenant)
  const body = html`${head({ title: 'Monitoring', lede: 'Calls that went on under monitoring. A window is open until the outcome is reported, or its time ends.' })}
  ${
    windows.length === 0
      ? empty('No open windows', 'A window opens when a call continues with monitoring.')
      : html`<section aria-label="Open windows">
          <p class="muted">${countedNoun(windows.length, 'open window')}</p>
          ${table({
            caption: 'Open windows',
            columns: [
              ['Correlation', ''],
              ['Route', ''],
              ['Reported by', 'tight'],
              ['Open since', 'tight'],
            ],
            rows: windows
              .slice(0, SHOWN)
              .map(({ correlationId, decisionId, route, observer, openedAt }) => [
                html`<a href="/console/decisions/${decisionId}"><code>${correlationId}</code></a>`,
                route ?? 'API',
                observer === 'gateway' ? 'the gateway' : 'the caller',
                moment(openedAt, now),
              ]),
          })}
        </section>`
  }`
  return { kind: 'page', title: 'Monitoring', isLive: true, body }
}
