/**
 * Every form in which a GraphQL request can come: read in one way, or refused; and what its answer says of the execution. One file,
 * since its tables list the forms of one scene.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { loadConfig } from '../../../gateway/config/load.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'
import { listAt, textAt } from '../../json.ts'

const SDL = 'type Query { a: Int b: Int } type Mutation { c: Int }'

function schema(text = SDL): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-graphql-')), 'schema.graphql')
  writeFileSync(file, text)
  return file
}

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpUpstream
  readonly url: string
}

async function scene(
  t: TestContext,
  {
    route = {},
    answer = '{"data":{}}',
    type = 'application/json',
    ...options
  }: Partial<ProxyOptions> & { readonly route?: object; readonly answer?: string; readonly type?: string } = {},
): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': type }).end(answer),
  )
  const contract = { current: { file: schema() } }
  const proxy = await startProxy({
    ...options,
    routes: [
      {
        name: 'shop',
        match: { path: '/graphql' },
        upstream: `${upstream.origin}/graphql`,
        protocol: 'graphql',
        contract,
        ...route,
      },
    ],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { proxy, upstream, url: `${proxy.url}/graphql` }
}

const json = (body: unknown, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const form = (body: string): RequestInit => json(body, 'application/x-www-form-urlencoded')
const A = encodeURIComponent('{ a }')

function upload(...parts: readonly (readonly [disposition: string, text: string])[]): RequestInit {
  const body = parts.map(
    ([disposition, text]) => `--preflight-test\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`,
  )
  return json(`${body.join('')}--preflight-test--\r\n`, 'multipart/form-data; boundary=preflight-test')
}

/** What is asked, and the root fields that it is judged by: of each operation. */
const JUDGED: readonly (readonly [what: string, path: string, init: RequestInit, fields: readonly string[]])[] = [
  ['JSON', '', json({ query: '{ a }' }), ['QUERY a']],
  [
    'JSON with a name, variables and extensions',
    '',
    json({ query: 'query X { a } query Y { b }', operationName: 'Y', variables: {}, extensions: {} }),
    ['QUERY b'],
  ],
  [
    'members that are null',
    '',
    json({ query: '{ a }', operationName: null, variables: null, extensions: null }),
    ['QUERY a'],
  ],
  ['variables as JSON in a text', '', json({ query: '{ a }', variables: '{"x":1}' }), ['QUERY a']],
  ['a newer media type', '', json({ query: '{ a }' }, 'application/graphql+json; charset=utf-8'), ['QUERY a']],
  [
    'a batch',
    '',
    json([{ query: '{ a }' }, { query: 'mutation { c }' }, { query: '{ __typename }' }]),
    ['QUERY a', 'MUTATION c'],
  ],
  ['a document as the body', '', json('{ a }', 'application/graphql'), ['QUERY a']],
  ['a form', '', form(`query=${A}&variables=%7B%7D`), ['QUERY a']],
  ['an address', `?query=${A}`, {}, ['QUERY a']],
  ['an address with HEAD', `?query=${A}&operationName=`, { method: 'HEAD' }, ['QUERY a']],
  [
    'an upload',
    '',
    upload(
      ['name="operations"', '{"query":"mutation($f: Upload) { c }","variables":{"f":null}}'],
      ['name="map"', '{"0":["variables.f"]}'],
      ['name="0"; filename="a.txt"', 'text'],
    ),
    [],
  ],
  [
    'an upload of what is described',
    '',
    upload(['name="operations"', '{"query":"mutation { c }"}'], ['name="map"', '{}']),
    ['MUTATION c'],
  ],
  ['several root fields', '', json({ query: '{ b x: a }' }), ['QUERY a,b']],
  [
    'a question for what is allowed that states an operation',
    '',
    { ...json({ query: '{ a }' }), method: 'OPTIONS' },
    ['QUERY a'],
  ],
  ['a method that is not a method of GraphQL', '', { ...json({ query: '{ a }' }), method: 'PUT' }, ['QUERY a']],
]

for (const [what, path, init, fields] of JUDGED) {
  test(`${what}: ${fields.length === 0 ? 'the whole contract' : fields.join(' and ')}`, async (t) => {
    const { url, proxy, upstream } = await scene(t)
    assert.equal((await fetch(url + path, init)).status, 200)
    const targets = proxy.flow.asked.map(({ context }) => context.target_id?.split('#')[0])
    assert.deepEqual(targets, fields.length === 0 ? ['shop'] : fields.map((field) => `shop/${field}`))
    assert.equal(upstream.requests.length, 1)
  })
}

