/** Callers that send bodies slowly, in small pieces, or many concurrently: each is judged or refused, and memory stays bounded. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createBodies, type BodyPace, type BodyResult } from '../../gateway/listen/bodies.ts'
import { createMemoryBudget, type MemoryBudget } from '../../gateway/runtime/memory-budget.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { listening } from '../fakes/listening.ts'
import { openSocket } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'
import { readStrictJson } from '../../gateway/json/strict-json.ts'

const MIB = 1024 * 1024

/** Memory for bodies alone. */
function memoryOf(room: number): Pick<MemoryBudget, 'tryTake' | 'take' | 'limitOf'> {
  let held = 0
  const tryTake: MemoryBudget['tryTake'] = (_use, bytes) => {
    if (held + bytes > room) return null
    held += bytes
    return { bytes, release: () => void (held -= bytes) }
  }
  return { tryTake, take: (use, bytes) => Promise.resolve(tryTake(use, bytes)), limitOf: () => room }
}

/** A server that reads every body with bodies of the test's own. */
async function reader(t: TestContext, room: number, pace: Partial<BodyPace> = {}) {
  const wanted = { totalMs: 300_000, leastRate: 1024, graceMs: 10_000, silenceMs: 30_000, ...pace }
  const bodies = createBodies(memoryOf(room), () => wanted)
  const results: BodyResult[] = []
  const server = createServer((request: IncomingMessage, response) => {
    void bodies.read(request, 8 * MIB).then((result) => {
      results.push(result)
      return response.writeHead(result.ok ? 200 : 408, { Connection: 'close' }).end()
    })
  })
  return { bodies, results, origin: await listening(t, server) }
}

