/**
 * An upgrade that the upstream does not take is answered like any other request, on a connection that the HTTP server
 * no longer looks after.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { exchangeBytes } from '../fakes/raw-http.ts'

/** More than sockets and streams buffer, so that the answer has to wait for the client. */
const LONG = 'x'.repeat(1024 * 1024)
const UPGRADE = 'GET /first HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

test(
  'a long answer to an upgrade that is not taken arrives whole, and a request behind it is not run',
  { timeout: 30_000 },
  async (t) => {
    const arrived: string[] = []
    const server = createServer(({ url = '' }, response) => {
      arrived.push(url)
      response.end(LONG)
    })
    const upstream = await listening(t, server)
    const route = { name: 'any', match: { path: '/' }, upstream, upgrade: 'allow', protocol: 'mapped' }
    const proxy = await startProxy({ routes: [{ ...route, map: [{ action: 'pass' }] }] })
    t.after(() => proxy.close())
    const received = await exchangeBytes(proxy.url, `${UPGRADE}GET /second HTTP/1.1\r\nHost: a\r\n\r\n`)
    const [head = '', body = ''] = received.split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 200 /)
    assert.match(head, /\r\nConnection: close(?:\r\n|$)/i)
    assert.equal(body.length, LONG.length)
    assert.deepEqual(arrived, ['/first'])
  },
)
