/** Answers that lead a client around the gateway, by the address of the server itself or of another one in its place. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type InformationEvent } from 'node:http'
import { test, type TestContext } from 'node:test'
import { startTestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

type Answered = Record<string, string | string[]>

interface Scene {
  readonly origin: string
  readonly gateway: string
  /** Asks for PREFIX/pets; the upstream answers as stated. */
  readonly ask: (fields: Answered, status?: number, hints?: Answered, headers?: Answered) => Promise<Got>
}

interface Got {
  readonly answer: IncomingMessage
  readonly infos: readonly InformationEvent[]
}

async function scene(t: TestContext, { prefix = '/', base = '' } = {}): Promise<Scene> {
  let next: { fields: Answered; status: number; hints: Answered } = { fields: {}, status: 200, hints: {} }
  const upstream = await startHttpUpstream((_request, response) => {
    if (Object.keys(next.hints).length > 0) response.writeInformation(103, next.hints)
    response.writeHead(next.status, next.fields).end()
  })
  t.after(() => upstream.close())
  const route = { name: 'pets', match: { path: prefix }, upstream: upstream.origin + base, protocol: 'mapped' }
  const gateway = await startTestGateway(t, { routes: [{ ...route, map: [{ action: 'pass' }] }] })
  return {
    origin: upstream.origin,
    gateway: gateway.addresses.proxy,
    async ask(fields, status = 200, hints = {}, headers = {}) {
      next = { fields, status, hints }
      const infos: InformationEvent[] = []
      const request = httpRequest(`${gateway.addresses.proxy}${prefix === '/' ? '' : prefix}/pets`, { headers })
      request.on('information', (info) => infos.push(info)).end()
      const [answer]: IncomingMessage[] = await once(request, 'response')
      assert.ok(answer !== undefined)
      answer.resume()
      return { answer, infos }
    },
  }
}

/** By route: what follows the origin of the upstream in its answer, and what the client gets. */
const MAPPED = [
  {
    prefix: '/',
    base: '',
    addresses: [
      ['/pets/', '/pets/'],
      ['', '/'],
      ['/pets?a=1#b', '/pets?a=1#b'],
    ],
  },
  // As an address by itself, two slashes would name another host.
  { prefix: '/', base: '', addresses: [['//other.example/pets', '/.//other.example/pets']] },
  {
    prefix: '/',
    base: '/v1',
    addresses: [
      ['/v1/pets/7', '/pets/7'],
      ['/v1', '/'],
      ['/v1?a=1', '/?a=1'],
    ],
  },
  {
    prefix: '/shop',
    base: '',
    addresses: [
      ['/pets/', '/shop/pets/'],
      ['', '/shop'],
    ],
  },
  {
    prefix: '/shop',
    base: '/v1?key=k',
    addresses: [
      ['/v1/pets', '/shop/pets'],
      ['/v1/pets?key=k&page=2', '/shop/pets?page=2'],
      ['/v1/pets?key=k', '/shop/pets'],
    ],
  },
] as const

for (const { prefix, base, addresses } of MAPPED)
  test(`redirects from ${prefix} to addresses of UPSTREAM${base} stay at the gateway`, async (t) => {
    const { origin, ask } = await scene(t, { prefix, base })
    for (const [named, expected] of addresses)
      for (const status of [201, 301, 307, 308]) {
        const { answer } = await ask({ location: origin + named }, status)
        assert.deepEqual([answer.statusCode, answer.headers.location], [status, expected])
      }
  })

/** Spellings that clients follow to the server as well. */
const SPELLINGS: Readonly<Record<string, (origin: string) => string>> = {
  'capital letters': (origin) => origin.replace('http', 'HTTP'),
  'no scheme': (origin) => origin.replace('http:', ''),
  backslashes: (origin) => origin.replace('http://', String.raw`\\`),
  'one backslash': (origin) => origin.replace('http://', 'http:\\'),
  'another scheme': (origin) => origin.replace('http', 'https'),
  credentials: (origin) => origin.replace('//', '//user:pw@'),
  'a tab': (origin) => origin.replace('tt', 't\tt'),
  'the address in another form': (origin) => origin.replace('127.0.0.1', '0x7f.1'),
}

test('redirects to the server in any spelling stay at the gateway', async (t) => {
  const { origin, ask } = await scene(t)
  for (const [name, spelled] of Object.entries(SPELLINGS)) {
    const { answer } = await ask({ location: `${spelled(origin)}/pets/` }, 308)
    const { host, pathname } = new URL(answer.headers.location ?? '', 'https://gateway.example')
    assert.deepEqual([host, pathname], ['gateway.example', '/pets/'], name)
  }
})

test('every field that a client follows stays at the gateway', async (t) => {
  const { origin, gateway, ask } = await scene(t)
  const link = `<${origin}/pets?page=2>; rel="next", <https://other.example/>; rel=help`
  const { answer, infos } = await ask(
    {
      Location: `${origin}/pets/`,
      'Content-Location': `${origin}/pets/7`,
      Link: [link, `<${origin}/a>; rel=preload`],
      Refresh: `0; url="${origin}/pets/"`,
    },
    200,
    { Link: `<${origin}/a.css>; rel=preload` },
  )
  const got = ['location', 'content-location', 'link', 'refresh'].map((name) => answer.headers[name])
  assert.deepEqual(got, [
    '/pets/',
    '/pets/7',
    `<${gateway}/pets?page=2>; rel="next", <https://other.example/>; rel=help, <${gateway}/a>; rel=preload`,
    '0; url="/pets/"',
  ])
  assert.equal(infos[0]?.headers['link'], `<${gateway}/a.css>; rel=preload`)
})

test('a link has the origin by which the client asked, as many clients do not resolve it', async (t) => {
  const { origin, ask } = await scene(t, { prefix: '/shop' })
  const asks: readonly (readonly [headers: Answered, link: string])[] = [
    [{ host: 'shop.example:8080' }, '<http://shop.example:8080/shop/pets>'],
    [{ host: 'shop.example', 'x-forwarded-proto': 'https' }, '<https://shop.example/shop/pets>'],
  ]
  for (const [headers, link] of asks) {
    const { answer } = await ask({ link: `<${origin}/pets>` }, 200, {}, headers)
    assert.equal(answer.headers['link'], link)
  }
})

test('a refresh in every form that browsers follow stays at the gateway', async (t) => {
  const { origin, ask } = await scene(t)
  for (const before of ['0; url=', "0;URL='", '0.5, url = "', '0;', '1 ', '0 ; Url=']) {
    const { answer } = await ask({ refresh: `${before}${origin}/pets/` })
    assert.equal(answer.headers['refresh'], `${before}/pets/`)
  }
})

/** Of other servers, and relative to the gateway already. */
const KEPT = ['https://other.example/pets', '/pets/', 'next', '?page=2', '', 'mailto:a@pets.example', 'http://%']

test('other addresses stay as they are', async (t) => {
  const { origin, ask } = await scene(t, { base: '/v1' })
  for (const location of [...KEPT, `${origin}/v10/pets`]) {
    const { answer } = await ask({ location }, 302)
    assert.equal(answer.headers.location, location)
  }
})

test('no answer names another server for all further requests', async (t) => {
  const { ask } = await scene(t)
  const value = 'h2="other.example:8443"; ma=86400, h3=":443"'
  const { answer, infos } = await ask({ 'Alt-Svc': value }, 200, { 'Alt-Svc': value, Link: '</a>; rel=preload' })
  assert.equal(answer.headers['alt-svc'], undefined)
  assert.deepEqual(infos[0]?.rawHeaders, ['Link', '</a>; rel=preload'])
})
