/** Requests of few bytes that hold very many values: each form of body has one bound, and what is within it costs in proportion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLevels } from '../../engine/internal.ts'
import { readStrictJson, REQUEST_LIMITS } from '../../gateway/json/strict-json.ts'
import { createMessageReader } from '../../gateway/protocols/common/protobuf-message.ts'
import { readUpload } from '../../gateway/protocols/graphql/uploads.ts'
import { readProtobufObject } from '../../gateway/protocols/kubernetes/protobuf-object.ts'
import { startApi } from '../fakes/api.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { excessiveGrowth } from '../fakes/growth.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

const MOST = REQUEST_LIMITS.maxParts

const listed = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',')

/** Texts with this many objects, lists and members. */
const SHAPES: Readonly<Record<string, (parts: number) => string>> = {
  'members of one object': (parts) => `{${listed(parts - 1, (index) => `"a${index}":1`)}}`,
  'empty objects': (parts) => `[${listed(parts - 1, () => '{}')}]`,
  'empty lists': (parts) => `[${listed(parts - 1, () => '[]')}]`,
  'objects with a member': (parts) => `[${listed((parts - 1) / 2, () => '{"a":1}')}${parts % 2 === 0 ? ',[]' : ''}]`,
}

test('a JSON body holds a bounded number of objects, lists and members, whatever their shape', () => {
  for (const [shape, textOf] of Object.entries(SHAPES)) {
    assert.equal(readStrictJson(Buffer.from(textOf(MOST))).ok, true, shape)
    const refused = readStrictJson(Buffer.from(textOf(MOST + 1)))
    assert.match(refused.ok ? '' : refused.message, /more than 100000 objects, lists and members; split it/, shape)
  }
})

const ROUTES: Readonly<Record<string, readonly [method: string, path: string, type?: string]>> = {
  github: ['POST', 'repos/a/b/issues/1/comments'],
  gitlab: ['POST', 'api/v4/projects/1/merge_requests'],
  bitbucket: ['POST', '2.0/repositories/a/b/pullrequests/1/merge'],
  kubernetes: ['POST', 'apis/apps/v1/namespaces/a/deployments'],
  argocd: ['POST', 'api/v1/applications'],
  mapped: ['POST', 'x'],
  mcp: ['POST', ''],
  npm: ['PUT', 'a'],
  llm: ['POST', 'v1/chat/completions'],
  mcp_registry: ['POST', 'v0/publish'],
  graphql: ['POST', ''],
}

test('no protocol lets a body with more of them go on', { timeout: 120_000 }, async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const routes = Object.keys(ROUTES).map((protocol) => ({
    name: protocol.replace('_', '-'),
    match: { path: `/${protocol}` },
    upstream: upstream.origin,
    protocol,
    ...(protocol === 'graphql' && { graphql: { introspect: true } }),
    ...(protocol === 'mapped' && {
      map: [
        { when: 'request.body.a == 1', action: 'deny' },
        { when: 'request.method == "POST"', action: 'pass' },
      ],
    }),
  }))
  const gateway = await startTestGateway(t, { routes })
  const wrong: string[] = []
  for (const [protocol, [method, path]] of Object.entries(ROUTES))
    for (const [shape, textOf] of Object.entries(SHAPES)) {
      const before = upstream.seen.length
      const answer = await fetch(`${gateway.addresses.proxy}/${protocol}/${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: textOf(MOST + 1),
      })
      const text = await answer.text()
      if (upstream.seen.length > before || !text.includes('objects, lists and members'))
        wrong.push(`${protocol}, ${shape}: ${answer.status} ${text.slice(0, 200)}`)
    }
  assert.deepEqual(wrong, [])
})

test('nor does the API, with a key or without', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  for (const path of ['/api/v1/preflight', '/api/diff', '/api/v1/verify-receipt', '/mcp'])
    for (const textOf of Object.values(SHAPES)) {
      const answer = await api.post(path, JSON.parse(textOf(MOST + 1)))
      assert.equal(answer.status, 400, `${path}: ${answer.text.slice(0, 200)}`)
      assert.match(answer.text, /objects, lists and members/)
    }
})

const yaml = (lines: number): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${Array.from({ length: lines }, (_, index) => `  a${index}: b`).join('\n')}\n`

test('a YAML body holds a bounded number of lines, brackets and items', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const route = { name: 'cluster', match: { path: '/' }, upstream: upstream.origin, protocol: 'kubernetes' }
  const gateway = await startTestGateway(t, { routes: [route] })
  for (const body of [yaml(MOST), `a: [${'[],'.repeat(MOST)}]`, '- a\n'.repeat(MOST)]) {
    const answer = await fetch(`${gateway.addresses.proxy}/api/v1/namespaces/a/configmaps/a?fieldManager=x`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body,
    })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /more than 100000 lines, brackets and items; split it/)
  }
})

