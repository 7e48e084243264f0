/** Files that a contract at an address names: of its own origin and of listed ones, bounded in number, bytes and depth, and nowhere else. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { contractAtAddress } from '../../../gateway/documents/contract-addresses.ts'
import { readContractSource } from '../../../gateway/documents/contract-source.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { fetchLocated } from '../../../gateway/network/fetch.ts'
import { INLINE_TEXTS } from '../../fakes/contract-texts.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { at } from '../../json.ts'

const TERMS = { repository: undefined, texts: INLINE_TEXTS }

async function site(t: TestContext, texts: Readonly<Record<string, string>>): Promise<HttpUpstream> {
  const started = await startHttpUpstream((request, response) => {
    const text = Object.hasOwn(texts, request.url ?? '') ? texts[request.url ?? ''] : undefined
    if (text?.startsWith('->') === true) response.writeHead(302, { location: text.slice(2) }).end()
    else response.writeHead(text === undefined ? 404 : 200).end(text ?? '')
  })
  t.after(() => started.close())
  return started
}

const openapi = (reference: string): string =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'a', version: '1' }, paths: { '/pets': { $ref: reference } } })
const embedded = (text: string): readonly string[] => Object.keys(at(JSON.parse(text), 'x-preflight-files') ?? {})

test('a file of a listed origin is part of the contract, and its own references start there', async (t) => {
  const shared = await site(t, {
    '/lib/pets.yaml': "get: { responses: { '200': { $ref: './ok.yaml' } } }\n",
    '/lib/ok.yaml': "description: ok\nheaders: { X: { $ref: '/root.yaml' } }\n",
    '/root.yaml': 'schema: { type: string }\n',
  })
  const own = await site(t, { '/api/openapi.json': openapi(`${shared.origin}/lib/pets.yaml`) })
  const source = { url: `${own.origin}/api/openapi.json` }
  const whole = await readContractSource(source, TERMS, [shared.origin])
  assert.deepEqual(
    embedded(whole),
    ['lib/ok.yaml', 'lib/pets.yaml', 'root.yaml'].map((path) => `${shared.origin}/${path}`),
  )
  assert.doesNotMatch(whole, /"\$ref":"(?!#)/)
  for (const origins of [[], [own.origin], ['http://127.0.0.1:1'], ['https://127.0.0.1']]) {
    shared.requests.length = 0
    const without = await readContractSource(source, TERMS, origins)
    assert.ok(without.includes(`"$ref":"${shared.origin}/lib/pets.yaml"`))
    assert.deepEqual(shared.requests, [])
  }
})

test('a listed origin may refer back, by address, to the origin of the contract', async (t) => {
  const texts: Record<string, string> = {}
  const own = await site(t, texts)
  const shared = await site(t, {
    '/pets.yaml': `get: { responses: { '200': { $ref: '${own.origin}/api/ok.yaml' } } }\n`,
  })
  texts['/api/openapi.json'] = openapi(`${shared.origin}/pets.yaml`)
  texts['/api/ok.yaml'] = 'description: ok\n'
  const whole = await readContractSource({ url: `${own.origin}/api/openapi.json` }, TERMS, [`${shared.origin}/`])
  assert.deepEqual(embedded(whole), [`${shared.origin}/pets.yaml`, 'ok.yaml'])
})

for (const reference of [
  'http://169.254.169.254/latest/meta-data',
  'http://user:password@127.0.0.1/x.yaml',
  'file:///etc/hostname',
  '//169.254.169.254/x',
  'data:application/json,{}',
])
  test(`${reference} is not read, also when its origin is listed`, async (t) => {
    const own = await site(t, { '/openapi.json': openapi(reference) })
    const origins = ['http://169.254.169.254', 'http://127.0.0.1']
    const text = await readContractSource({ url: `${own.origin}/openapi.json` }, TERMS, origins)
    assert.ok(text.includes(JSON.stringify(reference)))
  })

const followingRedirects = (address: string, maxBytes: number) =>
  fetchLocated(address, { allowedHosts: null, isPermitted: () => true, maxBytes, maxRedirects: 5 })

test('a redirect does not lead to where nothing is listed', async (t) => {
  const elsewhere = await site(t, { '/x.yaml': 'get: {}\n' })
  const own = await site(t, { '/openapi.json': openapi('moved.yaml'), '/moved.yaml': `->${elsewhere.origin}/x.yaml` })
  const url = `${own.origin}/openapi.json`
  assert.doesNotMatch(await readContractSource({ url }, TERMS), /x-preflight-files/)
  // Also where redirects are followed: a file from another origin does not belong to the document.
  const followed = await contractAtAddress(url, { texts: INLINE_TEXTS, maxBytes: 10_000, fetch: followingRedirects })
  assert.ok(followed.ok)
  assert.deepEqual(followed.value.files, ['openapi.json'])
})

const chain = (length: number): Readonly<Record<string, string>> => {
  const links = Array.from({ length }, (_, index) => [
    `/${index}.yaml`,
    index + 1 < length ? `x: { $ref: './${index + 1}.yaml' }\n` : 'x: 1\n',
  ])
  return { '/openapi.json': openapi('./0.yaml'), ...Object.fromEntries(links) }
}

test('a chain of files is followed to a depth, and is refused past it', async (t) => {
  const fit = await site(t, chain(32))
  assert.equal(embedded(await readContractSource({ url: `${fit.origin}/openapi.json` }, TERMS)).length, 32)
  const endless = await site(t, chain(33))
  await assert.rejects(readContractSource({ url: `${endless.origin}/openapi.json` }, TERMS), (error: unknown) => {
    assert.ok(error instanceof Error && error.cause instanceof Error)
    assert.match(error.cause.message, /more than 32 deep/)
    return true
  })
})

const load = (contract: object, protocol = 'http') => {
  const route = { name: 'shop', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol, contract }
  const loaded = loadConfig({ environment: {}, value: { routes: [route] } })
  return loaded.ok ? '' : loaded.problem.map(({ path, message }) => `${path}: ${message}`).join('\n')
}

test('origins in the configuration are origins, of a contract that is fetched', () => {
  const current = { url: 'https://api.example.com/openapi.yaml' }
  assert.equal(load({ current, origins: ['https://schemas.example.com', 'http://schemas:8080/'] }), '')
  for (const origin of [
    'schemas.example.com',
    'https://a/b',
    'https://u@a',
    'https://a?x',
    'ftp://a',
    'https://a:99999',
  ])
    assert.match(load({ current, origins: [origin] }), /contract\.origins/, origin)
  const file = new URL('../../../package.json', import.meta.url).pathname
  assert.match(
    load({ current: { file }, origins: ['https://a'] }),
    /origins: the contract is not fetched from an address/,
  )
})

const PETS =
  "get: { responses: { '200': { description: ok } } }\ndelete: { responses: { '204': { description: ok } } }\n"
const WITHOUT_DELETE = "get: { responses: { '200': { description: ok } } }\n"

for (const protocol of ['http', 'mapped'] as const)
  test(`${protocol}: what changes in a file of a listed origin stops the call`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    t.after(() => upstream.close())
    const texts: Record<string, string> = { '/pets.yaml': PETS, '/old/pets.yaml': PETS }
    const shared = await site(t, texts)
    const own = await site(t, {
      '/openapi.json': openapi(`${shared.origin}/pets.yaml`),
      '/old.json': openapi(`${shared.origin}/old/pets.yaml`),
    })
    const [before, after] = [{ url: `${own.origin}/old.json` }, { url: `${own.origin}/openapi.json` }]
    const base = { name: 'shop', match: { path: '/' }, upstream: upstream.origin, protocol }
    const contract = { origins: [shared.origin] }
    const route =
      protocol === 'http'
        ? { ...base, contract: { ...contract, baseline: before, current: after, refresh: 0 } }
        : {
            ...base,
            contract,
            map: [
              {
                when: "request.method == 'DELETE'",
                action: 'judge',
                operation: 'deploy',
                target: "'pets'",
                artifact: { type: 'openapi', before, after },
              },
            ],
          }
    const gateway = await startTestGateway(t, { routes: [route], monitoring: { sinks: [{ type: 'log' }] } })
    const status = async (): Promise<number> =>
      (await fetch(`${gateway.addresses.proxy}/pets`, { method: 'DELETE' })).status
    assert.equal(await status(), 200)
    texts['/pets.yaml'] = WITHOUT_DELETE
    assert.equal(await status(), 403)
    delete texts['/pets.yaml']
    assert.notEqual(await status(), 200)
  })
