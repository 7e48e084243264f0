/**
 * Every kind of change that one gateway makes on a shared PostgreSQL, and when it is in force on another one. The answer to whoever
 * made it states the longest time. A gateway that receives no changes has each of them in force at its next look.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_REORDERED, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { startCuttingProxy } from '../../fakes/cutting-proxy.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

/** Seconds. An answer that states less would be wrong, and one that states more too. */
const BOUND = 1

const api = async (
  { addresses }: Pick<TestGateway, 'addresses'>,
  method: string,
  path: string,
  body?: object,
  key = TEST_KEY,
): Promise<{ readonly status: number; readonly within: string | null; readonly body: unknown }> => {
  const answer = await fetch(addresses.api + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, within: answer.headers.get('preflight-in-force-within'), body: await answer.json() }
}

type Answered = Awaited<ReturnType<typeof api>>
type Context = Readonly<Record<string, string>>

const decided = async (gateway: TestGateway, after: string, context: Context): Promise<unknown> => {
  const artifacts = [pets(after)]
  const answer = await api(gateway, 'POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const approvalIn = (body: unknown): string =>
  textAt(
    listAt(body, 'decision_result', 'evidence').find((row) => at(row, 'type') === 'APPROVAL'),
    'source',
  )
const called = async ({ addresses }: TestGateway, path: string): Promise<Response> => {
  const answer = await fetch(addresses.proxy + path)
  await answer.arrayBuffer()
  return answer
}
const newContext = (): Context => ({ operation: 'merge', target_id: `t-${Math.random()}` })
const opening = { route: 'closed', reason: 'an outage of the service', duration: 600 }

interface Member extends TestGateway {
  /** Of the store. */
  readonly url: string
}

interface Prepared {
  /** Made on the one gateway. Null: it is made on the command line, which has no answer header. */
  readonly make: () => Promise<Answered | null>
  /** Looked at on the other. */
  readonly isInForce: () => Promise<boolean>
}

interface Change {
  readonly what: string
  readonly prepare: (one: Member, two: Member) => Promise<Prepared>
}

const CHANGES: readonly Change[] = [
  {
    what: 'a receipt is revoked, which the other one reuses for calls',
    prepare: async (one, two) => {
      const used = (await called(two, '/judged/pets')).headers.get('preflight-decision-id')
      assert.equal((await called(two, '/judged/pets')).headers.get('preflight-decision-id'), used)
      return {
        make: () => api(one, 'POST', '/api/v1/receipts/revoke', { decision_id: used, reason: 'a test' }),
        isInForce: async () => (await called(two, '/judged/pets')).headers.get('preflight-decision-id') !== used,
      }
    },
  },
  {
    what: 'a receipt is superseded',
    prepare: async (one, two) => {
      const context = newContext()
      const token = textAt(await decided(two, PETS_REORDERED, context), 'chain_receipt')
      return {
        make: async () => {
          await decided(one, PETS_REORDERED, context)
          return null
        },
        isInForce: async () =>
          at((await api(two, 'POST', '/api/v1/verify-receipt', { token, context })).body, 'currently_authorized') ===
          false,
      }
    },
  },
  {
    what: 'an approval is granted',
    prepare: async (one, two) => {
      const context = newContext()
      const id = approvalIn(await decided(two, PETS_WITHOUT_DELETE, context))
      return {
        make: () => api(one, 'POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' }),
        isInForce: async () =>
          at(await decided(two, PETS_WITHOUT_DELETE, context), 'execution_action') === 'CONTINUE_WITH_MONITORING',
      }
    },
  },
  {
    what: 'an approval is denied',
    prepare: async (one, two) => {
      const context = newContext()
      const id = approvalIn(await decided(two, PETS_WITHOUT_DELETE, context))
      return {
        make: () => api(one, 'POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' }),
        isInForce: async () => {
          const { body } = await api(two, 'GET', `/api/v1/approvals/${id}`)
          return at(body, 'approval', 'state') === 'denied'
        },
      }
    },
  },
  {
    what: 'a break-glass exception begins',
    prepare: async (one, two) => {
      assert.equal((await called(two, '/closed/pets')).headers.get('preflight-break-glass'), null)
      return {
        make: () => api(one, 'POST', '/api/v1/break-glass', opening),
        isInForce: async () => (await called(two, '/closed/pets')).headers.get('preflight-break-glass') !== null,
      }
    },
  },
  {
    what: 'a break-glass exception is ended',
    prepare: async (one, two) => {
      const { body } = await api(one, 'GET', '/api/v1/break-glass?state=open')
      const open = listAt(body, 'items').map((row) => textAt(row, 'id'))
      if (open.length === 0)
        open.push(textAt((await api(one, 'POST', '/api/v1/break-glass', opening)).body, 'break_glass', 'id'))
      const isUsed = async () => (await called(two, '/closed/pets')).headers.get('preflight-break-glass') !== null
      await until(isUsed, 'the other one uses it')
      return {
        make: async () => {
          const ended = await Promise.all(open.map((id) => api(one, 'DELETE', `/api/v1/break-glass/${id}`)))
          return ended[0] ?? null
        },
        isInForce: async () => !(await isUsed()),
      }
    },
  },
  {
    what: 'a contract is promoted',
    prepare: async (one, two) => {
      assert.notEqual((await called(two, '/changed/pets')).status, 200)
      const { body } = await api(one, 'GET', '/api/v1/baselines/changed')
      const digest = textAt(body, 'candidate', 'digest')
      return {
        make: () => api(one, 'POST', '/api/v1/baselines/changed/promote', { digest, comment: 'seen' }),
        isInForce: async () => (await called(two, '/changed/pets')).status === 200,
      }
    },
  },
  {
    what: 'a receipt key is made',
    prepare: async (one, two) => {
      let made = ''
      return {
        make: async () => {
          const ran = await onCommandLine(one, ['keys', 'rotate', '--overlap', '60'])
          assert.equal(ran.code, 0, ran.stderr)
          made = ran.stdout.trim()
          return null
        },
        isInForce: async () => (await keysOf(two)).some((key) => at(key, 'kid') === made),
      }
    },
  },
  {
    what: 'a receipt key is revoked on the command line',
    prepare: async (one, two) => {
      const context = newContext()
      const token = textAt(await decided(one, PETS_REORDERED, context), 'chain_receipt')
      const [header = ''] = token.split('.')
      const signer = textAt(JSON.parse(Buffer.from(header, 'base64url').toString()), 'kid')
      const isAuthorized = async (gateway: TestGateway) =>
        at((await api(gateway, 'POST', '/api/v1/verify-receipt', { token, context })).body, 'currently_authorized')
      assert.equal(await isAuthorized(two), true)
      return {
        make: async () => {
          const ran = await onCommandLine(one, ['keys', 'revoke', signer])
          assert.equal(ran.code, 0, ran.stderr)
          return null
        },
        isInForce: async () => (await isAuthorized(two)) === false && (await isAuthorized(one)) === false,
      }
    },
  },
  {
    what: 'an API key is made',
    prepare: async (one, two) => {
      let key = ''
      return {
        make: async () => {
          const answer = await api(one, 'POST', '/api/v1/keys', { name: 'n', role: 'viewer' })
          key = textAt(answer.body, 'api_key')
          return answer
        },
        isInForce: async () => (await api(two, 'GET', '/api/v1/whoami', undefined, key)).status === 200,
      }
    },
  },
  {
    what: 'an API key is revoked, which the other one knows',
    prepare: async (one, two) => {
      const { body } = await api(one, 'POST', '/api/v1/keys', { name: 'n', role: 'viewer' })
      const status = async () => (await api(two, 'GET', '/api/v1/whoami', undefined, textAt(body, 'api_key'))).status
      assert.equal(await status(), 200)
      return {
        make: () => api(one, 'DELETE', `/api/v1/keys/${textAt(body, 'key', 'id')}`),
        isInForce: async () => (await status()) === 401,
      }
    },
  },
  {
    what: 'the right to grant is handed over, and taken back',
    prepare: async (one, two) => {
      const approver = { name: 'n', role: 'approver', groups: ['payments'] }
      const [from, to] = [
        await api(one, 'POST', '/api/v1/keys', approver),
        await api(one, 'POST', '/api/v1/keys', approver),
      ]
      const given = { to: textAt(to.body, 'key', 'id'), seconds: 600, reason: 'away' }
      const made = await api(two, 'POST', '/api/v1/delegations', given, textAt(from.body, 'api_key'))
      assert.equal(made.status, 200, JSON.stringify(made.body))
      const id = textAt(made.body, 'delegation', 'id')
      return {
        make: () => api(one, 'DELETE', `/api/v1/delegations/${id}`),
        isInForce: async () => {
          const listed = listAt((await api(two, 'GET', '/api/v1/delegations')).body, 'items')
          const row = listed.find((each) => at(each, 'id') === id)
          return row !== undefined && at(row, 'ended_at') !== null
        },
      }
    },
  },
]