const MAGIC = Buffer.from('k8s\0')

/** Tag and length of a field, for lengths up to 2^28. */
function field(id: number, value: Buffer): Buffer {
  const shifts = [0, 7, 14, 21].filter((shift) => shift === 0 || value.length >> shift > 0)
  const length = shifts.map((shift) => ((value.length >> shift) & 127) | (shift < (shifts.at(-1) ?? 0) ? 128 : 0))
  return Buffer.concat([Buffer.from([(id << 3) | 2, ...length]), value])
}

const repeated = (bytes: readonly number[], count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, () => bytes).flat())

test('a protobuf message holds a bounded number of values, within others and packed too', () => {
  const annotations = (count: number): Buffer =>
    Buffer.concat([MAGIC, field(2, field(1, Buffer.concat([field(1, Buffer.from('a')), repeated([0x62, 0], count)])))])
  const refused = readProtobufObject(annotations(MOST))
  assert.match(refused.ok ? '' : refused.message, /more than 100000 values; split it/)
  assert.equal(readProtobufObject(annotations(1)).ok, true)
  const read = createMessageReader({ Sync: { positions: [1, 'int64[]'], name: [2, 'string'] } })
  for (const bytes of [field(1, Buffer.alloc(MOST)), repeated([8, 1], MOST + 1), repeated([0x1a, 0], MOST + 1)]) {
    const found = read('Sync', bytes)
    assert.match(found.ok ? '' : found.message, /more than 100000 values/)
  }
  assert.equal(read('Sync', field(1, Buffer.alloc(1000))).ok, true)
  assert.equal(read('Sync', field(2, Buffer.alloc(2 * MOST, 'a'))).ok, true, 'a long text is one value')
  assert.equal(read('Sync', Buffer.alloc(20, 0xff)).ok, false, 'what ends too early is the decoder’s to refuse')
})

const part = (name: string, body: string, more = ''): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${body}\r\n`

const upload = (files: number): Buffer => {
  const names = Array.from({ length: files }, (_, index) => index)
  const operations = { query: '{a}', variables: { f: names.map(() => null) } }
  const map = Object.fromEntries(names.map((name) => [name, [`variables.f.${name}`]]))
  const parts = names.map((name) => part(String(name), '1', '; filename="a"')).join('')
  return Buffer.from(
    `${part('operations', JSON.stringify(operations))}${part('map', JSON.stringify(map))}${parts}--x--\r\n`,
  )
}

test('what is within the bounds costs in proportion', { timeout: 120_000 }, async () => {
  const runs: Readonly<Record<string, readonly [size: number, run: (size: number) => unknown]>> = {
    'files of an upload': [9000, (size) => assert.ok(readUpload(upload(size), 'multipart/form-data; boundary=x').ok)],
    'unknown rules': [
      40_000,
      (size) => readLevels(Object.fromEntries(Array.from({ length: size }, (_, i) => [`mcp-${i}-rule`, 'info']))),
    ],
    'patterns of rules': [
      40_000,
      (size) =>
        readLevels(Object.fromEntries(Array.from({ length: size }, (_, i) => [`${'*'.repeat(i % 200)}a`, 'info']))),
    ],
  }
  for (const [what, [size, run]] of Object.entries(runs)) assert.equal(await excessiveGrowth(run, size), null, what)
})

test('a body with a mistake at each value is refused in time that grows with it', { timeout: 120_000 }, async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const send = async (size: number): Promise<void> => {
    const files = Object.fromEntries(Array.from({ length: size }, (_, index) => [`f${index}`, 1]))
    const artifacts = [{ id: 'a', type: 'openapi', before: 'a', after: 'b', files }]
    const answer = await api.post('/api/v1/preflight', { preflight_mode: 'analyze', artifacts })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /and \d+ more mistakes/)
  }
  await send(100)
  assert.equal(await excessiveGrowth(send, 40_000), null)
})
