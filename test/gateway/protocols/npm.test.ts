/** npm against a real registry with the whole gateway between: what is published is judged by the contracts in it, and npm prints why not. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { runServer } from 'verdaccio'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { run } from '../../fakes/command-io.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { textAt } from '../../json.ts'

const BOTH = { 'api/openapi.yaml': openapi('/pets', '/toys'), 'index.js': '' }
const ONE = { 'api/openapi.yaml': openapi('/pets'), 'index.js': '' }

async function scene(t: TestContext, route: object = {}, config: object = {}) {
  const registry = await startRegistry(t)
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'registry',
        match: { path: '/' },
        upstream: registry.origin,
        protocol: 'npm',
        operation: 'publish',
        ...route,
      },
    ],
    monitoring: { sinks: [{ type: 'log' }] },
    ...config,
  })
  const npm = npmClient(t, gateway.addresses.proxy, registry.token)
  return { registry, gateway, npm, direct: npmClient(t, registry.origin, registry.token) }
}

test('a first version and one that adds go out, one that takes an operation away does not, and npm says why', async (t) => {
  const { npm, direct, gateway } = await scene(t)
  const first = await npm.publish('@acme/pets', '1.0.0', ONE, '--access=public')
  assert.equal(first.code, 0, first.output)
  const wider = await npm.publish('@acme/pets', '1.1.0', BOTH, '--access=public')
  assert.equal(wider.code, 0, wider.output)
  const narrower = await npm.publish('@acme/pets', '1.2.0', ONE, '--access=public')
  assert.notEqual(narrower.code, 0)
  assert.match(narrower.output, /E403/)
  assert.match(narrower.output, /PREFLIGHT_STOP: Preflight stopped publish npm:@acme\/pets@1\.2\.0/)
  assert.match(narrower.output, /API_PATH_REMOVED|API_REMOVED/)
  // npm hides what looks like a UUID, and whoever is on call looks for this one.
  const [, id = ''] = /Correlation id \(after the underscore\): _(\S+)/.exec(narrower.output) ?? []
  const found = await run(['ledger', 'calls', '--correlation-id', id, '--data-dir', gateway.dataDir])
  assert.match(found.stdout, /npm:@acme\/pets@1\.2\.0/)
  const versions = await direct.run('view', '@acme/pets', 'versions', '--json')
  assert.deepEqual(JSON.parse(versions.output), ['1.0.0', '1.1.0'])
})

test('installed packages come through the proxy, and versions that exist stay', async (t) => {
  const { npm, direct } = await scene(t)
  assert.equal((await direct.publish('pets', '1.0.0', BOTH)).code, 0)
  const installed = await npm.run('install', 'pets')
  assert.equal(installed.code, 0, installed.output)
  const removed = await npm.run('unpublish', 'pets@1.0.0', '--force')
  assert.notEqual(removed.code, 0)
  assert.match(removed.output, /PREFLIGHT_RECEIPT_REQUIRED/)
  assert.match((await direct.run('view', 'pets', 'version')).output, /1\.0\.0/)
})

test('the same by CONNECT: npm trusts the authority of the gateway, and speaks TLS with it', async (t) => {
  const authority = await testAuthority()
  const registry = await startRegistry(t, authority)
  const gateway = await startTestGateway(t, {
    egress: { allow: ['127.0.0.0/8', '::1'] },
    routes: [
      {
        name: 'registry',
        match: { host: 'localhost', path: '/' },
        protocol: 'npm',
        tls: { upstream_ca: authority.file },
      },
    ],
    monitoring: { sinks: [{ type: 'log' }] },
  })
  const cafile = join(gateway.dataDir, 'agent-ca.pem')
  writeFileSync(cafile, await (await fetch(`${gateway.addresses.api}/.well-known/preflight-ca.pem`)).text())
  const settings = [`cafile=${cafile}`, `https-proxy=${gateway.addresses.proxy}`, 'noproxy=']
  const npm = npmClient(t, registry.origin, registry.token, settings)
  const first = await npm.publish('pets', '1.0.0', BOTH)
  assert.equal(first.code, 0, first.output)
  const stopped = await npm.publish('pets', '1.0.1', ONE)
  assert.match(stopped.output, /E403[^]*PREFLIGHT_STOP/)
  const installed = await npm.run('install', 'pets@1.0.0')
  assert.equal(installed.code, 0, installed.output)
  assert.match(await (await fetch(`${gateway.addresses.admin}/metrics`)).text(), /outcome="stopped"\} 1/)
})

test('a tag that would hand its followers less is not moved, and one that hands them the same is', async (t) => {
  const { npm, direct } = await scene(t)
  await direct.publish('pets', '1.0.0', BOTH)
  await direct.publish('pets', '2.0.0', ONE, '--tag=next')
  const back = await npm.run('dist-tag', 'add', 'pets@2.0.0', 'latest')
  assert.match(back.output, /E403[^]*PREFLIGHT_STOP[^]*npm:pets@latest/)
  const fresh = await npm.run('dist-tag', 'add', 'pets@1.0.0', 'stable')
  assert.equal(fresh.code, 0, fresh.output)
  const gone = await npm.run('dist-tag', 'rm', 'pets', 'stable')
  assert.match(gone.output, /PREFLIGHT_RECEIPT_REQUIRED[^]*unpublish npm:pets@stable/)
})

test('an older line that is published again is compared with its own line, and against what its tag named', async (t) => {
  const { npm, direct } = await scene(t)
  await direct.publish('pets', '1.0.0', ONE)
  await direct.publish('pets', '2.0.0', BOTH)
  const patched = await npm.publish('pets', '1.0.1', ONE, '--tag=old-line')
  assert.equal(patched.code, 0, patched.output)
  const misplaced = await npm.publish('pets', '1.0.2', ONE, '--tag=latest')
  assert.match(misplaced.output, /npm:pets@latest/)
})

test('what breaks goes out with a major version only, where the policy minds the version and nothing else', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-npm-policy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const policy = join(folder, 'pack.yaml')
  const rules = [{ id: 'told', when: "finding.level == 'breaking'", then: 'WARN' }]
  const head = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'versions' } }
  writeFileSync(policy, JSON.stringify({ ...head, rules, minimum_bump: { then: 'BLOCK', operations: ['publish'] } }))
  const { npm, gateway } = await scene(t, {}, { policy })
  const wide = { 'schema.graphql': 'type Query { pets: Int toys: Int }' }
  const narrow = { 'schema.graphql': 'type Query { pets: Int }' }
  assert.equal((await npm.publish('pets', '1.0.0', wide)).code, 0)
  const patched = await npm.publish('pets', '1.0.1', narrow)
  assert.match(
    patched.output,
    /VERSION_BUMP_TOO_SMALL: npm:pets: the changes ask for a major version; it went from 1\.0\.0 to 1\.0\.1/,
  )
  const raised = await npm.publish('pets', '2.0.0', narrow)
  assert.equal(raised.code, 0, raised.output)
  const again = await run(['policy', 'replay', policy, '--ledger', '--data-dir', gateway.dataDir, '--format', 'json'])
  assert.equal(again.code, 0, again.stdout + again.stderr)
})

test('deprecation and owners go by the rules of the route', async (t) => {
  const closed = await scene(t)
  await closed.direct.publish('pets', '1.0.0', BOTH)
  const stopped = await closed.npm.run('deprecate', 'pets@1.0.0', 'use toys')
  assert.match(stopped.output, /PREFLIGHT_RECEIPT_REQUIRED[^]*deprecate npm:pets@1\.0\.0/)
  const denied = await scene(t, { npm: { deprecate: 'pass', unpublish: 'deny' } })
  await denied.direct.publish('pets', '1.0.0', BOTH)
  await denied.direct.publish('pets', '1.1.0', BOTH)
  const passed = await denied.npm.run('deprecate', 'pets@1.0.0', 'use toys')
  assert.equal(passed.code, 0, passed.output)
  const removed = await denied.npm.run('unpublish', 'pets@1.0.0', '--force')
  assert.match(removed.output, /E403[^]*npm\.unpublish: deny/)
})

interface Registry {
  readonly origin: string
  readonly token: string
}

/** @param authority with one, it speaks https under the name localhost */
async function startRegistry(t: TestContext, authority: TestAuthority | null = null): Promise<Registry> {
  const storage = mkdtempSync(join(tmpdir(), 'preflight-registry-'))
  const everybody = { access: '$all', publish: '$authenticated', unpublish: '$authenticated' }
  const plain: Server = await runServer({
    storage,
    configPath: join(storage, 'config.yaml'),
    auth: { htpasswd: { file: join(storage, 'htpasswd'), max_users: 10 } },
    uplinks: {},
    packages: { '@*/*': everybody, '**': everybody },
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'fatal' },
    max_body_size: '32mb',
  })
  const server =
    authority === null
      ? plain
      : createHttpsServer(
          await authority.leaf('localhost'),
          (request, response) => void plain.emit('request', request, response),
        )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(storage, { recursive: true, force: true })
  })
  const origin = authority === null ? `http://127.0.0.1:${portOf(server)}` : `https://localhost:${portOf(server)}`
  return { origin, token: await tokenOf(plain) }
}