/** On the data directory of a gateway, next to it. */
function onCommandLine({ dataDir, url }: Member, argv: readonly string[]) {
  return run(argv, { environment: { PREFLIGHT_DATA_DIR: dataDir, PREFLIGHT_STORE_URL: url } })
}

async function keysOf({ addresses }: TestGateway): Promise<readonly unknown[]> {
  return listAt(await (await fetch(`${addresses.api}/.well-known/jwks.json`)).json(), 'keys')
}

interface Pair {
  readonly one: Member
  readonly two: Member
  close(): Promise<void>
}

suite('a change on one gateway of a shared PostgreSQL', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  suite('is in force on the other within the time that the answer states', () => {
    let pair: Pair
    before(async () => {
      pair = await startPair(server, true)
    })
    after(() => pair.close())
    for (const { what, prepare } of CHANGES)
      test(what, async () => {
        const { make, isInForce } = await prepare(pair.one, pair.two)
        assert.equal(await isInForce(), false, 'not before')
        const answer = await make()
        if (answer !== null) {
          assert.ok(answer.status < 300, JSON.stringify(answer.body))
          assert.equal(answer.within, String(BOUND))
        }
        await until(isInForce, 'it is in force')
      })
  })

  suite('is in force at the next look of one that receives no changes', () => {
    let pair: Pair
    before(async () => {
      pair = await startPair(server, false)
    })
    after(() => pair.close())
    for (const { what, prepare } of CHANGES)
      test(what, async () => {
        const { make, isInForce } = await prepare(pair.one, pair.two)
        await make()
        // Receipt keys are files of one gateway, which takes a moment to publish them; the other one looks at intervals.
        if (what.startsWith('a receipt key')) await until(isInForce, 'it is in force')
        else assert.equal(await isInForce(), true)
      })
  })
})

