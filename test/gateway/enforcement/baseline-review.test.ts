/** A changed contract from first sight to baseline: watched without traffic, told with what changed, reviewed, promoted by API, command line or decision. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { breakListing, startPetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { writtenRoutes } from '../../fakes/written-routes.ts'
import { at, listAt, textAt } from '../../json.ts'

const addPath = (paths: Record<string, unknown>): void => {
  paths['/dogs'] = paths['/pets']
}

test('a watched contract that changes is a candidate with its findings before any call comes', async (t) => {
  const files = { baseline: { file: petContract() }, current: { file: petContract() } }
  const { api, gateway, upstream } = await startPetRoute(t, { contract: { ...files, watch: 1 } })
  const first = async () => listAt((await api('GET', '/api/v1/baselines')).body, 'baselines')[0]
  await until(async () => (await first()) !== undefined, 'the baseline is pinned by the watcher')
  assert.equal(at(await first(), 'candidate'), null)
  writeFileSync(
    files.current.file,
    JSON.stringify({ openapi: '3.0.3', info: { title: 'pets', version: '2' }, paths: {} }),
  )
  await until(async () => at(await first(), 'candidate') !== null, 'the change is seen')
  assert.ok(Number(at(await first(), 'candidate', 'summary', 'breaking')) > 0)
  assert.match(await gateway.metrics.text(), /preflight_baseline_candidate_pending\{route="pets"\} 1/)
  assert.ok(gateway.log.some(({ event }) => event === 'contract.changed'))
  assert.equal(upstream.requests.length, 0)
})

test('an ALLOW to register what is offered makes it the baseline; the texts to ask with are there to be read', async (t) => {
  const { api, call, change, preflight } = await startPetRoute(t)
  await call()
  change(addPath)
  await call()
  const { body } = await api('GET', '/api/v1/baselines/pets')
  const artifact = {
    id: 'pets',
    type: textAt(body, 'baseline', 'type'),
    before: textAt(body, 'baseline', 'content'),
    after: textAt(body, 'candidate', 'content'),
  }
  const register = (context: object) =>
    api('POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts: [artifact], context })
  await preflight()
  assert.notEqual(at((await api('GET', '/api/v1/baselines/pets')).body, 'candidate'), null)
  const allowed = await register({ operation: 'register', environment: 'prod', target_id: 'pets' })
  assert.equal(at(allowed.body, 'decision'), 'ALLOW')
  const after = await api('GET', '/api/v1/baselines/pets')
  assert.equal(at(after.body, 'candidate'), null)
  assert.equal(at(after.body, 'baseline', 'content'), artifact.after)
  assert.equal(
    at(after.body, 'baseline', 'set_by'),
    `decision:${textAt(allowed.body, 'decision_result', 'decision_id')}`,
  )
  assert.equal((await api('GET', '/api/v1/baselines/none')).status, 404)
})

test('a blocked candidate becomes the baseline by no way: not by API, command line, or a decision to register', async (t) => {
  const { api, call, change, gateway } = await startPetRoute(t, {}, { policy: 'strict' })
  await call()
  change(breakListing)
  assert.equal((await call()).status, 403)
  const { body } = await api('GET', '/api/v1/baselines/pets')
  const digest = textAt(body, 'candidate', 'digest')
  assert.equal((await api('POST', '/api/v1/baselines/pets/promote', { digest, comment: 'please' })).status, 403)
  const directory = mkdtempSync(join(tmpdir(), 'preflight-promote-'))
  const config = join(directory, 'preflight.json')
  const routes = writtenRoutes(gateway.settings().config.routes)
  writeFileSync(config, JSON.stringify({ data_dir: gateway.dataDir, policy: 'strict', routes }))
  const cli = await run(['baselines', 'promote', 'pets', digest, '--comment', 'please', '--config', config])
  assert.equal(cli.code, 1)
  assert.match(cli.stderr, /does not let the candidate become the baseline/)
  const before = textAt(body, 'baseline', 'content')
  const artifacts = [{ id: 'pets', type: 'openapi', before, after: textAt(body, 'candidate', 'content') }]
  const context = { operation: 'register', environment: 'prod', target_id: 'pets' }
  await api('POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
  assert.equal(at((await api('GET', '/api/v1/baselines/pets')).body, 'baseline', 'content'), before)
})

test('on the command line baselines are listed, shown and promoted', async (t) => {
  const { api, call, change, gateway } = await startPetRoute(t)
  await call()
  change(addPath)
  await call()
  const directory = mkdtempSync(join(tmpdir(), 'preflight-promote-'))
  const config = join(directory, 'preflight.json')
  writeFileSync(
    config,
    JSON.stringify({ data_dir: gateway.dataDir, routes: writtenRoutes(gateway.settings().config.routes) }),
  )
  const cli = (...args: readonly string[]) => run(['baselines', ...args, '--config', config])
  const { body } = await api('GET', '/api/v1/baselines/pets')
  const digest = textAt(body, 'candidate', 'digest')
  assert.match((await cli('list')).stdout, new RegExp(`pets .*${digest}`))
  assert.equal((await cli('show', 'pets')).stdout.trim(), textAt(body, 'baseline', 'content').trim())
  assert.equal((await cli('show', 'pets', '--candidate')).stdout.trim(), textAt(body, 'candidate', 'content').trim())
  assert.equal((await cli('show', 'dogs')).code, 1)
  const promoted = await cli('promote', 'pets', digest)
  assert.equal(promoted.code, 0, promoted.stderr)
  assert.equal((await cli('show', 'pets', '--candidate')).code, 1)
  await until(async () => (await call()).status === 200, 'the gateway goes on')
})