/** Requested from the registry directly, not through the proxy. */
async function tokenOf(registry: Server): Promise<string> {
  const door = createServer((incoming, outgoing) => void registry.emit('request', incoming, outgoing))
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  const answer = await fetch(`http://127.0.0.1:${portOf(door)}/-/user/org.couchdb.user:agent`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'agent', password: 'a password of tests' }),
  })
  const body: unknown = await answer.json()
  door.closeAllConnections()
  door.close()
  return textAt(body, 'token')
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

interface NpmRun {
  readonly code: number
  /** Both streams. */
  readonly output: string
}

interface Npm {
  /** Writes a package into a folder of its own and runs npm there. */
  publish(
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    ...options: readonly string[]
  ): Promise<NpmRun>
  run(...words: readonly string[]): Promise<NpmRun>
}

/** @param registry address in npm's configuration @param settings further lines of its configuration */
function npmClient(t: TestContext, registry: string, token: string, settings: readonly string[] = []): Npm {
  const home = mkdtempSync(join(tmpdir(), 'preflight-npm-'))
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 9 }))
  const userconfig = join(home, 'npmrc')
  const { host } = new URL(registry)
  writeFileSync(
    userconfig,
    [
      `registry=${registry}/`,
      `//${host}/:_authToken=${token}`,
      'fetch-retries=0',
      'update-notifier=false',
      'audit=false',
      'fund=false',
      `cache=${join(home, 'cache')}`,
      ...settings,
    ].join('\n'),
  )
  const within = (folder: string, words: readonly string[]): Promise<NpmRun> =>
    new Promise((resolve) => {
      const environment = {
        PATH: process.env['PATH'],
        HOME: home,
        npm_config_userconfig: userconfig,
        no_proxy: '',
        NO_PROXY: '',
      }
      execFile('npm', [...words], { cwd: folder, env: environment }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
        resolve({ code, output: stdout + stderr })
      })
    })
  let folders = 0
  return {
    async publish(name, version, files, ...options) {
      const folder = join(home, `package-${(folders += 1)}`)
      mkdirSync(folder)
      const all = { ...files, 'package.json': JSON.stringify({ name, version, license: 'MIT' }) }
      for (const [path, text] of Object.entries(all)) {
        mkdirSync(join(folder, path, '..'), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      return within(folder, ['publish', ...options])
    },
    run(...words) {
      const folder = join(home, `place-${(folders += 1)}`)
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{"name":"place","version":"1.0.0"}')
      return within(folder, words)
    },
  }
}