test('a compressed body is judged unpacked, and sent as it came', async (t) => {
  const { url, proxy, upstream } = await scene(t)
  const body = gzipSync(JSON.stringify({ query: '{ a }' }))
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200)
  assert.match(proxy.flow.asked[0]?.context.target_id ?? '', /^shop\/QUERY a#[0-9a-f]{32}$/)
  assert.equal(upstream.requests[0]?.headers['content-encoding'], 'gzip')
})

const PASSING: readonly (readonly [what: string, path: string, init: RequestInit])[] = [
  ['a page', '', {}],
  ['a stream that is opened', '?token=x', { headers: { accept: 'text/event-stream' } }],
  ['a stream that is reserved', '', { method: 'PUT' }],
  ['an operation of a stream that is given up', '?operationId=1', { method: 'DELETE' }],
  ['a question for what is allowed', '', { method: 'OPTIONS' }],
  ['the name of the root type', '', json({ query: '{ __typename }' })],
  ['introspection by fragments', '', json({ query: '{ ...S } fragment S on Query { __schema { types { name } } }' })],
]

for (const [what, path, init] of PASSING) {
  test(`${what} passes`, async (t) => {
    const { url, proxy, upstream } = await scene(t)
    await fetch(url + path, init)
    assert.deepEqual(proxy.flow.asked, [])
    assert.equal(upstream.seen.length, 1)
  })
}

const HASH = sha256Hex('{ a }')
const persisted = (sha256Hash: unknown, version: unknown = 1): object => ({
  extensions: { persistedQuery: { version, sha256Hash } },
})

/** Names of `query` and others in an address, as some server reads them: with and without a body. */
const OTHER_NAMES = [
  'Query',
  'QUERY',
  'query[]',
  'query%5B0%5D',
  '+query',
  '%20query',
  'query%00',
  'x=1;query',
  'x;query',
]

for (const name of [...OTHER_NAMES, 'OperationName', 'VARIABLES', 'Extensions', 'ID', 'documentid', 'doc.id'])
  test(`${name} in an address is not a parameter that only some servers read`, async (t) => {
    const { url, upstream } = await scene(t)
    const query = `?${name}=${encodeURIComponent('mutation { c }')}`
    for (const init of [{}, json({ query: '{ a }' }), form(`query=${A}`), json('{ a }', 'application/graphql')])
      assert.equal((await fetch(url + query, init)).status, 400)
    assert.equal((await fetch(url, form(`query=${A}&${query.slice(1)}`))).status, 400)
    assert.deepEqual(upstream.seen, [])
  })

for (const path of ['/persisted/9f3a', '/persisted/9f3a/Remove', '/rest/pets/1', '/stored', '/graphql/x'])
  test(`${path} may run another document: judged by the whole contract, too`, async (t) => {
    const { url, proxy } = await scene(t)
    for (const query of ['{ a }', '{ __typename }']) await fetch(url + path, json({ query }))
    const targets = proxy.flow.asked.map(({ context }) => context.target_id?.split('#')[0])
    assert.deepEqual(targets, ['shop', 'shop/QUERY a'])
  })

for (const path of ['', '/', '/stream', '/subscriptions', '/v1/graphql', '/admin/api/graphql.json', '/GraphQL'])
  test(`${path} is an endpoint: judged by the operation alone`, async (t) => {
    const { url, proxy } = await scene(t)
    for (const query of ['{ a }', '{ __typename }']) await fetch(url + path, json({ query }))
    assert.deepEqual(
      proxy.flow.asked.map(({ context }) => context.target_id?.split('#')[0]),
      ['shop/QUERY a'],
    )
  })

test('a semicolon in a text of a form is one', async (t) => {
  const { url, proxy } = await scene(t)
  const request = form('query=query X($t: String) { a }&variables={"t":"x; y=1"}')
  assert.equal((await fetch(url, request)).status, 200)
  assert.equal(proxy.flow.asked.length, 1)
})

const STREAM_ID = '3b241101-e2bb-4255-8caf-4136c566a962'

function streamed(body: unknown, token = 'token'): RequestInit {
  const init = json(body)
  return { ...init, headers: { 'content-type': 'application/json', 'X-GraphQL-Event-Stream-Token': token } }
}

