/** A running gateway as its operator sees it: status, settings without credentials, debug pages, and the level of the log. */
import assert from 'node:assert/strict'
import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DEBUG_PAGES } from '../../gateway/telemetry/inspection.ts'
import { run } from '../fakes/command-io.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { breakListing, startPetRoute, type PetRoute } from '../fakes/pet-route.ts'
import { until } from '../fakes/until.ts'
import { at, listAt, textAt } from '../json.ts'
import { readServing } from '../../gateway/listen/local-access.ts'
import { writePrivateFile } from '../../gateway/runtime/private-file.ts'
import { storeCheck } from '../../gateway/listen/readiness.ts'

interface Operated extends PetRoute {
  readonly admin: (path: string, key?: string | null, method?: string) => Promise<{ status: number; body: unknown }>
  readonly keyOf: (role: string, tenant?: string) => Promise<string>
}

async function operated(t: TestContext, config: object = {}): Promise<Operated> {
  const route = await startPetRoute(t, {}, config)
  const admin: Operated['admin'] = async (path, key = TEST_KEY, method = 'GET') => {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` }
    const answer = await fetch(route.gateway.addresses.admin + path, { method, headers })
    return { status: answer.status, body: await answer.json() }
  }
  const keyOf = async (role: string, tenant = 'local') => {
    const made = await route.api('POST', '/api/v1/keys', { name: role, role, tenant })
    return textAt(made.body, 'api_key')
  }
  return { ...route, admin, keyOf }
}

test('pages for operators need a key of the own tenant whose role allows it', async (t) => {
  const { admin, keyOf, api, gateway } = await operated(t)
  const pages = ['/status', '/config_dump', '/debug', '/log_level', ...DEBUG_PAGES.map((name) => `/debug/${name}`)]
  const [viewer, agent, foreign] = await Promise.all([keyOf('viewer'), keyOf('agent'), keyOf('admin', 'acme')])
  for (const page of pages) {
    assert.equal((await admin(page)).status, 200, page)
    assert.equal((await admin(page, viewer)).status, 200, page)
    assert.equal((await admin(page, null)).status, 401, page)
    assert.equal((await admin(page, 'pf_live_unknown')).status, 401, page)
    assert.equal((await admin(page, agent)).status, 403, page)
    assert.equal((await admin(page, foreign)).status, 403, page)
  }
  assert.equal((await admin('/log_level?level=debug', viewer, 'PUT')).status, 403)
  assert.equal((await admin('/config_dump', TEST_KEY, 'PUT')).status, 405)
  assert.equal((await api('GET', '/api/v1/status', undefined, foreign)).status, 403)
  assert.equal((await api('POST', '/api/v1/log-level', { level: 'debug' }, viewer)).status, 403)
  assert.equal(gateway.logger.level, 'info')
})

test('debug pages show what the gateway holds', async (t) => {
  const { admin, call, gateway } = await operated(t)
  assert.equal((await call()).status, 200)
  const page = async (name: string) => (await admin(`/debug/${name}`)).body
  assert.equal(textAt(await page('routes'), 'routes', 0, 'name'), 'pets')
  assert.equal(textAt(await page('baselines'), 'baselines', 0, 'route'), 'pets')
  assert.equal(textAt(await page('verdicts'), 'verdicts', 0, 'decision'), 'ALLOW')
  assert.equal(at(await page('pools'), 'pools', 0, 'connected'), 1)
  assert.equal(at(await page('windows'), 'open'), 0)
  assert.equal(listAt(await page('spool'), 'monitoring').length > 0, true)
  assert.equal(at(await page('memory'), 'budget', 'waiting'), 0)
  assert.equal(textAt(await page('store'), 'description'), gateway.store)
})

test('preflight status shows what needs attention, from the data directory and over the API', async (t) => {
  const { call, change, api, gateway } = await operated(t)
  await call()
  const local = ['status', '--data-dir', gateway.dataDir]
  const quiet = await run(local)
  assert.equal(quiet.code, 0, quiet.stderr + quiet.stdout)
  assert.match(quiet.stdout, /^READY /)
  assert.match(quiet.stdout, /Nothing needs attention/)
  assert.match(quiet.stdout, /^pets +http +enforce +1 +0 /m)
  change(breakListing)
  await call()
  await api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'an incident', duration: 60 })
  const alarmed = await run(local)
  assert.equal(alarmed.code, 1)
  assert.match(alarmed.stdout, /NEEDS ATTENTION\n +enforcement is suspended on route pets until /)
  assert.match(alarmed.stdout, /a changed contract waits for review/)
  const remote = await run(['status', '--url', gateway.addresses.api, '--format', 'json'], {
    environment: { PREFLIGHT_API_KEY: TEST_KEY },
  })
  assert.equal(remote.code, 1, remote.stderr)
  const status: unknown = JSON.parse(remote.stdout)
  assert.equal(at(status, 'routes', 0, 'suspended'), true)
  assert.equal(at(status, 'routes', 0, 'calls', 'forwarded'), 1)
  assert.equal(textAt(status, 'break_glass', 0, 'reason'), 'an incident')
})

test('a gateway whose configuration on disk has mistakes is asked by its data directory', async (t) => {
  const { gateway } = await operated(t)
  const file = join(gateway.dataDir, 'mistaken.yaml')
  writeFileSync(file, 'routes: [{ name: pets, protocol: htttp }]\n')
  const { admin, token } = readServing(gateway.dataDir) ?? assert.fail('it serves')
  writePrivateFile(join(gateway.dataDir, 'serving.json'), JSON.stringify({ admin, token, config: file }))
  const places: readonly (readonly [argv: readonly string[], environment: Readonly<Record<string, string>>])[] = [
    [['--data-dir', gateway.dataDir], {}],
    [['--data-dir', gateway.dataDir, '--config', file], {}],
    [[], { PREFLIGHT_CONFIG: file, PREFLIGHT_DATA_DIR: gateway.dataDir }],
  ]
  for (const command of ['status', 'log-level'])
    for (const [argv, environment] of places) {
      const answer = await run([command, ...argv], { environment })
      assert.equal(answer.code, 0, `${command} ${argv.join(' ')}: ${answer.stderr}`)
    }
})

test('preflight status says where it looked when no gateway serves', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-none-'))
  const none = await run(['status', '--data-dir', directory])
  assert.equal(none.code, 2)
  assert.match(none.stderr, new RegExp(`no gateway serves from ${directory}; name one with --url`))
  writeFileSync(join(directory, 'serving.json'), JSON.stringify({ admin: 'http://127.0.0.1:9', token: 'x' }))
  const gone = await run(['status', '--data-dir', directory])
  assert.equal(gone.code, 3)
  assert.match(gone.stderr, /does not answer at http:\/\/127.0.0.1:9/)
  const looked = await run(['doctor', '--data-dir', directory])
  assert.match(looked.stdout, new RegExp(`note the gateway of ${directory} does not answer at http://127.0.0.1:9: `))
})

