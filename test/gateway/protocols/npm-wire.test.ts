/** Writes to an npm registry as the wire has them: what has no single reading does not go on, and credentials go where the call goes. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { TarballError } from '../../../gateway/protocols/npm/archive.ts'
import { readTarball } from '../../../gateway/protocols/npm/tarball.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { tarball as packed, tarFile, tarHeader } from '../../fakes/tar-archive.ts'
import { at } from '../../json.ts'
import { recordIn } from '../../../gateway/json/unchecked-json.ts'

type Files = readonly (readonly [path: string, text: string])[]

function tarball(files: Files): Buffer {
  return packed(...files.map(([name, text]) => tarFile(name, text)))
}

const OLD = tarball([['package/openapi.yaml', openapi('/pets', '/toys')]])
const NEW = tarball([['package/openapi.yaml', openapi('/pets')]])

function document(version: string, data: string, edit: object = {}): Readonly<Record<string, unknown>> {
  return {
    _id: 'pets',
    name: 'pets',
    'dist-tags': { latest: version },
    versions: { [version]: { name: 'pets', version } },
    _attachments: { [`pets-${version}.tgz`]: { content_type: 'application/octet-stream', data, length: 1 } },
    ...edit,
  }
}

interface Options {
  readonly route?: object
  /** Where the registry says that the tarball of 1.0.0 is. */
  readonly tarball?: string
  readonly checksum?: string
  readonly status?: number
}

