/** Requests to a GraphQL server, by the clients that people use: judged by what each operation selects and gives. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client, fetchExchange } from '@urql/core'
import { createClient } from 'graphql-sse'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { run } from '../../fakes/command-io.ts'
import { startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { startGraphqlService, type GraphqlService } from '../../fakes/graphql-service.ts'
import { at, textAt } from '../../json.ts'

const PINNED = `
  type Query { user(id: ID!): User orders: [Order!]! broken: Int }
  type Mutation { addUser(name: String!): User }
  type Subscription { ticks: Int! }
  type User { id: ID! name: String! role: Role! orders: [Order!]! }
  type Order { id: ID! total: Int! }
  enum Role { ADMIN MEMBER }
`

/** Whoever selects the name of a user is refused by the server. */
const WITHOUT_NAME = PINNED.replace('name: String! role', 'role')

const NAME = '{ user(id: 1) { name } }'
const ROLE = '{ user(id: 1) { role } }'

function schemaFile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-graphql-')), 'schema.graphql')
  writeFileSync(file, text)
  return file
}

interface Scene {
  readonly gateway: TestGateway
  readonly service: GraphqlService
  readonly url: string
  readonly ask: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>
}

async function scene(t: TestContext, current: string, route: object = {}): Promise<Scene> {
  const service = await startGraphqlService(t, PINNED)
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'shop',
        match: { path: '/graphql' },
        upstream: service.url,
        protocol: 'graphql',
        contract: { baseline: { file: schemaFile(PINNED) }, current: { file: schemaFile(current) } },
        ...route,
      },
    ],
  })
  const url = `${gateway.addresses.proxy}/graphql`
  return {
    gateway,
    service,
    url,
    async ask(body, headers = {}) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: await answer.json(), headers: answer.headers }
    },
  }
}

suite('a change', () => {
  test('stops the operations that it touches, and no others', async (t) => {
    const { ask, service } = await scene(t, WITHOUT_NAME)
    const good = await ask({ query: ROLE })
    assert.equal(textAt(good.body, 'data', 'user', 'role'), 'ADMIN')
    const stopped = await ask({ query: NAME })
    assert.equal(stopped.status, 403)
    assert.equal(stopped.headers.get('preflight-action'), 'STOP')
    assert.equal(textAt(stopped.body, 'error'), 'PREFLIGHT_STOP')
    assert.equal(textAt(stopped.body, 'decision_result', 'decision'), 'BLOCK')
    assert.match(textAt(stopped.body, 'errors', 0, 'message'), /^Preflight stopped QUERY user: /)
    assert.equal(textAt(stopped.body, 'errors', 0, 'extensions', 'code'), 'PREFLIGHT_STOP')
    assert.deepEqual(service.executed, [ROLE])
  })

  test('is found through fragments and in variables', async (t) => {
    const { ask } = await scene(
      t,
      PINNED.replace('enum Role { ADMIN MEMBER }', 'enum Role { MEMBER }').replace('name: String! role', 'role'),
    )
    const query = 'query($x: ID!) { user(id: $x) { ...U } } fragment U on User { n: name }'
    assert.equal((await ask({ query, variables: { x: 1 } })).status, 403)
    assert.equal((await ask({ query: '{ orders { total } }' })).status, 200)
  })

  test('stops a batch as a whole, named by what it touches', async (t) => {
    const { ask, service } = await scene(t, WITHOUT_NAME)
    const both = await ask([{ query: '{ orders { id } }' }, { query: NAME }])
    assert.equal(both.status, 403)
    assert.match(textAt(both.body, 'message'), /QUERY user/)
    assert.equal((await ask([{ query: '{ orders { id } }' }, { query: ROLE }])).status, 200)
    assert.equal(service.executed.length, 2)
  })

  test('that needs an approval is 428, and an operation that nobody describes is judged by all of it', async (t) => {
    const { ask } = await scene(t, PINNED.replace('user(id: ID!)', 'user(id: ID!, as: Role = ADMIN)'))
    const held = await ask({ query: ROLE })
    assert.equal(held.status, 428)
    assert.match(held.headers.get('location') ?? '', /approvals/)
    assert.equal((await ask({ query: '{ orders { id } }' })).status, 200)
    assert.equal((await ask({ query: '{ nobody }' })).status, 428)
  })

  test('of the schema that cannot be read leaves every call undecided', async (t) => {
    const { ask, service } = await scene(t, 'type Query {')
    const reported = await ask({ query: ROLE })
    assert.equal(reported.status, 503)
    assert.equal(textAt(reported.body, 'errors', 0, 'extensions', 'code'), 'PREFLIGHT_UNDECIDED')
    assert.deepEqual(service.executed, [])
  })
})

