/** What a recogniser sees of a request's head is what the upstream receives: every protocol, every way to make the two differ, both fronts. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, before, test } from 'node:test'
import type { PassingAction, Recogniser } from '../../../gateway/protocols/common/action.ts'
import type { Call } from '../../../gateway/calls/call.ts'
import { httpRefusal } from '../../../gateway/protocols/common/refusal.ts'
import { startHttpUpstream, type HttpUpstream } from '../../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { PROFILES, PROTOCOLS } from '../../protocols/profiles.ts'

/** Fields of HTTP/1.1 that are dropped, rewritten or added on their way, or that make another one so. */
const TRICKS: Readonly<Record<string, string>> = {
  'a field that Connection names': 'Connection: close, X-Dry-Run\nX-Dry-Run: 1',
  'a field that a second Connection names': 'Connection: X-Dry-Run\nX-Dry-Run: 1',
  'a field that Connection names in other letters': 'Connection: x-DRY-run\nX-Dry-Run: 1',
  'a method that Connection takes away': 'Connection: X-HTTP-Method-Override\nX-HTTP-Method-Override: DELETE',
  'an agent that Connection takes away': 'Connection: X-Agent\nX-Agent: other',
  'a choice of tools that Connection takes away': 'Connection: X-MCP-Readonly\nX-MCP-Readonly: true',
  TE: 'TE: trailers, deflate',
  'Keep-Alive': 'Keep-Alive: timeout=5, max=9',
  'Proxy-Connection': 'Proxy-Connection: keep-alive',
  'Proxy-Authorization': 'Proxy-Authorization: Basic eA==',
  'Proxy-Authenticate': 'Proxy-Authenticate: Basic',
  'another field for proxies': 'Proxy-Dry-Run: 1',
  'a field that CGI takes for a setting': 'Proxy: http://evil.example',
  'HTTP2-Settings': 'HTTP2-Settings: AAMAAABkAAQAAP__',
  'an upgrade that is not taken': 'Upgrade: h2c',
  Trailer: 'Trailer: X-Dry-Run',
  'a path for frameworks': 'X-Original-URL: /admin\nX-Rewrite-URL: /admin',
  'a part of the path that servers cut off': 'Script-Name: /mapped\nX-Script-Name: /mapped',
  'another host for frameworks': 'Forwarded: host=other.example',
  'a receipt and a decision': 'Preflight-Receipt: forged\nPreflight-Decision: forged',
  'a correlation id': 'X-Correlation-ID: mine',
  'an address that is added to': 'X-Forwarded-For: 10.0.0.1\nX-Forwarded-Proto: https\nX-Forwarded-Host: other.example',
  'a wish for compression': 'Accept-Encoding: br',
  'cookies in two fields': 'Cookie: a=1\nCookie: b=2',
  'a field in two pieces': 'X-Two: 1\nX-Two: 2',
  'letters beyond ASCII': 'X-Two: \u00e9\u00ff',
  'blanks around a value': 'X-Two:   a   ',
}

let upstream: HttpUpstream
let proxy: ProxyUnderTest
let calls: Call[] = []

const RECORDING: Recogniser = {
  needsBody: () => false,
  recognise(call) {
    calls.push(call)
    return {
      kind: 'pass',
      name: 'recorded',
      isStanding: false,
      watch: () => null,
      refuse: httpRefusal,
    } satisfies PassingAction
  },
}

before(async () => {
  upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const routes = PROTOCOLS.map((protocol) => ({
    name: protocol.replace('_', '-'),
    match: { path: `/${protocol}` },
    upstream: upstream.origin,
    protocol,
    ...PROFILES[protocol].route,
  }))
  proxy = await startProxy({ routes })
  Object.assign(proxy.listener.pipeline.recognisers, Object.fromEntries(PROTOCOLS.map((name) => [name, RECORDING])))
})
after(async () => {
  await proxy.close()
  await upstream.close()
})

/** What says how the bytes of this one connection are framed, and nothing of the request. */
const FRAMING: ReadonlySet<string> = new Set(['connection', 'content-length', 'transfer-encoding'])

function comparable(headers: Call['headers']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.has(name)))
}

