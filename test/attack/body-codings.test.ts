/** Compressed bodies that servers unpack otherwise than the gateway: further members, ignored ends, two formats in one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, inflateRawSync, inflateSync, zstdCompressSync } from 'node:zlib'
import { unpacked } from '../../gateway/network/content-coding.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const PACK = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const
type Coding = keyof typeof PACK
const CODINGS = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'] as const satisfies readonly Coding[]

const HIDDEN = Buffer.from('query=mutation M{remove}')
const SHOWN = Buffer.from(' query Q{__typename}&operationName=Q')

/** Where a gzip header has a name, a comment, or something else (RFC 1952 §2.3.1). */
function gzipWith(flags: number, fields: string): Buffer {
  const plain = gzipSync(SHOWN)
  return Buffer.concat([
    plain.subarray(0, 3),
    Buffer.of(flags),
    plain.subarray(4, 10),
    Buffer.from(fields, 'latin1'),
    plain.subarray(10),
  ])
}

/** A block of deflate that is not compressed (RFC 1951 §3.2.4). */
function storedBlock(text: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(isLast ? 1 : 0)
  head.writeUInt16LE(text.length, 1)
  head.writeUInt16LE(0xffff ^ text.length, 3)
  return Buffer.concat([head, text])
}

/** Some servers take deflate for zlib (RFC 9110 §8.4.1.2), others for deflate alone. This body is both. */
function bothDeflates(): Buffer {
  // The first bytes are the header of zlib and of its block to some, and the header of a block of one byte to others.
  const inner = Buffer.concat([storedBlock(HIDDEN, false), storedBlock(Buffer.alloc(0), true)]).subarray(1)
  const first = Buffer.concat([
    Buffer.of(0x00),
    storedBlock(Buffer.concat([inner, Buffer.alloc(0xfffe - inner.length)]), false).subarray(1),
  ])
  const whole = Buffer.concat([first.subarray(5), SHOWN])
  return Buffer.concat([Buffer.of(0x78, 0x01), first, storedBlock(SHOWN, true), deflateSync(whole).subarray(-4)])
}

for (const coding of CODINGS) {
  const [first, second] = [PACK[coding](HIDDEN), PACK[coding](SHOWN)]
  test(`${coding}: a body is read`, async () => {
    for (const text of [Buffer.alloc(0), HIDDEN, Buffer.alloc(100_000, 'x')]) {
      const read = await unpacked(PACK[coding](text), coding, 1 << 20)
      assert.deepEqual(read, { ok: true, bytes: text })
    }
    assert.equal((await unpacked(PACK[coding](Buffer.alloc(2000)), coding, 1999)).ok, false, 'too long')
  })

  for (const [what, bytes] of [
    ['a second member', Buffer.concat([first, second])],
    ['an empty first member', Buffer.concat([PACK[coding](Buffer.alloc(0)), second])],
    ['an empty second member', Buffer.concat([first, PACK[coding](Buffer.alloc(0))])],
    ['zeros at its end', Buffer.concat([first, Buffer.alloc(4)])],
    ['another member behind zeros', Buffer.concat([first, Buffer.alloc(1), second])],
    ['text at its end', Buffer.concat([first, SHOWN])],
    ['no end', first.subarray(0, -1)],
  ] as const)
    test(`${coding}: a body with ${what} is refused`, async () => {
      assert.equal((await unpacked(bytes, coding, 1 << 20)).ok, false)
    })
}

for (const coding of ['gzip', 'x-gzip'] as const) {
  test(`${coding}: a file name is allowed, as the program gzip writes it`, async () => {
    assert.deepEqual(await unpacked(gzipWith(0x08, 'a.json\0'), coding, 1 << 20), { ok: true, bytes: SHOWN })
  })
  const damaged = (at: number): Buffer => {
    const bytes = gzipSync(SHOWN)
    bytes.writeUInt8((bytes.at(at) ?? 0) ^ 1, at < 0 ? bytes.length + at : at)
    return bytes
  }
  for (const [what, bytes] of [
    ['another checksum', damaged(-8)],
    ['another length', damaged(-4)],
    ['another method', damaged(2)],
    ['a header that does not end', gzipWith(0x08, '').subarray(0, 12)],
    ['unknown flags', gzipWith(0x20, '')],
    ['extra fields', gzipWith(0x04, '\x02\x00ab')],
  ] as const)
    test(`${coding}: a body with ${what} is refused`, async () => {
      assert.equal((await unpacked(bytes, coding, 1 << 20)).ok, false)
    })
}

test('zstd: a body with a frame that readers skip is refused', async () => {
  const skipped = Buffer.from('502a4d180400000001020304', 'hex')
  for (const bytes of [
    Buffer.concat([skipped, zstdCompressSync(HIDDEN)]),
    Buffer.concat([zstdCompressSync(HIDDEN), skipped]),
  ])
    assert.equal((await unpacked(bytes, 'zstd', 1 << 20)).ok, false)
})

test('deflate: a body that is zlib to some servers, and deflate alone to others, is refused', async () => {
  const bytes = bothDeflates()
  assert.ok(inflateSync(bytes).includes(SHOWN))
  assert.ok(inflateRawSync(bytes).includes(HIDDEN))
  assert.equal((await unpacked(bytes, 'deflate', 1 << 20)).ok, false)
})

for (const coding of CODINGS)
  test(`${coding}: of a GraphQL form in two members, no server executes another operation than the judged one`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    const proxy = await startProxy({
      routes: [
        {
          name: 'shop',
          match: { path: '/graphql' },
          upstream: `${upstream.origin}/graphql`,
          protocol: 'graphql',
          graphql: { introspect: true },
        },
      ],
    })
    t.after(async () => {
      await proxy.close()
      await upstream.close()
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': coding }
    const send = (...texts: readonly Buffer[]) =>
      fetch(`${proxy.url}/graphql`, {
        method: 'POST',
        headers,
        body: Buffer.concat(texts.map((text) => PACK[coding](text))),
      })
    assert.equal((await send(Buffer.concat([HIDDEN, SHOWN]))).status, 200)
    for (const texts of [
      [HIDDEN, SHOWN],
      [Buffer.concat([HIDDEN, SHOWN]), Buffer.from('&operationName=M')],
    ])
      assert.equal((await send(...texts)).status, 400)
    assert.equal(upstream.requests.length, 1)
  })
