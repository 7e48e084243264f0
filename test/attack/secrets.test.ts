/**
 * No output of the gateway holds a credential. Each credential that the gateway is given is a text of its own, and every output is
 * searched for all of them.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DEBUG_PAGES } from '../../gateway/telemetry/inspection.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { keyFile } from '../../gateway/keys/key-file.ts'
import { startGateway } from '../../gateway/main.ts'
import { run } from '../fakes/command-io.ts'
import { devNull, FREE_PORTS } from '../fakes/gateway.ts'
import { breakListing } from '../fakes/pet-route.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { startOtlpReceiver } from '../fakes/otlp-receiver.ts'
import { until } from '../fakes/until.ts'
import { at, textAt } from '../json.ts'

/** What is planted, by where. No text is part of another. */
const SECRETS = {
  'bootstrap key': 'pf_test_planted_bootstrap_0123456789',
  'upstream authorization': 'planted-upstream-authorization',
  'upstream cookie': 'planted-upstream-cookie',
  'key of another service': 'planted-x-api-key',
  'query of a call': 'planted-query-token',
  'body of a call': 'planted-body-text',
  'MCP argument': 'planted-mcp-argument',
  'answer of an upstream': 'planted-answer-text',
  'cookie of an upstream': 'planted-set-cookie',
  'user of an upstream address': 'planted-upstream-password',
  'unknown API key': 'pf_live_planted_unknown_key_0123456789',
  'unreadable request': 'planted-unreadable-body',
  'sink header': 'planted-sink-header',
  'sink path': 'planted-sink-path',
  'monitoring header': 'planted-monitoring-header',
  'OpenTelemetry header': 'planted-otel-header',
  'signer of webhooks': 'whsec_cGxhbnRlZC13ZWJob29rLXNlY3JldC0wMTIzNDU2Nzg=',
  'webhook path': 'planted-slack-path',
  'mail password': 'planted-smtp-password',
  'token of a Slack app': 'xoxb-planted-slack-token',
  'client secret': 'planted-client-secret',
  'database password': 'planted-database-password',
} as const

/** Finds planted texts, also in the forms that URLs and JSON give them. */
function leaksIn(output: string, secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(secrets).flatMap(([place, secret]) =>
    [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')].some((form) => output.includes(form))
      ? [place]
      : [],
  )
}

test('the search finds each planted text in each form', () => {
  for (const [place, secret] of Object.entries(SECRETS))
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
      assert.deepEqual(leaksIn(`before ${form} after`, { [place]: secret }), [place])
})

interface Hook {
  readonly url: string
  readonly bodies: string[]
}

async function startHook(t: TestContext): Promise<Hook> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'))
      response.writeHead(200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { url: `http://127.0.0.1:${address.port}`, bodies }
}

const PACK = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'asks' },
  rules: [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }],
}

const route = (name: string, match: string, rest: object) => ({ name, match: { path: match }, ...rest })

async function planted(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-secrets-'))
  const upstream = await startHttpUpstream((_request, response) => {
    response.setHeader('set-cookie', `session=${SECRETS['cookie of an upstream']}`)
    response.end(SECRETS['answer of an upstream'])
  })
  t.after(() => upstream.close())
  const otlp = await startOtlpReceiver()
  t.after(() => otlp.close())
  const hook = await startHook(t)
  const pack = join(folder, 'pack.json')
  writeFileSync(pack, JSON.stringify(PACK))
  const decisions = join(folder, 'decisions.ndjson')
  const contract = petContract()
  const config = {
    listen: FREE_PORTS,
    data_dir: join(folder, 'data'),
    log: { level: 'trace' },
    policy: pack,
    routes: [
      route('pets', '/pets', {
        upstream: `${upstream.origin}/v1/pets`,
        protocol: 'http',
        contract: { current: { file: contract }, refresh: 0 },
      }),
      route('gone', '/gone', {
        upstream: 'http://127.0.0.1:9',
        protocol: 'http',
        contract: {
          current: { url: `http://127.0.0.1:9/openapi.json?token=${SECRETS['query of a call']}` },
        },
      }),
      route('tools', '/tools', { upstream: 'http://127.0.0.1:9/mcp', protocol: 'mcp' }),
    ],
    decision_log: {
      sinks: [
        { type: 'file', path: decisions },
        {
          type: 'http',
          url: `http://127.0.0.1:9/${SECRETS['sink path']}`,
          header: `Authorization: Bearer ${SECRETS['sink header']}`,
        },
      ],
    },
    monitoring: {
      sinks: [
        { type: 'log' },
        { type: 'http', url: 'http://127.0.0.1:9/events', header: `X-Token: ${SECRETS['monitoring header']}` },
      ],
    },
    otel: { endpoint: otlp.endpoint, protocol: 'http/json', headers: { 'x-token': SECRETS['OpenTelemetry header'] } },
    notifications: {
      channels: [
        { type: 'webhook', name: 'ops', url: `${hook.url}/hook`, secret: SECRETS['signer of webhooks'] },
        { type: 'slack', name: 'chat', url: `http://127.0.0.1:9/services/${SECRETS['webhook path']}` },
        {
          type: 'slack_bot',
          name: 'app',
          token: SECRETS['token of a Slack app'],
          channel: 'C01',
          api: 'http://127.0.0.1:9',
        },
        {
          type: 'email',
          name: 'mail',
          smtp: `smtp://user:${SECRETS['mail password']}@127.0.0.1:9`,
          from: 'a@preflight.test',
          to: ['b@preflight.test'],
        },
      ],
    },
    console: {
      providers: [
        {
          name: 'idp',
          issuer: 'http://127.0.0.1:9',
          client_id: 'console',
          client_secret: SECRETS['client secret'],
          roles: [{ group: 'ops', role: 'admin' }],
        },
      ],
    },
    public_url: 'https://preflight.test',
  }
  const log: string[] = []
  const gateway = await startGateway(
    { value: config, environment: { PREFLIGHT_BOOTSTRAP_KEY: SECRETS['bootstrap key'] } },
    { output: devNull(), logger: createLogger('trace', { write: (line) => void log.push(line) }) },
  )
  const place = join(folder, 'preflight.json')
  writeFileSync(place, JSON.stringify(config))
  return { gateway, log, otlp, hook, decisions, contract, config, place }
}