test('the random id of an operation of a stream is one, and the document is judged', async (t) => {
  const { url, proxy } = await scene(t)
  const stream = streamed({ query: '{ a }', extensions: { operationId: STREAM_ID } })
  assert.equal((await fetch(url, stream)).status, 200)
  assert.equal((await fetch(url, streamed({ extensions: { operationId: STREAM_ID } }))).status, 400)
  assert.deepEqual(
    proxy.flow.asked.map(({ context }) => context.target_id?.split('#')[0]),
    ['shop/QUERY a'],
  )
})

const STORED_NAMES = [
  'document_id',
  'operation_id',
  'namedQuery',
  'hash',
  'documentHash',
  'queryHash',
  'operationHash',
  'sha256Hash',
]

const STREAM_IDS: readonly (readonly [what: string, extensions: object, token: string])[] = [
  ['that is no random one', { operationId: 'app/x' }, 'token'],
  ['of a counter', { operationId: '1' }, 'token'],
  ['in upper case', { operationId: STREAM_ID.toUpperCase() }, 'token'],
  ['of another version', { operationId: STREAM_ID.replace('-4', '-1') }, 'token'],
  ['that is a list', { operationId: [STREAM_ID] }, 'token'],
  ['without a token', { operationId: STREAM_ID }, ''],
  ['beside another name', { operationId: STREAM_ID, documentId: 'app/x' }, 'token'],
]

const REFUSED: readonly (readonly [what: string, path: string, init: RequestInit, status: number])[] = [
  ['a member twice', '', json('{"query":"{ a }","query":"{ b }"}'), 400],
  ['a member in other letters', '', json({ query: '{ a }', Query: '{ b }' }), 400],
  ['an operation in address and body', `?query=${A}`, json({ query: '{ b }' }), 400],
  ['variables in the address of a body', '?variables=%7B%7D', json({ query: '{ b }' }), 400],
  ['a parameter twice', `?query=${A}&query=${A}`, {}, 400],
  ['a form with a parameter twice', '', form(`query=${A}&query=${A}`), 400],
  ['another type of body', '', json('{"query":"{ a }"}', 'text/plain'), 415],
  ['letters of another coding', '', json({ query: '{ a }' }, 'application/json; charset=utf-7'), 415],
  ['letters of two codings', '', json({ query: '{ a }' }, 'application/json; charset=utf-8; charset=utf-7'), 415],
  ['letters of an encoded coding', '', json({ query: '{ a }' }, "application/json; charset*=''utf-7"), 415],
  ['no JSON', '', json('{'), 400],
  ['no object', '', json('"{ a }"'), 400],
  ...[
    { extensions: { persistedQuery: { version: 1, sha256Hash: HASH, md5Hash: 'x' } } },
    { extensions: { persistedQuery: { version: 1, sha256Hash: HASH, SHA256Hash: 'x' } } },
    {
      extensions: { persistedQuery: { version: 1, sha256Hash: HASH }, PersistedQuery: { version: 1, sha256Hash: 'x' } },
    },
  ].map((hashes) => ['a second hash', '', json({ query: '{ a }', ...hashes }), 400] as const),
  ['an empty batch', '', json([]), 400],
  ['a batch without end', '', json(Array.from({ length: 51 }, () => ({ query: '{ a }' }))), 400],
  ['a query that is not a text', '', json({ query: ['{ a }'] }), 400],
  ['variables that are no object', '', json({ query: '{ a }', variables: [1] }), 400],
  ['no document', '', json({ variables: {} }), 400],
  ['a document stated and named', '', json({ query: '{ a }', documentId: 'x' }), 400],
  ['a document stated, and named as an operation', '', json({ query: '{ a }', operationId: 'app/x' }), 400],
  ...STORED_NAMES.map(
    (name) => [`a document stated, and named as ${name}`, '', json({ query: '{ a }', [name]: 'x' }), 400] as const,
  ),
  [
    'a persisted document beside its extensions',
    '',
    json({ query: '{ a }', persistedQuery: { sha256Hash: HASH } }),
    400,
  ],
  ...STREAM_IDS.map(
    ([what, extensions, token]) =>
      [`an id of a stream ${what}`, '', streamed({ query: '{ a }', extensions }, token), 400] as const,
  ),
  ['an id of a stream in a batch', '', streamed([{ query: '{ a }', extensions: { operationId: STREAM_ID } }]), 400],
  [
    'an id of a stream by another method',
    '',
    { ...streamed({ query: '{ a }', extensions: { operationId: STREAM_ID } }), method: 'PUT' },
    400,
  ],
  ...['operationId', 'documentId', 'doc_id', 'DocumentId', ...STORED_NAMES].map(
    (name) =>
      [
        `a document stated, and named in its extensions as ${name}`,
        '',
        json({ query: '{ a }', extensions: { [name]: 'app/x' } }),
        400,
      ] as const,
  ),
  ['a document named in its extensions by a number', '', json({ extensions: { operationId: 7 } }), 400],
  ['a document named in the address of a body', '?operationId=app%2Fx', json({ query: '{ a }' }), 400],
  ['a hash of another document', '', json({ query: '{ b }', ...persisted(HASH) }), 400],
  ['a hash of another form', '', json({ query: '{ a }', ...persisted('x') }), 400],
  ['a hash of another version', '', json({ query: '{ a }', ...persisted(HASH, 2) }), 400],
  ['no GraphQL', '', json({ query: '{ a' }), 400],
  ['a definition of a type', '', json({ query: '{ a } type X { y: Int }' }), 400],
  ['several operations without a name', '', json({ query: 'query X { a } query Y { b }' }), 400],
  ['a name that is not an operation', '', json({ query: 'query X { a }', operationName: 'Y' }), 400],
  ['nesting without end', '', json({ query: `${'{ a '.repeat(300)}${'}'.repeat(300)}` }), 400],
  ['a document without end', '', json({ query: `{ ${'a '.repeat(30_000)} }` }), 400],
  ['a parameter that nobody knows', '?qid=7', {}, 400],
  ['a path below the endpoint', '/persisted/7', {}, 400],
  ['an upload without operations', '', upload(['name="map"', '{}']), 400],
  [
    'an upload with two of them',
    '',
    upload(['name="operations"', '{"query":"{ a }"}'], ['name="operations"', '{"query":"{ b }"}']),
    400,
  ],
  [
    'an upload whose part has an encoded name',
    '',
    upload(['name="operations"', '{"query":"{ a }"}'], ["name*=utf-8''operations", '{"query":"{ b }"}']),
    400,
  ],
  [
    'an upload that states a query beside',
    '',
    upload(['name="operations"', '{"query":"{ a }"}'], ['name="query"', '{ b }']),
    400,
  ],
  ['an upload that is broken', '', json('--x\r\nContent', 'multipart/form-data; boundary=x'), 400],
]