function assertSame(trick: string): void {
  const [call, ...others] = calls
  assert.ok(call !== undefined && others.length === 0, trick)
  const sent = upstream.requests.at(-1)
  assert.ok(sent !== undefined)
  assert.deepEqual(comparable(call.headers), comparable(sent.headers), trick)
  const names = new Set(call.rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : [])))
  for (const name of Object.keys(comparable(sent.headers)).filter((one) => one !== 'host'))
    assert.ok(names.has(name), `${name} is sent and not among the raw fields`)
  for (const name of names) assert.ok(name in sent.headers, `${name} is among the raw fields and not sent`)
}

for (const protocol of PROTOCOLS)
  test(`a recogniser of ${protocol} over HTTP/1.1 sees the fields that are sent`, async () => {
    for (const [trick, fields] of Object.entries(TRICKS)) {
      calls = []
      const head = `POST /${protocol}/x HTTP/1.1\nHost: a.example\nContent-Type: application/json\nContent-Length: 2\n${fields}`
      const bytes = Buffer.from(requestText(head, '{}'), 'latin1')
      assert.equal(statusOf(await exchangeBytes(proxy.url, bytes)), 200, trick)
      assertSame(trick)
    }
  })

/** Fields of a connection make a message of HTTP/2 malformed, so clients cannot send them there. */
const HTTP2_TRICKS: Readonly<Record<string, Readonly<Record<string, string | string[]>>>> = {
  TE: { te: 'trailers' },
  'fields for proxies': { 'proxy-authorization': 'Basic eA==', 'proxy-dry-run': '1', proxy: 'http://evil.example' },
  Trailer: { trailer: 'x-dry-run' },
  'a path for frameworks': { 'x-original-url': '/admin', 'x-rewrite-url': '/admin' },
  'a receipt': { 'preflight-receipt': 'forged' },
  'an address that is added to': { 'x-forwarded-for': '10.0.0.1', 'x-forwarded-host': 'other.example' },
  'cookies in crumbs': { cookie: ['a=1', 'b=2'] },
  'a field in two pieces': { 'x-two': ['1', '2'] },
  'a wish for compression': { 'accept-encoding': 'br' },
}

for (const protocol of PROTOCOLS)
  test(`a recogniser of ${protocol} over HTTP/2 sees the fields that are sent`, async () => {
    const session = connect(proxy.url)
    for (const [trick, fields] of Object.entries(HTTP2_TRICKS)) {
      calls = []
      const stream = session.request({ ':method': 'POST', ':path': `/${protocol}/x`, ...fields })
      stream.end('{}')
      const [headers]: unknown[] = await once(stream, 'response')
      assert.equal(Reflect.get(Object(headers), ':status'), 200, trick)
      stream.resume()
      await once(stream, 'close')
      assertSame(trick)
    }
    session.close()
  })

/** Two readings of one head, by which of two fields counts or by what CGI makes of a name. */
const REFUSED: readonly string[] = [
  'Content-Type: application/json\nContent-Type: text/plain',
  'Content-Type: application/json\ncontent-type: application/json',
  'Content-Encoding: identity\nContent-Encoding: gzip',
  'Authorization: Bearer a\nAuthorization: Bearer b',
  'Range: bytes=0-1\nRange: bytes=2-3',
  'X-HTTP-Method-Override: GET\nX-HTTP-Method-Override: DELETE',
  'Content_Type: text/plain',
  'CONTENT_LENGTH: 0',
  'Transfer_Encoding: chunked',
  'X_HTTP_Method_Override: DELETE',
  'X_HTTP-Method_Override: DELETE',
  'Preflight_Receipt: forged',
  'X_Forwarded_For: 10.0.0.1',
  'X_Original_URL: /admin',
  'Impersonate_User: root',
]
for (const fields of REFUSED)
  test(`a head with two readings is refused: ${fields.replace('\n', ', ')}`, async () => {
    const sent = upstream.requests.length
    for (const protocol of PROTOCOLS) {
      const head = `POST /${protocol}/x HTTP/1.1\nHost: a.example\nContent-Length: 2\n${fields}`
      assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(head, '{}'))), 400, protocol)
    }
    assert.equal(upstream.requests.length, sent)
  })
