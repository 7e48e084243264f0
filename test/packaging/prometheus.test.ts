/**
 * Debian's Prometheus scrapes a gateway under mixed traffic with the chart's rules. No query of a dashboard is empty. No alert
 * fires in quiet, and those fire that something is done for.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { DASHBOARDS } from '../../docs/dashboards.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { until } from '../fakes/until.ts'
import { at, listAt, textAt } from '../json.ts'

const RULES = join(import.meta.dirname, '../../charts/preflight-gateway/rules/alerts.yaml')

interface Prometheus {
  query(expr: string): Promise<readonly unknown[]>
  /** Names of the alerts that fire. */
  firing(): Promise<readonly string[]>
}

/** Prometheus reports no port that it picked itself. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Starting and scraping take seconds on a busy machine. */
const LONG = 60_000

/** Null: it is not installed. */
async function startPrometheus(t: TestContext, target: string): Promise<Prometheus | null> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-prometheus-'))
  // An alert waits for its time in promtool's cases; here it is enough that it is pending for a second.
  const rules: unknown = parse(readFileSync(RULES, 'utf8'), (key, value: unknown) => (key === 'for' ? '1s' : value))
  writeFileSync(join(directory, 'alerts.yaml'), stringify(rules))
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(directory, 'alerts.yaml')],
    scrape_configs: [{ job_name: 'preflight', static_configs: [{ targets: [target] }] }],
  }
  const file = join(directory, 'prometheus.yaml')
  writeFileSync(file, stringify(config))
  const port = await freePort()
  const argv = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--enable-feature=exemplar-storage',
  ]
  const program = spawn(process.env['PREFLIGHT_PROMETHEUS'] ?? 'prometheus', argv, { stdio: 'ignore' })
  const isMissing = await new Promise<boolean>((resolve) => {
    program.once('error', () => resolve(true))
    program.once('spawn', () => resolve(false))
  })
  t.after(async () => {
    if (!isMissing) {
      const ended = new Promise<void>((resolve) => program.once('exit', () => resolve()))
      program.kill('SIGKILL')
      await ended
    }
    rmSync(directory, { recursive: true, force: true })
  })
  if (isMissing) {
    assert.notEqual(process.env['CI'], 'true', 'CI has no prometheus: .ci/run must install it')
    return null
  }
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const body: unknown = await answer.json()
    assert.equal(at(body, 'status'), 'success', `${decodeURIComponent(path)}: ${JSON.stringify(body)}`)
    return at(body, 'data')
  }
  await until(
    async () => (await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null))?.ok === true,
    'it is ready',
    LONG,
  )
  return {
    query: async (expr) => listAt(await get(`query?query=${encodeURIComponent(expr)}`), 'result'),
    firing: async () =>
      listAt(await get('alerts'), 'alerts')
        .filter((alert) => at(alert, 'state') === 'firing')
        .map((alert) => textAt(alert, 'labels', 'alertname')),
  }
}

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
  const prometheus = await startPrometheus(t, new URL(scene.gateway.addresses.admin).host)
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
