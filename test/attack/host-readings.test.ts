/**
 * A route that names a host takes every request for that host. A Host header that some servers read as it and the gateway as another
 * one would pass by the rules of that route, to a route that names none.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, before, describe, it } from 'node:test'
import { at } from '../json.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, statusOf } from '../fakes/raw-http.ts'

/** Other spellings of a host that a route names, and the answer to a request: 403 by the route that names it, 400 by none. */
const SPELLINGS: readonly (readonly [host: string, status: 400 | 403])[] = [
  ['api.example', 403],
  ['API.Example', 403],
  ['api.example:80', 403],
  ['api.example:', 403],
  ['x.below.example', 403],
  ['[2001:db8::1]', 403],
  ['[2001:DB8:0::1]:8080', 403],
  ['[2001:0db8:0000:0000:0000:0000:0000:0001]', 403],
  ['192.0.2.7', 403],
  ['[::ffff:192.0.2.7]', 403],
  ['[::ffff:c000:207]', 403],
  ['api.example.', 403],
  ['api.example.:80', 403],
  ['API.EXAMPLE.', 403],
  ['api.example..', 400],
  ['.api.example', 400],
  ['api..example', 400],
  ['x.below.example.', 403],
  ['192.0.2.7.', 403],
  ['192.0.519', 400],
  ['0xc0.0.2.7', 400],
  ['0300.0.2.7', 400],
  ['3221225991', 400],
  ['[192.0.2.7]', 400],
  ['[2001:db8::1.]', 400],
  ['user@api.example', 400],
  ['api.example:80:80', 400],
  ['api%2eexample', 400],
  ['.', 400],
]

describe('a Host header', () => {
  let proxy = ''
  /** Behind the route that names no host and judges nothing. */
  let open: HttpUpstream
  const ends: (() => unknown)[] = []
  before(async () => {
    open = await startHttpUpstream((_request, response) => response.end('open'))
    const map = [{ action: 'deny', message: 'not here' }]
    const strict = { upstream: 'http://127.0.0.1:9', protocol: 'mapped', map }
    const hosts = ['api.example', '*.below.example', '[2001:db8::1]', '192.0.2.7']
    const gateway = await startTestGateway(
      { after: (end: () => unknown) => void ends.push(end) },
      {
        routes: [
          ...hosts.map((host, index) => ({ name: `strict-${index}`, match: { host }, ...strict })),
          { name: 'open', match: {}, upstream: open.origin, protocol: 'mapped', map: [{ action: 'pass' }] },
        ],
      },
    )
    proxy = gateway.addresses.proxy
  })
  after(async () => {
    for (const end of ends) await end()
    await open.close()
  })

  const ask = (host: string) =>
    exchangeBytes(proxy, `POST /x HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)

  for (const [host, status] of SPELLINGS)
    it(`${host} is answered ${status}, over HTTP/1.1 and HTTP/2`, async () => {
      const earlier = open.requests.length
      const answer = await ask(host)
      assert.equal(statusOf(answer), status)
      assert.match(answer, status === 400 ? /"error":"INVALID_INPUT"/ : /not here/)
      const second = await statusByAuthority(proxy, host)
      // The library refuses some of them by itself.
      assert.ok(second === status || (status === 400 && second === null), String(second))
      assert.equal(open.requests.length, earlier)
    })

  it('in an unusual form is refused with how to write it', async () => {
    const answer = await ask('0x7f.1')
    assert.equal(
      at(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), 'message'),
      'The Host header is not a host with an optional port: "0x7f.1" is an unusual spelling of an address; write four decimal parts.',
    )
  })

  it('that no route names goes to the route that names no host', async () => {
    const earlier = open.requests.length
    for (const host of [
      'other.example',
      'other.example.',
      'a_b',
      'below.example',
      '[2001:db8::2]',
      '192.0.2.8:1',
      'localhost',
    ])
      assert.equal(statusOf(await ask(host)), 200)
    assert.equal(open.requests.length, earlier + 7)
  })
})

/** Null: the stream was reset. */
async function statusByAuthority(origin: string, authority: string): Promise<number | null> {
  const session = connect(origin)
  try {
    const stream = session.request({ ':method': 'POST', ':path': '/x', ':authority': authority }, { endStream: true })
    stream.resume()
    const [fields]: { readonly ':status'?: number }[] = await once(stream, 'response')
    return fields?.[':status'] ?? 0
  } catch {
    return null
  } finally {
    session.destroy()
  }
}
