/** A configuration that names another baseline while calls of the earlier one are under way: nobody is judged by the earlier one afterwards. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { RouteBaselines, contractDigest, type OfferedContract } from '../../gateway/baselines/baselines.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import type { Config } from '../../gateway/config/schema.ts'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { openStore } from '../../gateway/store/opening/open.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { scriptedFlow } from '../fakes/scripted-flow.ts'
import { until } from '../fakes/until.ts'

const [EARLIER, LATER] = ['{"tools":[]}', '{"tools":[{"name":"new"}]}']
const OFFERED: OfferedContract = { type: 'mcp_manifest', content: LATER, digest: contractDigest(LATER) }

/** Baselines of a route whose earlier source answers only when the test says so. */
async function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-baselines-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  const waiting: ServerResponse[] = []
  const sources = await startHttpUpstream(({ url }, response) => {
    if (url === '/later') response.end(LATER)
    else waiting.push(response)
  })
  t.after(() => sources.close())
  const configWith = (contract: object): Config => {
    const route = { name: 'tools', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp', contract }
    const loaded = loadConfig({ environment: {}, value: { data_dir: directory, routes: [route] } })
    assert.ok(loaded.ok)
    return loaded.value.config
  }
  const [earlier, later] = ['earlier', 'later'].map((name) =>
    configWith({ baseline: { url: `${sources.origin}/${name}` } }),
  )
  assert.ok(earlier !== undefined && later !== undefined)
  const store = await openStore(earlier)
  t.after(() => store.close())
  let config = earlier
  const baselines = new RouteBaselines({
    settings: () => ({ config }),
    flow: scriptedFlow({ decide: () => 'ALLOW' }),
    store,
    metrics: createMetrics(),
    logger: createLogger('silent'),
    now: Date.now,
  })
  const [before] = earlier.routes
  const [after] = later.routes
  assert.ok(before !== undefined && after !== undefined)
  return {
    baselines,
    store,
    before,
    after,
    reload: () => {
      config = later
    },
    isAsked: () => until(() => Promise.resolve(waiting.length > 0), 'the earlier source is asked'),
    answer: () => waiting.splice(0).forEach((response) => response.end(EARLIER)),
  }
}

test('a call that reads the earlier source while the settings change pins it for nobody else', async (t) => {
  const { baselines, store, before, after, reload, isAsked, answer } = await scene(t)
  const slow = Promise.resolve(baselines.baselineFor(before, OFFERED))
  await isAsked()
  reload()
  const next = Promise.resolve(baselines.baselineFor(after, OFFERED))
  answer()
  assert.equal((await slow).content, EARLIER, 'this call is judged anew by whoever enforces it')
  assert.equal((await next).content, LATER)
  assert.equal((await baselines.baselineFor(after, OFFERED)).content, LATER)
  assert.equal((await store.baselines.byRoute('tools', 'tools'))?.content, LATER)
})

const isOutdated = (error: unknown): boolean => error instanceof GatewayError && error.code === 'PREFLIGHT_UNDECIDED'

test('a call that comes to its baseline after the settings changed does not read the earlier source', async (t) => {
  const { baselines, store, before, after, reload } = await scene(t)
  reload()
  await assert.rejects(async () => baselines.baselineFor(before, OFFERED), isOutdated)
  assert.equal((await baselines.baselineFor(after, OFFERED)).content, LATER)
  await assert.rejects(async () => baselines.baselineFor(before, OFFERED), isOutdated)
  assert.equal((await store.baselines.byRoute('tools', 'tools'))?.content, LATER)
})