test('preflight doctor finds the gateway that serves from the data directory, wherever it listens', async (t) => {
  const { gateway } = await operated(t)
  const looked = await run(['doctor', '--data-dir', gateway.dataDir])
  assert.match(looked.stdout, new RegExp(`ok +a gateway serves \\(${gateway.addresses.admin}\\)`))
})

test('preflight doctor names the command that starts a gateway with the configuration that it has read', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-doctor-'))
  const file = join(directory, 'preflight.yaml')
  writeFileSync(file, 'listen: { admin: 127.0.0.1:9 }\n')
  const before = process.cwd()
  process.chdir(directory)
  t.after(() => process.chdir(before))
  const named = { PREFLIGHT_CONFIG: file }
  const rows: readonly (readonly [
    argv: readonly string[],
    environment: Readonly<Record<string, string>>,
    start: string,
  ])[] = [
    [['--config', file], {}, `preflight serve --config ${file}`],
    [[], {}, 'preflight serve --config preflight.yaml'],
    [[], named, 'preflight serve'],
  ]
  for (const [argv, environment, start] of rows) {
    const { stdout } = await run(['doctor', ...argv], { environment })
    assert.equal(/start it: (.*)$/m.exec(stdout)?.[1], start, stdout)
  }
})

test('a share of the requests is logged, one line each, without what may be secret', async (t) => {
  const { gateway, upstream } = await operated(t, { log: { requests: 1 } })
  const answer = await fetch(`${gateway.addresses.proxy}/pets?token=hidden`, {
    headers: { 'x-correlation-id': 'mine' },
  })
  await answer.text()
  assert.equal(upstream.requests.length, 1)
  const ended = () => gateway.log.filter(({ event, correlation_id: id }) => event === 'request.ended' && id === 'mine')
  await until(() => ended().length === 1, 'the request is logged')
  const [line] = ended()
  assert.deepEqual(
    [line?.['route'], line?.['outcome'], line?.['decision'], line?.['status'], line?.['upstream_status']],
    ['pets', 'forwarded', 'ALLOW', 200, 200],
  )
  assert.ok(typeof line?.['duration_ms'] === 'number' && typeof line['upstream_ms'] === 'number')
  assert.doesNotMatch(JSON.stringify(line), /hidden/)
})

test('no request is logged by default', async (t) => {
  const { call, gateway } = await operated(t)
  await (await call()).text()
  assert.deepEqual(
    gateway.log.filter(({ event }) => event === 'request.ended'),
    [],
  )
})

test('only the user of the gateway can read how it is reached', async (t) => {
  const { gateway } = await operated(t)
  assert.equal(statSync(join(gateway.dataDir, 'serving.json')).mode & 0o777, 0o600)
})

test('the level of the log changes by command, API and signal, and each change is logged', async (t) => {
  const { gateway, api } = await operated(t)
  const shown = await run(['log-level', '--data-dir', gateway.dataDir])
  assert.deepEqual([shown.code, shown.stdout], [0, 'info\n'], shown.stderr)
  assert.equal((await run(['log-level', 'debug', '--data-dir', gateway.dataDir])).code, 0)
  assert.equal(gateway.logger.level, 'debug')
  const changed = await api('POST', '/api/v1/log-level', { level: 'error' })
  assert.deepEqual([at(changed.body, 'before'), at(changed.body, 'level')], ['debug', 'error'])
  gateway.toggleDebug()
  assert.equal(gateway.logger.level, 'debug')
  gateway.toggleDebug()
  assert.equal(gateway.logger.level, 'info')
  assert.equal((await run(['log-level', 'loud', '--data-dir', gateway.dataDir])).code, 2)
  const changes = gateway.log.filter(({ event }) => event === 'log.level_changed')
  assert.deepEqual(
    changes.map(({ before, after, by }) => [before, after, by === 'cli:data-dir' || by === 'signal']),
    [
      ['info', 'debug', true],
      ['debug', 'error', false],
      ['error', 'debug', true],
      ['debug', 'info', true],
    ],
  )
})

test('a store whose last write failed is not ready, whatever a probe said a moment ago', async () => {
  const health = { isWritable: true }
  const check = storeCheck({ store: { description: 'd', probe: () => Promise.resolve() }, health, now: () => 1 })
  assert.equal((await check()).ready, true)
  health.isWritable = false
  assert.equal((await check()).ready, false)
  health.isWritable = true
  assert.equal((await check()).ready, true)
})