for (const [what, path, init, status] of REFUSED) {
  test(`${what} is refused in the form of GraphQL`, async (t) => {
    const { url, proxy, upstream } = await scene(t)
    const answer = await fetch(url + path, init)
    assert.equal(answer.status, status)
    assert.equal(answer.headers.get('preflight-action'), 'STOP')
    const body: unknown = await answer.json()
    assert.equal(textAt(body, 'errors', 0, 'message'), textAt(body, 'message'))
    assert.equal(textAt(body, 'errors', 0, 'extensions', 'code'), textAt(body, 'error'))
    assert.deepEqual([proxy.flow.asked.length, upstream.seen.length], [0, 0])
  })
}

test('a body of two types is refused', async (t) => {
  const { proxy, upstream } = await scene(t)
  const head = 'POST /graphql HTTP/1.1\nHost: a\nContent-Type: application/json\ncontent-type: application/graphql'
  assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(`${head}\nContent-Length: 2`, '{}'))), 400)
  assert.equal(upstream.seen.length, 0)
})

test('mistakes of a document are reported with their place', async (t) => {
  const { url } = await scene(t)
  const answer = await fetch(url, json({ query: '{\n  a(\n}' }))
  const expected = /^Preflight cannot judge this request: the document cannot be read: .* \(line 3, column 1\)\.$/
  assert.match(textAt(await answer.json(), 'message'), expected)
})

test('a route that observes refuses nothing, and counts what it could not read', async (t) => {
  const { url, proxy, upstream } = await scene(t, { route: { mode: 'observe' } })
  await fetch(url, json({ query: '{ a' }))
  await fetch(url, json(persisted(HASH)))
  assert.equal(upstream.requests.length, 2)
  assert.match(await proxy.metrics.text(), /preflight_observed_calls_total\{route="shop",would="undecided"\} 2/)
})