async function scene(t: TestContext, { route = {}, tarball: place, checksum, status }: Options = {}) {
  const upstream = await startHttpUpstream((request, response) => {
    const { url = '', method } = request
    const isRead = method === 'GET'
    if (isRead && status !== undefined) response.writeHead(status, { 'www-authenticate': 'Bearer' })
    response.end(
      !isRead || status !== undefined ? '{}' : url.endsWith('.tgz') ? OLD : packumentFor(request.headers.host),
    )
  })
  const packumentFor = (host: string | undefined): string => {
    const dist = {
      tarball: place ?? `http://${host}/pets/-/pets-1.0.0.tgz`,
      shasum: checksum ?? createHash('sha1').update(OLD).digest('hex'),
    }
    return JSON.stringify({
      name: 'pets',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'pets', version: '1.0.0', dist } },
    })
  }
  const proxy = await startProxy({
    routes: [{ name: 'npm', match: { path: '/' }, upstream: upstream.origin, protocol: 'npm', ...route }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(proxy.url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: 'Bearer of the caller', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const writes = () => upstream.requests.filter(({ method }) => method !== 'GET')
  return { upstream, proxy, send, writes }
}

test('a publication is asked about with both sides of its contracts, and forwarded byte for byte', async (t) => {
  const { proxy, send, writes, upstream } = await scene(t)
  const body = JSON.stringify(document('1.1.0', NEW.toString('base64')))
  assert.equal((await send('PUT', '/pets', body, { 'npm-otp': '123456' })).status, 200)
  assert.deepEqual(
    proxy.flow.asked.map(({ context, artifacts }) => [context.operation, context.target_id, artifacts]),
    [
      [
        'publish',
        'npm:pets@1.1.0',
        [
          {
            id: 'openapi.yaml',
            type: 'openapi',
            before: openapi('/pets', '/toys'),
            after: openapi('/pets'),
            path: 'openapi.yaml',
          },
        ],
      ],
    ],
  )
  assert.equal(writes()[0]?.body, body)
  for (const { method, headers } of upstream.requests) {
    assert.equal(headers.authorization, 'Bearer of the caller')
    assert.equal(headers['npm-otp'], method === 'GET' ? undefined : '123456')
  }
})

const GOOD = NEW.toString('base64')

for (const version of ['1.0.0', '1.0.0+again'])
  test(`${version} is compared with what 1.0.0 is, for registries that let a version be published anew`, async (t) => {
    const { proxy, send } = await scene(t)
    await send('PUT', '/pets', document(version, GOOD))
    const [asked] = proxy.flow.asked
    assert.equal(asked?.artifacts[0]?.before, openapi('/pets', '/toys'))
  })
const TWICE = tarball([
  ['package/openapi.yaml', openapi('/pets', '/toys')],
  ['other/openapi.yaml', openapi('/pets')],
])

for (const [what, path, body] of [
  ['two tarballs', '/pets', document('1.1.0', GOOD, { _attachments: { a: { data: GOOD }, b: { data: GOOD } } })],
  // Registries that take the first attachment would store what nobody judged.
  [
    'a provenance before its tarball',
    '/pets',
    document('1.1.0', GOOD, {
      _attachments: { 'pets-1.1.0.sigstore': { data: GOOD }, 'pets-1.1.0.tgz': { data: GOOD } },
    }),
  ],
  ['a provenance alone', '/pets', document('1.1.0', GOOD, { _attachments: { 'pets-1.1.0.sigstore': { data: GOOD } } })],
  ['two versions', '/pets', document('1.1.0', GOOD, { versions: { '1.1.0': {}, '1.2.0': {} } })],
  ['a tarball that is not base64', '/pets', document('1.1.0', `${GOOD.slice(0, -4)}\n===`)],
  ['another name than the path', '/toys', document('1.1.0', GOOD)],
  [
    'another version within',
    '/pets',
    document('1.1.0', GOOD, { versions: { '1.1.0': { name: 'pets', version: '9.9.9' } } }),
  ],
  ['a tag for another version', '/pets', document('1.1.0', GOOD, { 'dist-tags': { latest: '1.0.0' } })],
  ['a member twice', '/pets', '{"name":"pets","name":"pets"}'],
  [
    'a version without a tarball',
    '/pets',
    { name: 'pets', versions: { '3.0.0': {} }, 'dist-tags': { latest: '1.0.0' } },
  ],
  [
    'another content of a version',
    '/pets',
    {
      name: 'pets',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'pets', version: '1.0.0', bin: 'x' } },
    },
  ],
] as const) {
  test(`a document with ${what} is not forwarded`, async (t) => {
    const { send, writes } = await scene(t)
    const answer = await send('PUT', path, body)
    assert.equal(answer.status, 503)
    assert.match(String(at(await answer.json(), 'error')), /^PREFLIGHT_UNDECIDED: .*(?:single reading|is not known)/)
    assert.equal(writes().length, 0)
  })
}

test('a tarball that cannot be read makes the analysis incomplete', async (t) => {
  const { proxy, send } = await scene(t)
  await send('PUT', '/pets', document('1.1.0', Buffer.from('no archive').toString('base64')))
  await send('PUT', '/pets', document('1.1.0', TWICE.toString('base64')))
  const [none, twice] = proxy.flow.asked.map(({ unreadable = [] }) => unreadable[0]?.problem.message ?? '')
  assert.match(none ?? '', /not a gzipped tar archive/)
  assert.match(twice ?? '', /holds openapi\.yaml twice/)
})

for (const [what, method, path, headers] of [
  ['an endpoint that nobody knows', 'POST', '/-/npm/v9/whatever', {}],
  ['a path of no package', 'PUT', '/pets/a/b/c', {}],
  ['an overridden method', 'PUT', '/pets', { 'x-http-method-override': 'DELETE' }],
  ['an encoded body', 'PUT', '/pets', { 'content-encoding': 'gzip' }],
] as const) {
  test(`${what} is refused, and goes by on a route that observes`, async (t) => {
    const closed = await scene(t)
    assert.equal((await closed.send(method, path, {}, headers)).status, 403)
    assert.equal(closed.writes().length, 0)
    const observing = await scene(t, { route: { mode: 'observe' } })
    assert.equal((await observing.send(method, path, {}, headers)).status, 200)
  })
}

for (const [method, path] of [
  ['GET', '/pets'],
  ['GET', '/@acme%2fpets'],
  ['PUT', '/-/user/org.couchdb.user:agent'],
  ['POST', '/-/npm/v1/security/advisories/bulk'],
  ['DELETE', '/-/user/token/abc'],
  ['DELETE', '/-/npm/v1/tokens/token/abc'],
] as const) {
  test(`${method} ${path} passes`, async (t) => {
    const { proxy, send } = await scene(t)
    assert.equal((await send(method, path)).status, 200)
    assert.equal(proxy.flow.asked.length, 0)
  })
}

for (const [method, path, operation, target] of [
  ['DELETE', '/pets/-rev/7', 'unpublish', 'npm:pets'],
  ['DELETE', '/@acme%2fpets/-/pets-1.0.0.tgz/-rev/7', 'unpublish', 'npm:@acme/pets@1.0.0'],
  ['DELETE', '/@acme/pets/-/@acme/pets-1.0.0.tgz/-rev/7', 'unpublish', 'npm:@acme/pets@1.0.0'],
  ['DELETE', '/-/package/pets/dist-tags/next', 'unpublish', 'npm:pets@next'],
  ['POST', '/-/package/pets/access', 'access', /^npm:pets#[0-9a-f]{64}$/],
  ['PUT', '/-/team/acme/cats/package', 'access', /^npm:-\/team\/acme\/cats\/package#[0-9a-f]{64}$/],
  ['POST', '/-/npm/v1/tokens', 'access', 'npm:-/npm/v1/tokens'],
  ['POST', '/-/npm/v1/user', 'access', 'npm:-/npm/v1/user'],
  ['POST', '/-/stage/0b9f/approve', 'publish', 'npm:stage/0b9f'],
] as const) {
  test(`${method} ${path} needs a receipt for ${operation} of ${target}`, async (t) => {
    const { send, writes } = await scene(t)
    const answer = await send(method, path)
    assert.equal(answer.status, 403)
    const body: unknown = await answer.json()
    const context = recordIn(at(body, 'receipt_required', 'context'))
    const named = String(context['target_id'])
    assert.deepEqual(context, { operation, target_id: typeof target === 'string' ? target : named })
    if (typeof target !== 'string') assert.match(named, target)
    assert.equal(writes().length, 0)
  })
}

for (const [what, options, words] of [
  [
    'has its tarballs at another origin',
    { tarball: 'http://127.0.0.1:9/download/1' },
    /another origin \(http:\/\/127\.0\.0\.1:9\)/,
  ],
  ['hands out another tarball than it says', { checksum: '0'.repeat(40) }, /not the one whose checksum/],
] as const) {
  test(`a registry that ${what} leaves a publication undecided`, async (t) => {
    const { send, writes } = await scene(t, options)
    const answer = await send('PUT', '/pets', document('1.1.0', GOOD))
    assert.equal(answer.status, 503)
    assert.match(String(at(await answer.json(), 'message')), words)
    assert.equal(writes().length, 0)
  })
}

test('a refusal of the registry reaches a caller without access', async (t) => {
  const { send } = await scene(t, { status: 401 })
  const answer = await send('PUT', '/pets', document('1.1.0', GOOD))
  assert.equal(answer.status, 401)
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
})

test('an archive that unpacks beyond all bounds is given up', async () => {
  const zeros = gzipSync(Buffer.alloc(600 * 1024 * 1024))
  await assert.rejects(readTarball(zeros, { isSelected: () => true, maxFile: 1024 }), TarballError)
})

test('links and paths out of the package that could be no contract are skipped; files that are too long are said', async () => {
  const bytes = packed(
    tarFile('package/../readme.md', 'a'),
    tarHeader({ name: 'package/link.md', flag: '2', linkname: '/etc/passwd' }),
    tarFile('package/long.yaml', 'x'.repeat(2000)),
    tarFile('package/skipped.js', 'x'),
  )
  const tree = await readTarball(bytes, { isSelected: (path) => path.endsWith('.yaml'), maxFile: 1024 })
  assert.deepEqual(
    [...tree].map(([path, { kind }]) => [path, kind]),
    [['long.yaml', 'unreadable']],
  )
})
