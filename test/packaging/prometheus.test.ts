/**
 * Debian's Prometheus scrapes a gateway under mixed traffic with the chart's rules. No query of a dashboard is empty. No alert
 * fires in quiet, and those fire that something is done for.
 */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DASHBOARDS } from '../../docs/dashboards.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { LONG, startPrometheus } from '../fakes/prometheus.ts'
import { until } from '../fakes/until.ts'

function asked(expr: string): string {
  return expr.replaceAll(/\$(?:job|namespace|pod|route)\b/g, '.*').replaceAll('$__rate_interval', '15s')
}

test('no query of a dashboard is empty, and alerts fire for what happens and not in quiet', async (t) => {
  const log = join(mkdtempSync(join(tmpdir(), 'preflight-log-')), 'decisions.ndjson')
  const scene = await startPetRoute(
    t,
    { validate: 'observe' },
    { decision_log: { sinks: [{ type: 'file', path: log }] } },
  )
  const prometheus = await startPrometheus(t, { preflight: new URL(scene.gateway.addresses.admin).host })
  if (prometheus === null) {
    t.skip('prometheus is not installed (Debian: prometheus); PREFLIGHT_PROMETHEUS names one')
    return
  }
  const calls = setInterval(() => void scene.call().catch(() => {}), 100)
  t.after(() => clearInterval(calls))
  await scene.preflight()
  await scene.api('GET', '/api/v1/approvals')
  await until(
    async () => (await prometheus.query('count_over_time(preflight_build_info[1m]) > 5')).length > 0,
    'it scrapes',
    LONG,
  )
  // Other programs of the machine fill its disk, too.
  const quiet = (await prometheus.firing()).filter((name) => name !== 'PreflightVolumeFilling')
  assert.deepEqual(quiet, [])

  const empty: string[] = []
  for (const { title, rows } of DASHBOARDS)
    for (const panel of rows.flatMap(({ panels }) => panels))
      for (const { expr } of panel.queries)
        if ((await prometheus.query(asked(expr))).length === 0) empty.push(`${title}, ${panel.title}: ${expr}`)
  assert.deepEqual(empty, [])

  scene.change(breakListing)
  await scene.api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'an incident', duration: 60 })
  const wanted = ['PreflightBreakGlassOpen', 'PreflightBreakGlassUsed', 'PreflightCandidatePending']
  await until(
    async () => {
      const firing = await prometheus.firing()
      return wanted.every((name) => firing.includes(name))
    },
    'the alerts fire',
    LONG,
  )
})
