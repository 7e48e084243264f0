/** Debian's Prometheus with the chart's rules, which scrapes what a test names. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { at, listAt, textAt } from '../json.ts'
import { until } from './until.ts'
import { freePort } from './listening.ts'

const RULES = join(import.meta.dirname, '../../charts/preflight-gateway/rules/alerts.yaml')

export interface Prometheus {
  query(expr: string): Promise<readonly unknown[]>
  /** Names of the alerts that fire. */
  firing(): Promise<readonly string[]>
}

/** Starting and scraping take seconds on a busy machine. */
export const LONG = 60_000

/** Null: it is not installed. @param jobs name of the job → HOST:PORT */
export async function startPrometheus(
  t: TestContext,
  jobs: Readonly<Record<string, string>>,
): Promise<Prometheus | null> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-prometheus-'))
  // An alert waits for its time in promtool's cases; here it is enough that it is pending for a second.
  const rules: unknown = parse(readFileSync(RULES, 'utf8'), (key, value: unknown) => (key === 'for' ? '1s' : value))
  writeFileSync(join(directory, 'alerts.yaml'), stringify(rules))
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(directory, 'alerts.yaml')],
    scrape_configs: Object.entries(jobs).map(([name, target]) => ({
      job_name: name,
      static_configs: [{ targets: [target] }],
    })),
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