test('decisions are shared by operations that touch the same, whatever values they give', async (t) => {
  const { ask } = await scene(t, PINNED)
  const ids = new Set<string | null>()
  for (const [query, id] of [
    ['query A($i: ID!) { user(id: $i) { id } }', 1],
    ['query B($i: ID!) { user(id: $i) { id } }', 2],
    ['query($j: ID!) { user(id: $j) { same: id } }', 3],
  ] as const)
    ids.add((await ask({ query, variables: { i: id, j: id } })).headers.get('preflight-decision-id'))
  assert.equal(ids.size, 1)
  const other = await ask({ query: ROLE })
  assert.ok(!ids.has(other.headers.get('preflight-decision-id')))
})

test('introspection passes, whatever has changed', async (t) => {
  const { ask, service } = await scene(t, WITHOUT_NAME)
  const reported = await ask({ query: '{ __schema { queryType { name } } }' })
  assert.equal(textAt(reported.body, 'data', '__schema', 'queryType', 'name'), 'Query')
  assert.equal(reported.headers.get('preflight-action'), null)
  assert.equal(service.introspections.length, 1)
})

test('urql shows why an operation was stopped', async (t) => {
  const { url } = await scene(t, WITHOUT_NAME)
  for (const preferGetMethod of [false, 'force'] as const) {
    const client = new Client({ url, exchanges: [fetchExchange], preferGetMethod })
    const good = await client.query(ROLE, {}).toPromise()
    assert.equal(at(good.data, 'user', 'role'), 'ADMIN')
    const stopped = await client.query(NAME, {}).toPromise()
    assert.match(stopped.error?.graphQLErrors[0]?.message ?? '', /^Preflight stopped QUERY user/)
    assert.equal(stopped.error?.graphQLErrors[0]?.extensions['code'], 'PREFLIGHT_STOP')
  }
})

test('Apollo persists its queries through the gateway, and shows why one was stopped', async (t) => {
  const { url, service, gateway } = await scene(t, WITHOUT_NAME)
  const link = new PersistedQueryLink({ sha256: (text: string) => sha256Hex(text) }).concat(new HttpLink({ uri: url }))
  const client = new ApolloClient({
    link,
    cache: new InMemoryCache(),
    defaultOptions: { query: { fetchPolicy: 'no-cache' } },
  })
  for (let round = 0; round < 2; round += 1) {
    const { data } = await client.query({
      query: gql`
        query Role {
          user(id: 1) {
            role
          }
        }
      `,
    })
    assert.equal(at(data, 'user', 'role'), 'ADMIN')
  }
  assert.equal(service.executed.length, 2)
  assert.ok(gateway.log.some(({ msg }) => String(msg).includes('persisted document is not known here yet')))
  await assert.rejects(
    client.query({
      query: gql`
        query Name {
          user(id: 1) {
            name
          }
        }
      `,
    }),
    (error) => {
      assert.match(JSON.stringify(error), /Preflight stopped QUERY user/)
      return true
    },
  )
  assert.equal(service.executed.length, 2)
})