const SENT = {
  authorization: `Bearer ${SECRETS['upstream authorization']}`,
  cookie: `session=${SECRETS['upstream cookie']}`,
  'x-api-key': SECRETS['key of another service'],
}

test('no planted credential is in any output of a gateway', { timeout: 120_000 }, async (t) => {
  const { gateway, log, otlp, hook, decisions, contract, config, place } = await planted(t)
  const { proxy, api, admin } = gateway.addresses
  const outputs: Record<string, string> = {}
  const put = (name: string, text: string): void => void (outputs[name] = (outputs[name] ?? '') + text)
  const answered = async (name: string, url: string, init: RequestInit = {}): Promise<unknown> => {
    const answer = await fetch(url, init)
    const text = await answer.text()
    put(name, text)
    return text.startsWith('{') ? JSON.parse(text) : text
  }
  const asked = (path: string, body: object, key: string = SECRETS['bootstrap key']) =>
    fetch(api + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((answer): Promise<unknown> => answer.json())

  // Calls: allowed, with a contract that cannot be read, unreadable, to an upstream that is gone.
  const query = `token=${SECRETS['query of a call']}`
  await (await fetch(`${proxy}/pets?${query}`, { headers: SENT })).text()
  await answered('refusals', `${proxy}/gone/x?${query}`, {
    headers: SENT,
    method: 'POST',
    body: SECRETS['body of a call'],
  })
  const tool = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'pay', arguments: { card: SECRETS['MCP argument'] } },
  }
  const json = { ...SENT, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  await answered('refusals', `${proxy}/tools`, { method: 'POST', headers: json, body: JSON.stringify(tool) })
  await answered('refusals', `${proxy}/tools`, {
    method: 'POST',
    headers: json,
    body: `{"a":"${SECRETS['unreadable request']}`,
  })
  await answered('refusals', `${proxy}/nowhere?${query}`, { headers: SENT })
  // The API: an unknown key, an unreadable body, a wrong member, keys, a decision with a receipt, an approval.
  await answered('API errors', `${api}/api/v1/ledger`, {
    headers: { authorization: `Bearer ${SECRETS['unknown API key']}` },
  })
  await answered('API errors', `${api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRETS['bootstrap key']}`, 'content-type': 'application/json' },
    body: `{"preflight_mode":"authorize", ${SECRETS['unreadable request']}`,
  })
  const made = textAt(await asked('/api/v1/keys', { name: 'viewer', role: 'viewer' }), 'api_key')
  const before = readFileSync(contract, 'utf8')
  const document: unknown = JSON.parse(before)
  const paths: Record<string, unknown> = { ...Object(at(document, 'paths')) }
  breakListing(paths)
  const context = { operation: 'deploy', environment: 'prod' }
  const decide = (after: string) =>
    asked('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts: [{ id: 'pets', type: 'openapi', before, after }],
      context,
    })
  const receipt = textAt(await decide(before), 'chain_receipt')
  await decide(JSON.stringify({ ...Object(document), paths }))
  await (await fetch(`${proxy}/pets`, { headers: { ...SENT, 'preflight-receipt': receipt } })).text()
  const signing: unknown = JSON.parse(readFileSync(keyFile(config.data_dir), 'utf8'))
  const privateKey = /"d": ?"([\w-]{20,})"/.exec(JSON.stringify(signing))?.[1] ?? assert.fail('there is a private key')
  const secrets = { ...SECRETS, 'API key': made, receipt, 'receipt key': privateKey }

  // What people and programs look at.
  const operator = { headers: { authorization: `Bearer ${SECRETS['bootstrap key']}` } }
  for (const page of ['/metrics', '/readyz', '/config_dump', '/status', ...DEBUG_PAGES.map((name) => `/debug/${name}`)])
    await answered(page, admin + page, operator)
  await answered('/metrics', `${admin}/metrics`, { headers: { accept: 'application/openmetrics-text' } })
  for (const path of [
    '/api/v1/status',
    '/api/v1/ledger',
    '/api/v1/ledger?records=calls',
    '/api/v1/approvals',
    '/api/v1/keys',
    '/api/v1/baselines',
    '/api/v1/fleet',
  ])
    await answered(`API ${path}`, api + path, operator)
  const signedIn = await fetch(`${api}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: api },
    body: new URLSearchParams({ key: SECRETS['bootstrap key'] }),
  })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  put('console', (await signedIn.text()) + cookie)
  for (const page of [
    '',
    '/approvals',
    '/ledger',
    '/routes',
    '/routes/pets',
    '/monitoring',
    '/break-glass',
    '/notifications',
    '/keys',
  ])
    await answered('console', `${api}/console${page}`, { headers: { cookie } })
  for (const command of [
    ['status'],
    ['ledger', 'list'],
    ['ledger', 'calls'],
    ['keys', 'list'],
    ['approvals', 'list'],
    ['logs', 'tail'],
    ['config', 'check'],
  ]) {
    const { stdout, stderr } = await run([...command, '--config', place])
    put(`preflight ${command.join(' ')}`, stdout + stderr)
  }
  await until(() => hook.bodies.length > 0, 'people are told of the approval')
  await until(() => log.some((line) => line.includes('notification.retried')), 'channels that do not answer are logged')
  await until(() => log.some((line) => line.includes('sink.failed')), 'sinks that do not answer are logged')
  await gateway.close()
  put('notifications', hook.bodies.join('\n'))
  put('log', log.join('\n'))
  put('decision log', readFileSync(decisions, 'utf8'))
  put(
    'traces',
    JSON.stringify([otlp.spans, otlp.metrics, otlp.resources], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  )

  assert.ok(otlp.spans.length > 0 && outputs['console']?.includes('pets') === true, 'the outputs are not empty')
  for (const [name, output] of Object.entries(outputs)) {
    assert.ok(output.length > 0, `${name} has content`)
    assert.deepEqual(leaksIn(output, secrets), [], `${name} holds a secret`)
  }
})

test('a start that fails names no credential', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-secrets-'))
  const place = join(folder, 'preflight.json')
  const faults: readonly object[] = [
    { store: { url: `postgres://user:${SECRETS['database password']}@127.0.0.1:9/preflight`, connect_timeout: 1 } },
    { store: { url: `postgres://user:${SECRETS['database password']}@:bad:/preflight` } },
    {
      notifications: {
        channels: [{ type: 'email', name: 'm', smtp: `http://u:${SECRETS['mail password']}@x`, from: 'a', to: [] }],
      },
    },
    { notifications: { channels: [{ type: 'slack_bot', name: 'b', token: `x ${SECRETS['token of a Slack app']}` }] } },
    { notifications: { channels: [{ type: 'slack', name: 'c', url: `ftp://x/${SECRETS['webhook path']}` }] } },
    {
      notifications: {
        channels: [{ type: 'webhook', name: 'w', url: 'https://x.test', secret: SECRETS['client secret'] }],
      },
    },
    { otel: { endpoint: 'http://127.0.0.1:9', headers: [SECRETS['OpenTelemetry header']] } },
    {
      routes: [
        {
          name: 'a',
          match: { path: '/' },
          protocol: 'http',
          upstream: `http://u:${SECRETS['user of an upstream address']}@x y/`,
        },
      ],
    },
    { decision_log: { sinks: [{ type: 'http', url: `no-address/${SECRETS['sink path']}` }] } },
    { console: { providers: [{ name: 'idp', client_secret: SECRETS['client secret'], unknown: true }] } },
  ]
  for (const fault of faults) {
    writeFileSync(place, JSON.stringify({ data_dir: join(folder, 'data'), listen: FREE_PORTS, ...fault }))
    for (const command of ['serve', 'config check', 'ledger list']) {
      const { code, stdout, stderr } = await run([...command.split(' '), '--config', place])
      if (command === 'serve') assert.notEqual(code, 0, `${JSON.stringify(fault)}: ${stdout}`)
      assert.deepEqual(leaksIn(stdout + stderr, SECRETS), [], `${command}: ${stderr}`)
    }
  }
})