/** @param hears false: the announcements to the second gateway are cut */
async function startPair(server: PostgresServer, hears: boolean): Promise<Pair> {
  const closers: (() => unknown)[] = []
  const context = { after: (close: () => unknown) => void closers.unshift(close) }
  const url = await server.database()
  const proxy = await startCuttingProxy(server.port)
  context.after(() => proxy.close())
  const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
  context.after(() => upstream.close())
  const [file, smaller] = [petContract(), petContract((paths) => (paths['/pets'] = { get: { responses: {} } }))]
  const routeOf = (name: string, more: object) => ({
    name,
    match: { path: `/${name}` },
    upstream: `${upstream.origin}/v1`,
    protocol: 'http',
    hold: 0,
    ...more,
  })
  const routes = [
    routeOf('judged', { contract: { current: { file } } }),
    routeOf('closed', { contract: { current: { file } }, receipts: { require: true } }),
    routeOf('changed', { contract: { baseline: { file }, current: { file: smaller } } }),
  ]
  const policy = join(import.meta.dirname, '../../fakes/asking-pack.yaml')
  const config = { routes, policy, approvals: { four_eyes: false }, rate: { per_minute: 100_000 } }
  const store = { url, in_force_within: BOUND }
  const listenUrl = url.replace(`:${server.port}/`, `:${proxy.port}/`)
  const started = await Promise.all([
    startTestGateway(context, { ...config, store }),
    startTestGateway(context, { ...config, store: { ...store, listen_url: listenUrl } }),
  ])
  const [one, two] = started.map((gateway) => ({ ...gateway, url }))
  assert.ok(one !== undefined && two !== undefined)
  await until(() => two.log.some(({ event }) => event === 'store.listening'), 'it receives changes')
  if (!hears) {
    proxy.cut = 'all'
    await until(() => two.log.some(({ event }) => event === 'store.not_listening'), 'it hears nothing', 20_000)
  }
  return {
    one,
    two,
    close: async () => {
      for (const close of closers) await close()
    },
  }
}