function send(origin: string, head: string): Socket {
  const socket = openSocket(origin)
  socket.on('error', () => socket.destroy())
  socket.resume()
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`)
  return socket
}

test('a body in pieces of every size comes out as it went in', async (t) => {
  const { results, origin } = await reader(t, 100 * MIB)
  const sizes = [1, 2, 3, 4095, 1, 4096, 5000, 1, 1, 70_000, 16_384, 7, 1, 9000, 100, 100]
  const pieces = sizes.map((size, index) => Buffer.alloc(size, index + 1))
  const request = httpRequest(origin, { method: 'POST' })
  for (const piece of pieces) {
    request.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [answer] = await once(request.end(), 'response')
  answer.resume()
  assert.deepEqual(results, [{ ok: true, body: Buffer.concat(pieces) }])
})

test('what long bodies take is bounded together, counted once, and given back', async (t) => {
  const { bodies, results, origin } = await reader(t, 4 * MIB)
  const ask = async (size: number): Promise<void> => {
    const answer = await fetch(origin, { method: 'POST', body: Buffer.alloc(size, 1) })
    await answer.arrayBuffer()
  }
  await ask(3 * MIB)
  await ask(64 * 1024)
  assert.equal(bodies.held(), 3 * MIB, 'short ones are not counted')
  await ask(2 * MIB)
  assert.deepEqual(results.at(-1), { ok: false, why: 'overloaded' })
  assert.equal(bodies.held(), 3 * MIB, 'of one that is refused nothing stays')
  for (const result of results) if (result.ok) bodies.release(result.body)
  assert.equal(bodies.held(), 0)
  await ask(2 * MIB)
  assert.equal(results.at(-1)?.ok, true)
})

test('a body that breaks off, or grows too long, gives its room back', async (t) => {
  const { bodies, results, origin } = await reader(t, 100 * MIB)
  const broken = send(origin, `Content-Length: ${2 * MIB}`)
  broken.write(Buffer.alloc(MIB))
  await until(() => Promise.resolve(bodies.held() === MIB), 'its beginning is held')
  broken.destroy()
  await until(() => Promise.resolve(results.length === 1), 'it is given up')
  const endless = send(origin, 'Transfer-Encoding: chunked')
  for (let sent = 0; sent < 9; sent++) endless.write(`100000\r\n${'x'.repeat(MIB)}\r\n`)
  await until(() => Promise.resolve(results.length === 2), 'it is refused')
  endless.destroy()
  assert.deepEqual(results, [
    { ok: false, why: 'aborted' },
    { ok: false, why: 'too_large' },
  ])
  assert.equal(bodies.held(), 0)
})

test('a client that falls silent in the middle of a body is cut off; one that goes on is not', async (t) => {
  const { results, origin } = await reader(t, 100 * MIB, { silenceMs: 400, leastRate: 0 })
  const [silent, slow] = [send(origin, 'Content-Length: 1000'), send(origin, 'Content-Length: 1000')]
  silent.write('x')
  let sent = 0
  const drip = setInterval(() => {
    slow.write('x'.repeat(50))
    sent += 50
    if (sent === 1000) clearInterval(drip)
  }, 60)
  t.after(() => clearInterval(drip))
  await until(() => Promise.resolve(silent.destroyed), 'the silent one is closed')
  await until(() => Promise.resolve(results.length === 2), 'the slow one is read')
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [false, true],
  )
})

test('a body is refused that is slower than the least rate, or takes longer than the total time', async (t) => {
  const paces: readonly Partial<BodyPace>[] = [{ leastRate: 100_000, graceMs: 200 }, { totalMs: 400 }]
  for (const pace of paces) {
    const { bodies, results, origin } = await reader(t, 100 * MIB, pace)
    const slow = send(origin, 'Content-Length: 1000000')
    slow.write(Buffer.alloc(70_000))
    const drip = setInterval(() => slow.writable && slow.write('x'), 20)
    await until(() => Promise.resolve(results.length === 1), 'it is given up')
    clearInterval(drip)
    assert.deepEqual(results, [{ ok: false, why: 'too_slow' }])
    assert.equal(bodies.held(), 0, 'its room is free again')
  }
})

/** Bytes in use, without what nobody needs any more. */
function memory(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

test('crumbs do not take many times their size in memory', async (t) => {
  const { bodies, results, origin } = await reader(t, 100 * MIB)
  const before = memory()
  const socket = send(origin, 'Transfer-Encoding: chunked')
  const crumbs = '1\r\nx\r\n'.repeat(20_000)
  for (let sent = 0; sent < 20; sent++) if (!socket.write(crumbs)) await once(socket, 'drain')
  await until(() => Promise.resolve(bodies.held() === 400_000), 'all of them have come')
  const grown = memory() - before
  assert.ok(grown < 10 * MIB, `${Math.round(grown / MIB)} MiB for 400,000 bytes`)
  socket.write('0\r\n\r\n')
  await until(() => Promise.resolve(results.length === 1), 'it is read')
  const [result] = results
  assert.equal(result?.ok === true && result.body.equals(Buffer.alloc(400_000, 'x')), true)
})

test('calls past the memory limit get a response to retry, and earlier calls are answered', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp' }],
    config: { limits: { proxied_body: 200_000 } },
    // Room for 32 of them, in steps of 64 KiB.
    memory: memoryOf(32 * 3 * 64 * 1024),
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(190_000) } })
  const head = `Content-Type: application/json\r\nContent-Length: ${ping.length}`
  const waiting = Array.from({ length: 33 }, () => send(proxy.url, head))
  for (const socket of waiting) socket.write(ping.slice(0, -1))
  const post = () => fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: ping })
  await until(async () => {
    const answer = await post()
    await answer.text()
    return answer.status === 503 && answer.headers.get('retry-after') === '1'
  }, 'there is no room for another one')
  const short = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })
  const other = await fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: short })
  assert.equal(other.status, 200, 'short calls go on')
  for (const socket of waiting) socket.end('}')
  await until(async () => (await post()).status === 200, 'there is room again')
})

const listOf = (values: number): Buffer => Buffer.from(`{"a":[${Array.from({ length: values }, () => '1').join(',')}]}`)

test('a body that holds very many values is refused before it is parsed: they cost time, and everybody else waits', () => {
  assert.equal(readStrictJson(listOf(400_000)).ok, true)
  const refused = readStrictJson(listOf(400_001))
  assert.match(refused.ok ? '' : refused.message, /it holds more than 400000 values/)
})

test('of large bodies of known callers some arrive, the others wait in order, and one whose client leaves frees its place', async (t) => {
  const memory = createMemoryBudget(512 * MIB)
  const most = memory.limitOf('body')
  const wanted = { totalMs: 300_000, leastRate: 1024, graceMs: 10_000, silenceMs: 30_000 }
  const bodies = createBodies(memory, () => wanted)
  const done: Buffer[] = []
  const server = createServer((request: IncomingMessage, response) => {
    void bodies.read(request, most, 'whole').then((read) => {
      if (read.ok) done.push(read.body)
      return response.writeHead(read.ok ? 200 : 503, { Connection: 'close' }).end()
    })
  })
  const origin = await listening(t, server)
  const size = Math.floor(most / 2) + 1
  const body = Buffer.alloc(size, 0x61)
  const head = `Content-Type: text/plain\r\nContent-Length: ${size}`
  const first = send(origin, head)
  first.write(body)
  await until(() => done.length === 1, 'the first body is whole')
  const second = send(origin, head)
  second.write('a')
  await until(() => memory.waiting() === 1, 'the second one waits')
  const third = send(origin, head)
  third.write(body)
  await until(() => memory.waiting() === 2, 'the third one waits behind it')
  second.destroy()
  await until(() => memory.waiting() === 1, 'who leaves waits no more')
  const [held] = done
  if (held !== undefined) bodies.release(held)
  await until(() => done.length === 2, 'the third body is whole')
  assert.equal(done[1]?.length, size)
})