test('a persisted document is known once it was stated, to everybody, and not before', async (t) => {
  const { url, proxy, upstream } = await scene(t)
  const asked = async (body: object): Promise<unknown> => (await fetch(url, json(body))).json()
  assert.equal(textAt(await asked(persisted(HASH)), 'errors', 0, 'message'), 'PersistedQueryNotFound')
  assert.equal(upstream.requests.length, 0)
  await asked({ query: '{ a }', ...persisted(HASH) })
  await asked(persisted(HASH))
  assert.equal(upstream.requests.length, 2)
  assert.equal(proxy.flow.asked.length, 1)
  const batch: unknown = await (await fetch(url, json([persisted(HASH), persisted(sha256Hex('{ b }'))]))).json()
  assert.equal(listAt(batch).length, 2)
})

test('who takes the newer media type is answered in it', async (t) => {
  const { url } = await scene(t, { decide: () => 'BLOCK' })
  const init = json({ query: '{ a }' })
  const accept = 'application/graphql-response+json, application/json;q=0.9'
  const answer = await fetch(url, { ...init, headers: { 'content-type': 'application/json', accept } })
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('content-type'), 'application/graphql-response+json')
})

test('an error of the proxy has the form of GraphQL, too', async (t) => {
  const { url, upstream } = await scene(t)
  await upstream.close()
  const answer = await fetch(url, json({ query: '{ a }' }))
  assert.equal(answer.status, 502)
  assert.equal(textAt(await answer.json(), 'errors', 0, 'extensions', 'code'), 'UPSTREAM_UNREACHABLE')
})

suite('the outcome under monitoring', () => {
  const parts = '--a\r\nContent-Type: application/json\r\n\r\n{"data":{},"hasNext":true}\r\n--a--\r\n'
  for (const [what, query, answer, outcomes, type = 'application/json'] of [
    ['good', { query: '{ a }' }, '{"data":{"a":1}}', ['SUCCEEDED']],
    ['parts', { query: '{ ... @defer { a } }' }, parts, ['UNKNOWN'], 'multipart/mixed; boundary=a'],
    ['an event stream', { query: '{ a }' }, 'event: next\ndata: {"errors":[{}]}\n\n', ['UNKNOWN'], 'text/event-stream'],
    ['no JSON', { query: '{ a }' }, '{"data":', ['UNKNOWN']],
    ['a batch of parts', [{ query: '{ a }' }, { query: '{ b }' }], parts, ['UNKNOWN', 'UNKNOWN'], 'multipart/mixed'],
    ['errors', { query: '{ a }' }, '{"data":null,"errors":[{"message":"x"}]}', ['FAILED']],
    [
      'a batch',
      [{ query: '{ a }' }, { query: '{ b }' }],
      '[{"data":{}},{"errors":[{"message":"x"}]}]',
      ['FAILED', 'SUCCEEDED'],
    ],
  ] as const)
    test(`${what}: ${outcomes.join(', ')}`, async (t) => {
      const { url, proxy } = await scene(t, { decide: () => 'WARN', answer, type })
      await fetch(url, json(query))
      const closed = (): readonly string[] =>
        proxy.events
          .filter(({ type }) => type === 'preflight.monitoring.closed')
          .map(({ data }) => String(data['outcome']))
          .sort()
      await until(() => closed().length === outcomes.length, 'all windows are closed')
      assert.deepEqual(closed(), outcomes)
    })
})

suite('a configuration', () => {
  for (const [what, route, message] of [
    ['without a schema', {}, /the graphql route "shop" has no contract\.current.*introspect/],
    [
      'with two sources of it',
      { contract: { current: { file: schema() } }, graphql: { introspect: true } },
      /contract\.current already names the schema/,
    ],
    [
      'with documents that are not there',
      { graphql: { introspect: true, documents: 'nowhere.json' } },
      /nowhere\.json does not exist/,
    ],
  ] as const)
    test(`${what} is refused`, () => {
      const routes = [
        { name: 'shop', match: { path: '/graphql' }, upstream: 'http://up.example', protocol: 'graphql', ...route },
      ]
      const loaded = loadConfig({ environment: {}, value: { routes } })
      assert.ok(!loaded.ok)
      assert.match(loaded.problem.map(({ message: text, fix }) => `${text} ${fix}`).join('\n'), message)
    })
})
