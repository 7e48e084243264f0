/** What a started gateway has loaded: an idle sidecar holds what it serves with, and nothing that only some configurations use. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'

const ENTRY = join(import.meta.dirname, '../../gateway/preflight.js')

/** Writes the address of every module, each on a line, to the file that LOADED_MODULES names, and at the end the runtime's own. */
const WITNESS = `
import { registerHooks } from 'node:module'
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  const tell = (text) => appendFileSync(process.env.LOADED_MODULES, text + '\\n')
  registerHooks({ load: (url, context, next) => (tell(url), next(url, context)) })
  process.on('exit', () => tell(process.moduleLoadList.join('\\n')))
}`

/** Package → when it is loaded instead. */
const HEAVY: Readonly<Record<string, string>> = {
  typebox: 'policy replay',
  'http-proxy': 'upgrades',
  '@peculiar/x509': 'intercepted connections',
  '@grpc/grpc-js': 'tests, never',
  '@grpc/proto-loader': 'listen.ext_authz',
  protobufjs: 'listen.ext_authz',
  '@bufbuild/cel': 'the first decision',
  graphql: 'the first comparison',
  'js-yaml': 'the first comparison',
  diff: 'the first comparison',
  '@opentelemetry/api': 'default metrics of prom-client, never',
  '@modelcontextprotocol/server': 'a request to /mcp',
}

async function loadedByStart(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'preflight-modules-'))
  const list = join(folder, 'modules')
  const witness = `data:text/javascript,${encodeURIComponent(WITNESS)}`
  const child = spawn(process.execPath, ['--import', witness, ENTRY, 'serve', '--data-dir', join(folder, 'state')], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      LOADED_MODULES: list,
      PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
      PREFLIGHT_API_LISTEN: '127.0.0.1:0',
      PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    },
  })
  try {
    const exited = once(child, 'exit')
    for await (const line of createInterface(child.stdout)) if (line.includes('"ready"')) child.kill('SIGTERM')
    await exited
    return (await readFile(list, 'utf8')).split('\n')
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

test('a started gateway has not loaded what only some configurations use', async () => {
  const modules = await loadedByStart()
  const packages = new Set(
    modules
      .map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1])
      .filter((name) => name !== undefined),
  )
  assert.ok(packages.has('undici') && packages.has('pino'), 'the witness sees packages')
  assert.deepEqual(
    Object.keys(HEAVY).filter((name) => packages.has(name)),
    [],
  )
  // Of undici no more than its errors; of the command line no other command; of what judges nothing.
  const unwanted =
    /undici\/lib\/(?!core\/errors\.js$)|gateway\/(?:cli\/(?:diff|keys|policy|verify)|api\/routes\/.*|intercept\/mcp)\.ts$|telemetry\/(?:otel\/(?!settings)|sinks\/(?!settings|sink\.|log\.|lazy-network)|decision-log\/(?:open|file-sink|syslog))[^/]*|engine\/(?:rules|diff)\//
  assert.deepEqual(
    modules.filter((url) => unwanted.test(url)),
    [],
  )
  assert.ok(modules.includes('NativeModule http'), 'the witness sees modules of the runtime')
  assert.deepEqual(
    ['internal/deps/undici/undici', 'tls', 'https', 'http2'].filter((name) => modules.includes(`NativeModule ${name}`)),
    [],
    'the runtime has loaded neither its copy of undici nor TLS with its root certificates',
  )
})
