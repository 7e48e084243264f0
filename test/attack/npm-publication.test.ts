/** What a publication states besides its tarball: owners, access, deprecation and members of the registry take effect with it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { openapi } from '../fakes/scm-client.ts'
import { tarball, tarFile } from '../fakes/tar-archive.ts'
import { at } from '../json.ts'

const TARBALL = tarball(tarFile('package/openapi.yaml', openapi('/pets')))
const OWNERS = [{ name: 'ann', email: 'ann@example.org' }]

interface Registered {
  /** Of the registry's endpoint for the access; absent: it has none. */
  readonly isPublic?: boolean
  readonly isNew?: boolean
  readonly visibility?: number
}

function packumentFor(url: string, host: string): string {
  const name = url.startsWith('/@') ? '@acme/pets' : 'pets'
  const dist = {
    tarball: `http://${host}/${name}/-/pets-1.0.0.tgz`,
    shasum: createHash('sha1').update(TARBALL).digest('hex'),
  }
  const versions = { '1.0.0': { name, version: '1.0.0', dist } }
  const whole = { maintainers: OWNERS, _distfiles: {}, readme: 'pets' }
  const isWhole = url.includes('write=true')
  return JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions, ...(isWhole && whole) })
}

async function scene(t: TestContext, { isPublic, isNew, visibility }: Registered, npm: object = {}) {
  const upstream = await startHttpUpstream((request, response) => {
    const url = decodeURIComponent(request.url ?? '')
    const isAccess = url.endsWith('/visibility')
    if (isAccess) response.statusCode = visibility ?? (isPublic === undefined ? 404 : 200)
    else if (isNew === true && request.method === 'GET') response.statusCode = 404
    if (isAccess) response.end(JSON.stringify({ public: isPublic }))
    else if (request.method !== 'GET' || isNew === true) response.end('{}')
    else response.end(url.endsWith('.tgz') ? TARBALL : packumentFor(url, request.headers.host ?? ''))
  })
  const route = { name: 'npm', match: { path: '/' }, upstream: upstream.origin, protocol: 'npm', npm }
  const proxy = await startProxy({ routes: [route] })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const send = async (document: Readonly<Record<string, unknown>>) => {
    const answer = await fetch(`${proxy.url}/${String(document['name'] ?? document['_id']).replace('/', '%2f')}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(document),
    })
    const body: unknown = await answer.json()
    const { operation, target_id: target } = Object(at(body, 'receipt_required', 'context') ?? {})
    const named = String(target).replace(/#[0-9a-f]{64}$/, '#DIGEST')
    return answer.status === 403 ? `${operation} ${named}` : String(answer.status)
  }
  return { send, upstream }
}

function publication(edit: object = {}, version: object = {}, name = 'pets'): Readonly<Record<string, unknown>> {
  return {
    _id: name,
    name,
    'dist-tags': { latest: '1.1.0' },
    versions: { '1.1.0': { name, version: '1.1.0', ...version } },
    _attachments: { [`${name}-1.1.0.tgz`]: { data: TARBALL.toString('base64') } },
    ...edit,
  }
}
const scoped = (edit: object) => publication(edit, {}, '@acme/pets')

const ROWS: readonly (readonly [
  what: string,
  document: Readonly<Record<string, unknown>>,
  outcome: string,
  registered?: Registered,
])[] = [
  ['nothing else', publication(), '200'],
  [
    'a provenance behind its tarball',
    publication({
      _attachments: {
        'pets-1.1.0.tgz': { data: TARBALL.toString('base64') },
        'pets-1.1.0.sigstore': { data: '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}' },
      },
    }),
    '200',
  ],
  ['members without effect', publication({ access: null, readme: 'x', description: 'x' }, { scripts: {} }), '200'],
  ['the owners that the package has', publication({ maintainers: OWNERS }), '200'],
  ['another owner', publication({ maintainers: [...OWNERS, { name: 'eve' }] }), 'access npm:pets#DIGEST'],
  ['no owner', publication({ maintainers: [] }), 'access npm:pets#DIGEST'],
  ['owners of a new package', publication({ maintainers: [{ name: 'eve' }] }), '200', { isNew: true }],
  ['owners in other letters', publication({ Maintainers: [] }), '503'],
  ['a deprecated version', publication({}, { deprecated: 'use toys' }), 'deprecate npm:pets@1.1.0'],
  ['a version that is not deprecated', publication({}, { deprecated: '' }), '200'],
  ['the access that the package has', scoped({ access: 'public' }), '200', { isPublic: true }],
  ['access for everybody', scoped({ access: 'public' }), 'access npm:@acme/pets#DIGEST', { isPublic: false }],
  ['access for fewer', scoped({ access: 'restricted' }), 'access npm:@acme/pets#DIGEST', { isPublic: true }],
  ['access at a registry without it', scoped({ access: 'public' }), '200'],
  ['access at a registry that does not tell', scoped({ access: 'public' }), '503', { visibility: 500 }],
  ['access of a new package', scoped({ access: 'public' }), '200', { isNew: true, isPublic: false }],
  ['access in other letters', scoped({ Access: 'public' }), '503'],
  ['an access that does not exist', scoped({ access: 'all' }), '503'],
  ['public access without a scope, which it always has', publication({ access: 'public' }), '200', { visibility: 500 }],
  ['addresses of tarballs', publication({ _distfiles: { 'pets-1.0.0.tgz': { url: 'http://x' } } }), '503'],
]

for (const [what, document, outcome, registered = {}] of ROWS)
  test(`a publication with ${what} is answered: ${outcome}`, async (t) => {
    const { send, upstream } = await scene(t, registered)
    assert.equal(await send(document), outcome)
    assert.equal(upstream.requests.filter(({ method }) => method === 'PUT').length, outcome === '200' ? 1 : 0)
  })

test('a route that lets everybody change owners passes them within a publication', async (t) => {
  const { send } = await scene(t, { isPublic: false }, { owners: 'pass', deprecate: 'pass' })
  assert.equal(await send(publication({ maintainers: [], access: 'public' }, { deprecated: 'x' })), '200')
})

for (const [what, edit, outcome] of [
  ['all that was read', {}, '200'],
  ['members that people write', { readme: 'toys', time: {}, users: { ann: true } }, '200'],
  ['addresses of tarballs', { _distfiles: { 'pets-1.0.0.tgz': { url: 'http://x' } } }, '503'],
  ['an access', { access: 'public' }, '503'],
] as const)
  test(`a packument without a tarball, with ${what}, is answered: ${outcome}`, async (t) => {
    const { send, upstream } = await scene(t, {})
    const read = await (await fetch(`${upstream.origin}/pets?write=true`)).json()
    assert.equal(await send({ ...Object(read), ...edit }), outcome)
  })

const NEW_OWNERS = { _id: 'pets', _rev: '1-a', maintainers: [...OWNERS, { name: 'eve' }] }

for (const [what, document, outcome, npm] of [
  ['the owners alone, as npm owner sends them', NEW_OWNERS, 'access npm:pets#DIGEST', {}],
  ['the owners alone on a route that lets everybody change them', NEW_OWNERS, '200', { owners: 'pass' }],
  ['owners and no versions', { ...NEW_OWNERS, versions: {} }, 'unpublish npm:pets@1.0.0', { owners: 'pass' }],
  ['neither owners nor versions', { _id: 'pets', _rev: '1-a' }, 'unpublish npm:pets@1.0.0', { owners: 'pass' }],
] as const)
  test(`a packument with ${what} is answered: ${outcome}`, async (t) => {
    const { send } = await scene(t, {}, npm)
    assert.equal(await send(document), outcome)
  })
