/** Protobuf messages that decoders read in two ways: what is a dry run or a name to one is a field that another one skips. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { createMessageReader } from '../../gateway/protocols/common/protobuf-message.ts'
import { excessiveGrowth } from '../fakes/growth.ts'
import { readGrpcCall } from '../../gateway/protocols/argocd/grpc.ts'

const FORM = protobuf
  .parse(`
  syntax = "proto2";
  message Sync { optional string name = 1; optional bool dryRun = 3; optional int64 other = 4; repeated string texts = 8; repeated int64 numbers = 14 [packed = true]; optional Inner inner = 20; optional bytes raw = 21; optional fixed32 four = 22; optional fixed64 eight = 23; optional double real = 24; }
  message Inner { optional string name = 1; }
`)
  .root.lookupType('Sync')

const read = createMessageReader({
  Sync: {
    name: [1, 'string'],
    dryRun: [3, 'bool'],
    texts: [8, 'string[]'],
    numbers: [14, 'int64[]'],
    inner: [20, 'Inner'],
    raw: [21, 'bytes'],
  },
  Inner: { name: [1, 'string'] },
})

const NAME = [0x0a, 4, ...Buffer.from('shop')]

/** Behind the name; what an encoder would have written for `dryRun: true` is `18 01`. */
const TWO_READINGS: Readonly<Record<string, readonly number[]>> = {
  'a tag of 33 bits': [0x98, 0x80, 0x80, 0x80, 0x10, 1],
  'a tag of 36 bits': [0x98, 0x80, 0x80, 0x80, 0x80, 0x01, 1],
  'a tag of 64 bits': [0x98, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1],
  'a tag that does not end in ten bytes': [...Array<number>(10).fill(0x98), 1, 1],
  'a tag in a longer form': [0x98, 0x00, 1],
  'a value in a longer form': [0x18, 0x81, 0x00],
  'a value of another size': [0x18, 0x80, 0x80, 0x80, 0x80, 0x10],
  'a value that is no truth value': [0x18, 2],
  'a list in place of a truth value': [0x1a, 1, 1],
  'four bytes in place of a truth value': [0x1d, 1, 0, 0, 0],
  'eight bytes in place of a truth value': [0x19, 1, 0, 0, 0, 0, 0, 0, 0],
  'a group in place of a truth value': [0x1b, 0x1c],
  'a group around it': [0x93, 0x03, 0x18, 1, 0x94, 0x03],
  'the end of a group': [0x1c, 0x18, 1],
  'a wire type that does not exist': [0x1e, 1],
  'a field of number 0': [0x00, 1, 0x18, 1],
  'a second value': [0x18, 1, 0x18, 0],
  'a number in place of a name': [0x40, 4],
  'a length of 33 bits': [0x42, 0x80, 0x80, 0x80, 0x80, 0x10],
  'a length past the end': [0x42, 9, 1],
  'a text that is not UTF-8': [0x42, 2, 0xc1, 0xa1],
  'a field that breaks off': [0x18],
  'a message within that has a tag of 33 bits': [0xa2, 0x01, 6, 0x8a, 0x80, 0x80, 0x80, 0x10, 0],
}

function argocdSync(message: readonly number[]) {
  const body = Buffer.alloc(5 + message.length)
  body.writeUInt32BE(message.length, 1)
  body.set(message, 5)
  const call = { method: 'POST', headers: { 'content-type': 'application/grpc-web+proto' }, body }
  return readGrpcCall(
    { ...call, upstreamPath: '/application.ApplicationService/Sync' },
    '/application.ApplicationService/Sync',
    'argocd',
  )
}

for (const [what, bytes] of Object.entries(TWO_READINGS))
  test(`${what} has no single reading`, () => {
    assert.equal(read('Sync', Buffer.from([...NAME, ...bytes])).ok, false)
    assert.notEqual(argocdSync([...NAME, ...bytes]).kind, 'read', 'it is no dry run')
  })

test('what an encoder writes is read', () => {
  assert.equal(argocdSync([...NAME, 0x18, 1]).kind, 'read')
  assert.equal(argocdSync([...NAME, 0x18, 0]).kind, 'write')
  const value = {
    name: 'shöp',
    dryRun: false,
    other: -1,
    texts: ['', 'b'],
    numbers: [1, -2, 2 ** 40],
    inner: { name: 'x' },
    raw: Buffer.from([0, 255]),
    four: 7,
    eight: 9,
    real: 0.5,
  }
  assert.deepEqual(read('Sync', Buffer.from(FORM.encode(value).finish())), {
    ok: true,
    value: {
      name: 'shöp',
      dryRun: false,
      texts: ['', 'b'],
      numbers: ['1', '-2', String(2 ** 40)],
      inner: { name: 'x' },
      raw: Buffer.from([0, 255]),
    },
  })
  assert.deepEqual(read('Sync', Buffer.from([0x70, 1, 0x72, 1, 2])), { ok: true, value: { numbers: ['1', '2'] } })
  assert.deepEqual(read('Sync', Buffer.alloc(0)), { ok: true, value: {} })
})

for (const [what, field] of [
  ['numbers that are skipped', [0x20, 1]],
  ['texts', [0x42, 0]],
  ['numbers', [0x70, 1]],
] as const)
  test(`the time for a message of many ${what} grows with its length`, async () => {
    assert.equal(await excessiveGrowth((size) => read('Sync', Buffer.alloc(size, Buffer.from(field))), 2 ** 21), null)
  })
