/**
 * Calls of gRPC, gRPC-Web and Connect in forms that their real servers execute. Servers of gRPC take any method, and those of
 * Connect take the message of a GET from its query. Each is judged as the call that is executed, or refused.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startConnectService } from '../fakes/connect-service.ts'
import { startGrpcService } from '../fakes/grpc-service.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'

const UNARY = '/test.echo.v1.Echo/Say'
const STREAM = '/test.echo.v1.Echo/Count'
const OPERATION = { responses: { 200: { description: 'done' } } }
const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'echo', version: '1' },
  paths: { [UNARY]: { get: OPERATION, head: OPERATION, options: OPERATION, put: OPERATION, post: OPERATION } },
}

function fileOf(name: string, text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-rpc-')), name)
  writeFileSync(file, text)
  return file
}

async function proxyOf(t: TestContext, upstream: string, route: object): Promise<ProxyUnderTest> {
  const proxy = await startProxy({
    // POST is stopped, and what nobody can say.
    decide: ({ context: { target_id: target } }) =>
      target === `it/POST ${UNARY}` || target === 'it' || target === `it${STREAM}` ? 'BLOCK' : 'ALLOW',
    routes: [{ name: 'it', match: { path: '/' }, upstream, ...route }],
  })
  t.after(() => proxy.close())
  return proxy
}

const NOTE = Buffer.from([0, 0, 0, 0, 4, 0x0a, 2, 0x68, 0x69])

async function callByHttp2(url: string, method: string, type: string): Promise<void> {
  const session = connect(url)
  session.on('error', () => {})
  const stream = session.request(
    { ':method': method, ':path': UNARY, 'content-type': type, te: 'trailers' },
    { endStream: false },
  )
  stream.on('error', () => {})
  stream.resume().end(NOTE)
  await once(stream, 'close')
  session.close()
}

const RULE = "request.method == 'POST' && request.segments[0] == 'test.echo.v1.Echo'"
const GRPC_ROUTES: Readonly<Record<string, object>> = {
  'a rule denies': { protocol: 'mapped', map: [{ when: RULE, action: 'deny' }] },
  'no rule permits': { protocol: 'mapped', map: [{ when: "request.method != 'POST'", action: 'pass' }] },
  'a contract breaks': {
    protocol: 'http',
    contract: { current: { file: fileOf('openapi.json', JSON.stringify(CONTRACT)) } },
  },
}

for (const [what, route] of Object.entries(GRPC_ROUTES))
  test(`no method but POST executes a gRPC call that ${what}`, async (t) => {
    const service = await startGrpcService()
    t.after(() => service.close())
    const proxy = await proxyOf(t, service.origin, { ...route, upstream_protocol: 'http2' })
    const executed: string[] = []
    for (const type of ['application/grpc', 'application/grpc+proto', 'application/grpc; a=b', 'application/grpcx'])
      for (const method of ['POST', 'GET', 'HEAD', 'OPTIONS', 'PUT']) {
        await callByHttp2(proxy.url, method, type)
        if (service.calls.splice(0).length > 0) executed.push(`${method} ${type}`)
      }
    assert.deepEqual(executed, [])
  })

const HELLO = '{"text":"hello"}'
const query = (members: Readonly<Record<string, string>>): string => `?${new URLSearchParams(members).toString()}`
const connectGet = (message: string, more: Readonly<Record<string, string>> = {}): string =>
  UNARY + query({ connect: 'v1', encoding: 'json', message, ...more })
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64url')

/** Calls by GET that the server may execute as one that says hello; the body is for servers that read it. */
const HELLOS: Readonly<Record<string, readonly [path: string, body?: string]>> = {
  plain: [connectGet(HELLO)],
  'in base64': [connectGet(base64(HELLO), { base64: '1' })],
  'in padded base64': [connectGet(Buffer.from(HELLO).toString('base64'), { base64: '1' })],
  compressed: [connectGet(base64(gzipSync(HELLO)), { base64: '1', compression: 'gzip' })],
  'in bytes': [connectGet(base64(Buffer.from('\n\u0005hello')), { base64: '1', encoding: 'proto' })],
  'without a version': [UNARY + query({ encoding: 'json', message: HELLO })],
  'with escaped names': [connectGet(HELLO).replace('message=', 'm%65ssage=')],
  'with escaped letters': [connectGet('{"text":"\\u0068ello"}')],
  'two messages': [`${connectGet(HELLO)}&message=%7B%7D`],
  'another message first': [`${connectGet('{}')}&message=${encodeURIComponent(HELLO)}`],
  'two encodings': [`${connectGet(HELLO)}&encoding=proto`],
  'a message in capitals beside it': [`${connectGet(HELLO)}&Message=%7B%7D`],
  'a harmless body': [connectGet(HELLO), '{"text":"x"}'],
}

