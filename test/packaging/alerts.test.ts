/** Alerts and dashboard: judged by promtool, about metrics and labels that there are, each alert with a case and a runbook. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { DASHBOARDS } from '../../docs/dashboards.ts'
import { METRICS, type MetricSpec } from '../../gateway/telemetry/metric-table.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { at, listAt, textAt, textsAt } from '../json.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const CHART = join(ROOT, 'charts/preflight-gateway')
const RULES = join(CHART, 'rules/alerts.yaml')
const CASES = join(import.meta.dirname, 'alerts-cases.yaml')

const read = (file: string): string => readFileSync(file, 'utf8')
const rules = listAt(parse(read(RULES)), 'groups', 0, 'rules')
const names = textsAt(rules, 'alert')
const shown = DASHBOARDS.flatMap(({ rows }) => rows)
  .flatMap(({ panels }) => panels)
  .flatMap(({ queries }) => queries.map(({ expr }) => expr))

/** Debian's package prometheus has it; .ci/run installs that. */
async function promtool(t: TestContext, argv: readonly string[], input = ''): Promise<void> {
  const tool = process.env['PREFLIGHT_PROMTOOL'] ?? 'promtool'
  const running = run(tool, [...argv])
  running.child.stdin?.end(input)
  const failure: unknown = await running.catch((error: unknown) => error)
  if (!(failure instanceof Error)) return
  if (at(failure, 'code') !== 'ENOENT') assert.fail(`${textAt(failure, 'stdout')}${textAt(failure, 'stderr')}`)
  assert.notEqual(process.env['CI'], 'true', 'CI has no promtool: .ci/run must install it')
  t.skip('promtool is not installed (Debian: prometheus); PREFLIGHT_PROMTOOL names one')
}

test('promtool reads the alerts, and each is raised by what it is about and by nothing near it', async (t) => {
  await promtool(t, ['test', 'rules', CASES])
})

test('promtool finds nothing to improve in a scrape', async (t) => {
  const { metrics } = await startTestGateway(t)
  await promtool(t, ['check', 'metrics'], await metrics.text())
})

test('every alert has a case', () => {
  const cases = listAt(parse(read(CASES)), 'tests').flatMap((one) =>
    textsAt(listAt(one, 'alert_rule_test'), 'alertname'),
  )
  assert.deepEqual([...new Set(cases)].toSorted(), names.toSorted())
})

test('every alert has a runbook, every runbook an alert, and links between them lead somewhere', () => {
  const page = read(join(ROOT, 'docs/runbooks.md'))
  const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, title = '']) => title)
  assert.deepEqual(sections.toSorted(), names.toSorted())
  for (const rule of rules) {
    const anchor = textAt(rule, 'alert').toLowerCase()
    assert.equal(at(rule, 'annotations', 'runbook'), `docs/runbooks.md#${anchor}`)
    assert.match(textAt(rule, 'labels', 'severity'), /^(?:critical|warning)$/)
  }
})

const SPECS: ReadonlyMap<string, MetricSpec> = new Map(METRICS.map((row) => [row.name, row]))
/** Given by the scrape itself. */
const TARGET_LABELS: readonly string[] = ['job', 'instance', 'namespace', 'pod']

/** Each selector of an expression: the metric, with its labels matched. */
function selectorsOf(expression: string): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expression.matchAll(/\b((?:preflight|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
    }),
  )
}

test('alerts and dashboard ask for metrics and labels that the gateway has', () => {
  const expressions = [...rules.map((rule) => textAt(rule, 'expr')), ...shown]
  assert.ok(shown.length > 20, 'the panels are found')
  for (const expression of expressions) {
    const selectors = selectorsOf(expression)
    assert.ok(selectors.length > 0, expression)
    const grouped = [...expression.matchAll(/\b(?:by|without|on) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(/,\s*/),
    )
    const known = new Set([...TARGET_LABELS, 'le'])
    for (const { name, labels } of selectors) {
      const spec = SPECS.get(name) ?? SPECS.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? assert.fail(name)
      assert.equal(spec.name !== name, spec.type === 'histogram', name)
      const bounds = spec.type === 'histogram' ? ['le'] : []
      for (const label of labels)
        assert.ok([...spec.labels, ...bounds, ...TARGET_LABELS].includes(label), `${label} of ${name}`)
      for (const label of spec.labels) known.add(label)
    }
    for (const label of grouped) assert.ok(known.has(label), `${label} in ${expression}`)
  }
})

test('no metric is without a panel or an alert', () => {
  const expressions = [...rules.map((rule) => textAt(rule, 'expr')), ...shown]
  const used = new Set(
    expressions.flatMap((expression) =>
      selectorsOf(expression).map(({ name }) => (SPECS.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ''))),
    ),
  )
  assert.deepEqual(
    METRICS.map(({ name }) => name).filter((name) => !used.has(name)),
    [],
    'give each a panel in docs/dashboards.ts, or an alert',
  )
})

test('a counter whose first event is an alarm is there before it, at 0', async (t) => {
  const gateway = await startTestGateway(t, {
    routes: [
      { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp', validate: 'observe' },
      { name: 'cluster', match: { path: '/c' }, upstream: 'http://127.0.0.1:9', protocol: 'kubernetes' },
    ],
  })
  const scraped = await gateway.metrics.text()
  const immediate = rules.filter((rule) => at(rule, 'for') === undefined)
  const increases = immediate.flatMap((rule) => [
    ...textAt(rule, 'expr').matchAll(/increase\((\w+)(?:\{([^}]*)\})?\[/g),
  ])
  assert.ok(increases.length >= 8)
  for (const [, name = '', matchers = ''] of increases) {
    const wanted = [...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)].map(
      ([, label = '', value = '']) => new RegExp(`[{,]${label}="(?:${value})"[,}]`),
    )
    const series = scraped
      .split('\n')
      .filter((line) => line.startsWith(name) && wanted.every((label) => label.test(line)))
    assert.ok(series.length > 0, `${name}{${matchers}}`)
    for (const line of series) assert.match(line, / 0$/)
  }
})

/** A gateway that serves calls all the time, and nothing else happens. */
async function quietHour(t: TestContext): Promise<string> {
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }],
  })
  const samples = (await gateway.metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const series = samples.flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === '' || !Number.isFinite(Number(value))) return []
    const isTraffic = name === 'preflight_calls_total' && labels.includes('outcome="forwarded"')
    const all = [labels, 'instance="a"', 'job="preflight"'].filter((part) => part !== '').join(',')
    return [{ series: `${name}{${all}}`, values: isTraffic ? '0+60x60' : `${value}+0x60` }]
  })
  assert.ok(series.length > 100, `the page has ${series.length} series`)
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-quiet-')), 'quiet.yaml')
  t.after(() => rmSync(dirname(file), { recursive: true, force: true }))
  const silent = names.map((alertname) => ({ alertname, eval_time: '60m', exp_alerts: [] }))
  const tests = [{ interval: '1m', input_series: series, alert_rule_test: silent }]
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  return file
}

test('no alert fires in a quiet hour', async (t) => {
  await promtool(t, ['test', 'rules', await quietHour(t)])
})
