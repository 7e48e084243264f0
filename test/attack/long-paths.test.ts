/** Paths as long as the gateway takes them, made so that one of their readings costs more than the others: no protocol spends long on one. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readPath, trimmed, withoutFormats } from '../../gateway/routing/path-reading.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { excessiveGrowth } from '../fakes/growth.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

const LENGTH = 14_000
const PIECES: Readonly<Record<string, readonly [piece: string, end: string]>> = {
  'many formats': ['a.', 'a'],
  'many names': ['a/', 'a'],
  'many empty names': ['/', 'a'],
  'many parameters': ['a;/', 'a'],
  'many semicolons': [';', '/a'],
  'escapes of escapes': ['%2525', 'a'],
  blanks: ['%20', 'a'],
  'dots before names': ['..a/', 'a'],
  'dots behind names': ['a./', 'a'],
  capitals: ['A', 'a'],
  'letters beyond ASCII': ['%C5%BF', 'a'],
  'models with formats': ['model/s/', 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q'],
  'prompts with formats': ['model/arn:x:prompt/', 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q'],
  'hosted agents': ['runtimes/e/', 'x.y.z'],
  'texts between names': ['-', 'x'],
}

const REQUESTS: Readonly<Record<string, readonly [method: string, path: string]>> = {
  http: ['DELETE', ''],
  validated: ['DELETE', ''],
  mapped: ['GET', ''],
  github: ['DELETE', 'repos/'],
  gitlab: ['DELETE', 'api/v4/projects/'],
  bitbucket: ['DELETE', '2.0/repositories/'],
  kubernetes: ['POST', 'apis/'],
  npm: ['PUT', ''],
  llm: ['POST', ''],
  argocd: ['POST', ''],
  mcp_registry: ['POST', ''],
  mcp: ['GET', ''],
}

const MAP = [
  { when: 'request.path.startsWith("/Admin/")', action: 'deny' },
  { when: 'request.segments.size() > 3 && request.segments[2] == "x"', action: 'deny' },
  { when: 'request.method == "DELETE" && request.path.endsWith("/")', action: 'deny' },
]

function send(url: string, method: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', (error) => reject(new Error(`${method} ${url.slice(0, 80)}: ${error.message}`)))
    sent.end(method.startsWith('P') ? '{}' : undefined)
  })
}

test('no protocol takes more than in proportion for a long path', { timeout: 120_000 }, async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const routes = Object.keys(REQUESTS).map((protocol) => ({
    name: protocol.replace('_', '-'),
    match: { path: `/${protocol}` },
    upstream: upstream.origin,
    protocol: protocol === 'validated' ? 'http' : protocol,
    ...(protocol === 'mapped' && { map: MAP }),
    ...(protocol === 'http' && { contract: { current: { file: contractFile(t) } } }),
    ...(protocol === 'validated' && { contract: { current: { file: contractFile(t) } }, validate: 'enforce' }),
  }))
  const gateway = await startTestGateway(t, { routes })
  const slow: string[] = []
  for (const [protocol, [method, start]] of Object.entries(REQUESTS)) {
    const base = `${gateway.addresses.proxy}/${protocol}/${start}`
    await send(`${base}a`, method)
    for (const [what, [piece, end]] of Object.entries(PIECES)) {
      const path = (length: number): string => piece.repeat(Math.floor((length - end.length) / piece.length)) + end
      const growth = await excessiveGrowth((length) => send(base + path(length), method), LENGTH)
      if (growth !== null) slow.push(`${protocol}, ${what}: ${growth}`)
    }
  }
  assert.deepEqual(slow, [])
})

function contractFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-paths-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'openapi.json')
  const item = { delete: { responses: { 200: { description: 'ok' } } } }
  // Names beside each other in one segment, of which the last path is none.
  const paths = { '/users/{id}': item, '/{name}-{version}-{arch}': item, '/{name}-{version}-{arch}-{tag}.tgz': item }
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'users', version: '1' }, paths }))
  return file
}

test('a name has the readings without its first and its last formats', () => {
  assert.deepEqual(withoutFormats('a.tar.gz'), ['a.tar.gz', 'a.tar', 'a'])
  assert.deepEqual(withoutFormats('.a'), ['.a'])
  const readings = withoutFormats(`dump.${'x.'.repeat(5000)}json`)
  assert.equal(readings.length, 17)
  assert.equal(readings.at(-1), 'dump')
  assert.ok(readings[1]?.endsWith('.x'))
})

const ENDS = ['a', 'a. ', '\u00a0 a .', '...', ' ', '', 'a\u0000', '\u2003a\u2003.\u2003', '. a', 'é.']

test('blanks around a name and dots at its end are ignored', () => {
  for (const text of ENDS)
    assert.equal(
      trimmed(text),
      text.replace(/^[\s\p{Cc}\p{Z}]+/u, '').replace(/[\s\p{Cc}\p{Z}.]+$/u, ''),
      JSON.stringify(text),
    )
})

test('a path ends earlier at a semicolon where names follow behind it', () => {
  for (const [path, earlier] of [
    ['/a;x/b', ['a']],
    ['/a;x/', null],
    ['/a;/b', ['a']],
    ['/a;x', null],
    ['/a/b;', null],
    ['/a;x/b;/', ['a']],
  ] as const)
    assert.deepEqual(readPath(path)?.earlier ?? null, earlier, path)
})
