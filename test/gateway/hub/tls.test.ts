/** TLS between sidecars and their hub: certificates of the hub that a sidecar does not accept, and certificates of sidecars. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { Agent, createServer, request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import { StartupError } from '../../../gateway/errors/startup-error.ts'
import { identifyHubCaller } from '../../../gateway/hub/identity.ts'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { startHubCluster, startSilently, type HubCluster } from '../../fakes/hub-scene.ts'
import { listening } from '../../fakes/listening.ts'
import { until as untilWithin } from '../../fakes/until.ts'
import { at } from '../../json.ts'

const until: typeof untilWithin = (isTrue, what) => untilWithin(isTrue, what, 60_000)

let cluster: HubCluster
let authority: TestAuthority
let clients: TestAuthority
let stranger: TestAuthority
before(async () => {
  cluster = await startHubCluster()
  ;[authority, clients, stranger] = [await testAuthority(), await testAuthority(), await testAuthority()]
})
after(() => cluster.close())

type Pair = Awaited<ReturnType<TestAuthority['leaf']>>

/** Files of a certificate and its key, as settings name them. */
function filesOf({ cert, key }: Pair) {
  const folder = `${cluster.folder()}-pair`
  const [certificate, keyFile] = [`${folder}.crt`, `${folder}.key`]
  writeFileSync(certificate, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  return { certificate, key: keyFile }
}

const tlsOf = (pair: Pair) => ({ tls: { listeners: { hub: filesOf(pair) } } })
const absent = () => join(cluster.root, 'absent.pem')
const uri = (value: string) => ({ type: 'url', value }) as const

/** A hub over TLS that takes certificates of `clients`. */
async function startTlsHub(t: TestContext, hub: object = {}) {
  const files = filesOf(await authority.leaf('127.0.0.1'))
  const tls = { listeners: { hub: { ...files, client_ca: clients.file } } }
  return cluster.startHub(t, { certificates: true, ...hub }, { tls })
}

suite('a sidecar and a hub whose certificate it does not accept', () => {
  /** `server`: the origin of what answers in place of the hub. */
  const rows: Readonly<
    Record<
      string,
      {
        readonly server: (t: TestContext) => Promise<string>
        readonly access?: () => object
        readonly message: RegExp
      }
    >
  > = {
    'of another authority': {
      server: (t) => tlsServer(t, stranger.leaf('127.0.0.1')),
      message: /No authority in \S+ \(store\.hub\.ca_file\) certifies the hub/,
    },
    'that no public authority knows': {
      server: (t) => tlsServer(t, authority.leaf('127.0.0.1')),
      access: () => ({ ca_file: undefined }),
      message: /Name the PEM file of its authority with store\.hub\.ca_file/,
    },
    'that has expired': {
      server: (t) => tlsServer(t, authority.leaf('127.0.0.1', Date.now() - 60_000)),
      message: /expired\. Renew the certificate of the hub \(tls\.listeners\.hub\.certificate\)/,
    },
    'for another host': {
      server: (t) => tlsServer(t, authority.leaf('hub.example')),
      message: /altnames.+\. Write a name of that certificate in store\.url/,
    },
    'that speaks no TLS': {
      server: async (t) => (await listening(t, createHttpServer())).replace('http:', 'https:'),
      message: /Check the port in store\.url: https:\/\/ needs a hub with tls\.listeners\.hub/,
    },
    'whose authority is in no file': {
      server: (t) => tlsServer(t, authority.leaf('127.0.0.1')),
      access: () => ({ ca_file: absent() }),
      message:
        /absent\.pem does not exist; make it, or name another file \(ENOENT\)\. Check the files that store\.hub names/,
    },
    'and its own token file is missing': {
      server: (t) => tlsServer(t, authority.leaf('127.0.0.1')),
      access: () => ({ token_file: absent() }),
      message:
        /absent\.pem does not exist; make it, or name another file \(ENOENT\)\. Check the files that store\.hub names/,
    },
  }
  for (const [what, { server, access = () => ({}), message }] of Object.entries(rows))
    test(`${what}: its start ends with what to do`, async (t) => {
      const url = await server(t)
      const given = { ca_file: authority.file, ...access() }
      await assert.rejects(cluster.startSidecar(t, url, { access: given }), (error: unknown) => {
        assert.ok(error instanceof StartupError)
        assert.match(error.message, message)
        assert.ok(error.message.includes(url), 'it names the address')
        return true
      })
    })

  test('that is replaced by one of another authority: calls are refused until the file of authorities has it', async (t) => {
    const hub = await cluster.startHub(t, {}, tlsOf(await authority.leaf('127.0.0.1')))
    const authorities = join(cluster.root, 'authorities.pem')
    writeFileSync(authorities, authority.certificate)
    const sidecar = await cluster.startSidecar(t, hub.url, { access: { ca_file: authorities, max_age: 0 } })
    assert.equal(await sidecar.call(), 200)
    await hub.gateway.close()
    const config = { ...cluster.hubConfig(new URL(hub.url).host, hub.data), ...tlsOf(await stranger.leaf('127.0.0.1')) }
    hub.gateway = await startSilently(config)
    await until(async () => (await sidecar.call('/pets/7')) === 503, 'a hub that cannot be verified decides nothing')
    assert.equal(await sidecar.call('/pets/8'), 503)
    writeFileSync(authorities, stranger.certificate)
    await until(async () => (await sidecar.call('/pets/7')) === 200, 'the file is read again')
  })
})

suite('a client certificate of a hub', () => {
  /** `answer`: status and tenant; null: there is no connection. */
  const rows: Readonly<
    Record<
      string,
      {
        readonly certificate: () => Promise<Pair | null>
        readonly hub?: object
        readonly answer: readonly [number, string | undefined] | null
      }
    >
  > = {
    'with an organization and a name': {
      certificate: () => clients.clientLeaf('agent', { subject: 'O=team-a,CN=agent' }),
      answer: [200, 'team-a'],
    },
    'with a SPIFFE URI': {
      certificate: () =>
        clients.clientLeaf('', { subject: 'O=other,CN=x', names: [uri('spiffe://cluster/ns/team-a/sa/agent')] }),
      answer: [200, 'team-a'],
    },
    'with two SPIFFE URIs': {
      certificate: () =>
        clients.clientLeaf('', {
          subject: 'O=team-a,CN=x',
          names: [uri('spiffe://cluster/ns/team-a/sa/agent'), uri('spiffe://cluster/ns/team-b/sa/agent')],
        }),
      answer: [401, undefined],
    },
    'with a SPIFFE URI that names no namespace': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,CN=x', names: [uri('spiffe://cluster/agent')] }),
      answer: [401, undefined],
    },
    'with a SPIFFE URI inside of another name': {
      certificate: () =>
        clients.clientLeaf('', {
          subject: 'O=team-a,CN=x',
          names: [{ type: 'dns', value: 'a, URI:spiffe://cluster/ns/team-b/sa/agent, DNS:b' }],
        }),
      answer: [200, 'team-a'],
    },
    'with a name only': { certificate: () => clients.clientLeaf('agent'), answer: [401, undefined] },
    'with two organizations': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,O=team-b,CN=agent' }),
      answer: [401, undefined],
    },
    'whose organization has a colon': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a:x,CN=agent' }),
      answer: [403, undefined],
    },
    'of an organization that is not listed': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,CN=agent' }),
      hub: { identities: [{ namespace: 'team-b' }] },
      answer: [403, undefined],
    },
    'of a name that has another tenant': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,CN=agent' }),
      hub: { identities: [{ namespace: 'team-a', service_account: 'agent', tenant: 'payments' }] },
      answer: [200, 'payments'],
    },
    'at a hub that takes none': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,CN=agent' }),
      hub: { certificates: false },
      answer: [401, undefined],
    },
    'of another authority': {
      certificate: () => stranger.clientLeaf('', { subject: 'O=team-a,CN=agent' }),
      answer: null,
    },
    'that has expired': {
      certificate: () => clients.clientLeaf('', { subject: 'O=team-a,CN=agent', endsAt: Date.now() - 60_000 }),
      answer: null,
    },
    'that is not sent': { certificate: () => Promise.resolve(null), answer: null },
  }
  for (const [what, { certificate, hub: settings, answer }] of Object.entries(rows))
    test(`${what} ${answer === null ? 'makes no connection' : `is answered ${answer.join(' ').trim()}`}`, async (t) => {
      const hub = await startTlsHub(t, settings)
      const asked = heartbeat(hub.url, { ...(await certificate()) })
      if (answer === null) await assert.rejects(asked)
      else {
        const { status, body } = await asked
        assert.deepEqual([status, at(body, 'tenant')], answer)
      }
    })

  test('that ends soon is that of one more answer, so that the next connection brings a renewed one', async (t) => {
    const hub = await startTlsHub(t)
    const subject = 'O=team-a,CN=agent'
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const soon = await clients.clientLeaf('', { subject, endsAt: Date.now() + 25_000 })
    const later = await clients.clientLeaf('', { subject })
    assert.equal((await heartbeat(hub.url, { ...soon, agent })).connection, 'close')
    assert.equal((await heartbeat(hub.url, { ...later, agent })).connection, 'keep-alive')
  })

  test('that ends while its connection lasts is refused, and the connection is closed', async () => {
    const settings = { certificates: true, keys: [], people: false, identities: [], clock_skew: 120 }
    const end = Date.parse('2026-11-23T00:00:00Z')
    const certificate = { subject: { O: 'team-a', CN: 'a' }, valid_to: 'Nov 23 00:00:00 2026 GMT', fingerprint256: 'f' }
    const socket = { authorized: true, getPeerCertificate: () => certificate }
    const identify = (now: number) =>
      identifyHubCaller(
        { headers: {}, socket },
        {
          settings: () => settings,
          issuerKeys: null,
          keyByHash: () => Promise.resolve(null),
          now: () => now,
        },
      )
    assert.equal((await identify(end - 1)).tenant, 'team-a')
    await assert.rejects(identify(end), (error: unknown) => {
      assert.ok(error instanceof GatewayError)
      assert.deepEqual([error.code, error.headers['Connection']], ['UNAUTHENTICATED', 'close'])
      return true
    })
  })

  test('of a sidecar is renewed without a restart', async (t) => {
    const hub = await startTlsHub(t)
    const short = await clients.clientLeaf('', { subject: 'O=team-a,CN=agent', endsAt: Date.now() + 6000 })
    const files = filesOf(short)
    const access = {
      token_file: undefined,
      max_age: 0,
      ca_file: authority.file,
      certificate: files.certificate,
      certificate_key: files.key,
    }
    const sidecar = await cluster.startSidecar(t, hub.url, { access })
    assert.equal(await sidecar.call(), 200)
    await until(async () => (await sidecar.call(`/pets/${Math.random()}`)) === 503, 'its certificate has ended')
    const renewed = await clients.clientLeaf('', { subject: 'O=team-a,CN=agent' })
    writeFileSync(files.certificate, renewed.cert)
    writeFileSync(files.key, renewed.key)
    await until(async () => (await sidecar.call(`/pets/${Math.random()}`)) === 200, 'the new one is used')
  })
})

async function tlsServer(t: TestContext, pair: Promise<Pair>): Promise<string> {
  return (await listening(t, createServer(await pair))).replace('http:', 'https:')
}

async function heartbeat(url: string, options: RequestOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number | undefined
    readonly connection: string | undefined
    readonly body: unknown
  }>()
  const headers = { 'content-type': 'application/json' }
  const sent = request(
    `${url}/hub/v1/heartbeat`,
    { method: 'POST', headers, ca: authority.certificate, agent: false, ...options },
    (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () =>
        resolve({ status: answer.statusCode, connection: answer.headers.connection, body: JSON.parse(text) }),
      )
    },
  )
  sent.on('error', reject).end('{}')
  return promise
}