const BODY_RULES: Readonly<Record<string, readonly object[]>> = {
  'a rule denies by its body': [
    { when: "has(request.body.text) && request.body.text == 'hello'", action: 'deny' },
    { when: "request.path.startsWith('/test.echo.v1.Echo/')", action: 'pass' },
  ],
  'a rule permits others by their body': [
    { when: "request.body == null || !has(request.body.text) || request.body.text != 'hello'", action: 'pass' },
    { action: 'deny' },
  ],
}

for (const [what, map] of Object.entries(BODY_RULES))
  test(`no Connect call by GET is executed that ${what}`, async (t) => {
    const service = await startConnectService(t)
    const proxy = await proxyOf(t, service.origin, { protocol: 'mapped', map })
    const executed: string[] = []
    for (const [name, [path, body = '']] of Object.entries(HELLOS)) {
      await getByHttp2(proxy.url, path, body)
      if (service.calls.splice(0).length > 0) executed.push(name)
    }
    assert.deepEqual(executed, [])
    for (const path of [connectGet('{"text":"other"}'), connectGet(base64('{"text":"x"}'), { base64: '1' }), UNARY])
      await getByHttp2(proxy.url, path, '')
    assert.equal(service.calls.length, 3, 'another message, and a request without one, go on')
  })

async function getByHttp2(url: string, path: string, body: string): Promise<void> {
  const session = connect(url)
  session.on('error', () => {})
  const stream = session.request(
    { ':method': 'GET', ':path': path, ...(body !== '' && { 'content-type': 'application/json' }) },
    { endStream: body === '' },
  )
  stream.on('error', () => {})
  stream.resume()
  if (body !== '') stream.end(body)
  await once(stream, 'close')
  session.close()
}

const envelope = (text: string | Buffer, flags = 0): Buffer => {
  const bytes = Buffer.from(text)
  const prefix = Buffer.from([flags, 0, 0, 0, bytes.length])
  return Buffer.concat([prefix, bytes])
}
const NO_BYTES = Buffer.alloc(0)
const COUNTED = envelope(HELLO)

/** What a server of Connect might execute as Count, whose change stops it. */
const COUNTS: readonly (readonly [method: string, path: string, type: string, body: Buffer])[] = [
  ['POST', STREAM, 'application/connect+json', COUNTED],
  ['POST', STREAM, 'Application/Connect+JSON', COUNTED],
  ['POST', STREAM, 'application/connect+json; charset=utf-8', COUNTED],
  ['POST', STREAM, 'application/connect+json', Buffer.concat([COUNTED, envelope('{}', 2)])],
  ['POST', STREAM, 'application/grpc-web+json', COUNTED],
  ['POST', STREAM, 'application/grpc-web', envelope(Buffer.from('\n\u0005hello'))],
  ['POST', STREAM, 'application/grpc-web-text', Buffer.from(envelope('\n\u0005hello').toString('base64'))],
  ['POST', STREAM, 'application/grpc-web+json', Buffer.concat([COUNTED, envelope('a: b\r\n', 0x80)])],
  ['POST', `${STREAM}?connect=v1`, 'application/connect+json', COUNTED],
  ['POST', STREAM.replace('C', '%43'), 'application/connect+json', COUNTED],
  ['POST', `${STREAM}/`, 'application/connect+json', COUNTED],
  ['POST', `/x${STREAM}`, 'application/connect+json', COUNTED],
  ['GET', STREAM + query({ connect: 'v1', encoding: 'json', message: HELLO }), 'application/connect+json', NO_BYTES],
]

test('no form of Connect or gRPC-Web goes around the judgement of its rpc', async (t) => {
  const service = await startConnectService(t)
  const proto = `syntax = "proto3"; package test.echo.v1; message Note { string text = 1; }
    service Echo { rpc Say(Note) returns (Note); rpc Count(Note) returns (stream Note); }`
  const contract = { current: { file: fileOf('echo.proto', proto) } }
  const proxy = await proxyOf(t, service.origin, { protocol: 'grpc', contract })
  const answers: string[] = []
  for (const [method, path, type, body] of COUNTS) {
    const sent = await fetch(proxy.url + path, {
      method,
      headers: { 'content-type': type, 'x-original-url': UNARY, 'x-http-method-override': 'GET' },
      ...(method === 'POST' && { body }),
    })
    if (!/permission_denied/.test(await sent.text()) && sent.headers.get('grpc-status') !== '7')
      answers.push(`${method} ${path} ${type}: ${sent.status}`)
  }
  assert.deepEqual(answers, [])
  assert.deepEqual(service.calls, [])
})