test('a subscription over server-sent events streams on, and is judged before it does', async (t) => {
  const service = await startGraphqlService(t, PINNED)
  const stream = service.url.replace('/graphql', '/stream')
  const routeTo = (name: string, current: string): object => ({
    name,
    match: { path: `/${name}` },
    upstream: stream,
    protocol: 'graphql',
    contract: { baseline: { file: schemaFile(PINNED) }, current: { file: schemaFile(current) } },
  })
  const gateway = await startTestGateway(t, {
    routes: [routeTo('good', PINNED), routeTo('changed', PINNED.replace('ticks: Int!', 'ticks: Int'))],
  })
  const listen = async (name: string, singleConnection: boolean): Promise<unknown[]> => {
    const client = createClient({ url: `${gateway.addresses.proxy}/${name}`, singleConnection, retryAttempts: 0 })
    try {
      const found: unknown[] = []
      for await (const { data } of client.iterate({ query: 'subscription { ticks }' })) found.push(at(data, 'ticks'))
      return found
    } finally {
      client.dispose()
    }
  }
  for (const singleConnection of [false, true]) {
    assert.deepEqual(await listen('good', singleConnection), [1, 2])
    await assert.rejects(listen('changed', singleConnection))
  }
})

test('a check by another proxy gets the same result, if it sends whole bodies', async (t) => {
  const { gateway } = await scene(t, WITHOUT_NAME)
  const asked = (body: string): Promise<Response> =>
    fetch(`${gateway.addresses.api}/authz/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  assert.equal((await asked(JSON.stringify({ query: ROLE }))).status, 200)
  const stopped = await asked(JSON.stringify({ query: NAME }))
  assert.equal(stopped.status, 403)
  assert.match(textAt(await stopped.json(), 'errors', 0, 'message'), /Preflight stopped QUERY user/)
  const persistedQuery = { version: 1, sha256Hash: sha256Hex('{ unknown }') }
  assert.equal((await asked(JSON.stringify({ extensions: { persistedQuery } }))).status, 403)
  assert.equal((await asked('')).status, 503)
})

test('decisions on operations are made again from what was kept of them, by what they touched', async (t) => {
  const { ask, gateway } = await scene(t, WITHOUT_NAME)
  await ask({ query: NAME })
  await ask({ query: ROLE })
  const pack = join(import.meta.dirname, '../../../policies/default/pack.yaml')
  const replayed = async (): Promise<string> =>
    (await run(['policy', 'replay', pack, '--ledger', '--data-dir', gateway.dataDir])).stdout
  const expected = 'on 2 logged decisions: 2 unchanged'
  let reported = await replayed()
  for (let tries = 0; tries < 20 && !reported.includes(expected); tries += 1) reported = await replayed()
  assert.ok(reported.includes(expected), reported)
})

suite('documents that clients name by id', () => {
  const manifest = { greet: ROLE, name: NAME }
  test('are judged by the manifest', async (t) => {
    const documents = join(mkdtempSync(join(tmpdir(), 'preflight-documents-')), 'manifest.json')
    writeFileSync(documents, JSON.stringify(manifest))
    const { ask } = await scene(t, WITHOUT_NAME, { graphql: { documents } })
    assert.equal((await ask({ documentId: 'name' })).status, 403)
    assert.equal((await ask({ id: 'greet' })).status, 200)
    const unknown = await ask({ doc_id: 'other' })
    assert.equal(unknown.status, 503)
    assert.match(textAt(unknown.body, 'message'), /"other" is not known to the gateway/)
  })

  const FIELDS = ['X-APOLLO-OPERATION-ID', 'x_apollo_operation_id']
  for (const field of FIELDS)
    test(`are judged beside the stated one where ${field} names another`, async (t) => {
      const documents = join(mkdtempSync(join(tmpdir(), 'preflight-documents-')), 'manifest.json')
      writeFileSync(documents, JSON.stringify(manifest))
      const { gateway } = await scene(t, WITHOUT_NAME, { graphql: { documents } })
      const statusOf = async (body: object, id: string): Promise<number> => {
        const headers = { 'content-type': 'application/json', [field]: id }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        return (await fetch(`${gateway.addresses.proxy}/graphql`, init)).status
      }
      assert.equal(await statusOf({ query: ROLE }, sha256Hex(ROLE)), 200)
      assert.equal(await statusOf({ query: ROLE }, 'greet'), 200)
      assert.equal(await statusOf({ query: ROLE }, 'name'), 403)
      assert.equal(await statusOf({ query: ROLE }, 'unknown'), 503)
      assert.equal(await statusOf({ documentId: 'greet' }, 'greet'), 200)
      assert.equal(await statusOf({ documentId: 'greet' }, 'name'), 403)
    })

  test('are found by an id in the extensions', async (t) => {
    const documents = join(mkdtempSync(join(tmpdir(), 'preflight-documents-')), 'manifest.json')
    writeFileSync(documents, JSON.stringify(manifest))
    const { ask } = await scene(t, WITHOUT_NAME, { graphql: { documents } })
    assert.equal((await ask({ extensions: { operationId: 'greet' } })).status, 200)
    assert.equal((await ask({ extensions: { operationId: 'name' } })).status, 403)
  })

  test('are judged beside the stated one where the id of an operation of a stream is theirs', async (t) => {
    const stored = '3b241101-e2bb-4255-8caf-4136c566a962'
    const other = '3b241101-e2bb-4255-8caf-4136c566a963'
    const documents = join(mkdtempSync(join(tmpdir(), 'preflight-documents-')), 'manifest.json')
    writeFileSync(documents, JSON.stringify({ ...manifest, [stored]: NAME }))
    const { gateway } = await scene(t, WITHOUT_NAME, { graphql: { documents } })
    const statusOf = async (body: object): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'X-GraphQL-Event-Stream-Token': 'token' }
      return (
        await fetch(`${gateway.addresses.proxy}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) })
      ).status
    }
    assert.equal(await statusOf({ query: ROLE, extensions: { operationId: other } }), 200)
    assert.equal(await statusOf({ query: ROLE, extensions: { operationId: stored } }), 403)
    assert.equal(await statusOf({ documentId: 'greet', extensions: { operationId: other } }), 200)
    assert.equal(await statusOf({ documentId: 'name', extensions: { operationId: other } }), 403)
    assert.equal(await statusOf({ extensions: { operationId: 'name' } }), 403)
  })

  test('or by one of Apollo, whose ids are hashes', async (t) => {
    const documents = join(mkdtempSync(join(tmpdir(), 'preflight-documents-')), 'manifest.json')
    const operations = [{ id: sha256Hex(NAME), body: NAME, name: 'Name', type: 'query' }]
    writeFileSync(documents, JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }))
    const { ask } = await scene(t, WITHOUT_NAME, { graphql: { documents } })
    const persistedQuery = { version: 1, sha256Hash: sha256Hex(NAME) }
    assert.equal((await ask({ extensions: { persistedQuery } })).status, 403)
  })
})

suite('the schema as the upstream tells it', () => {
  const asked = { contract: { refresh: 0 }, graphql: { introspect: true } }

  test('is pinned when it is seen first, and changes of it decide', async (t) => {
    const { ask, service } = await scene(t, PINNED, asked)
    assert.equal((await ask({ query: NAME }, { authorization: 'Bearer ada' })).status, 200)
    service.offer(WITHOUT_NAME)
    assert.equal((await ask({ query: NAME })).status, 403)
    assert.equal((await ask({ query: ROLE })).status, 200)
    assert.deepEqual(new Set(service.introspections), new Set(['Bearer ada', undefined]))
  })

  test('is asked again for other credentials only, while it is young enough', async (t) => {
    const { ask, service } = await scene(t, PINNED, { ...asked, contract: { refresh: 60 } })
    for (const name of ['ada', 'bob', 'ada', 'bob']) await ask({ query: ROLE }, { authorization: `Bearer ${name}` })
    assert.deepEqual(service.introspections, ['Bearer ada', 'Bearer bob'])
  })
})
