/** The spool of telemetry: what counts as taken is on the disk, in order, whole, and within the bound. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openSpool } from '../../../gateway/telemetry/sinks/spool.ts'

const fresh = (): string => join(mkdtempSync(join(tmpdir(), 'preflight-spool-')), 'spool', 'sink.ndjson')
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => JSON.stringify({ n: from + at }))
const inFile = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1)

test('events that come together are written in the order in which they came', async () => {
  const file = fresh()
  const spool = openSpool(file, 10_000)
  const kept = await Promise.all(Array.from({ length: 500 }, (_, at) => spool.append(lines(at * 2, at * 2 + 2), false)))
  assert.ok(kept.every(Boolean))
  assert.deepEqual(inFile(file), lines(0, 1000))
  assert.deepEqual(spool.head(3), lines(0, 3))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await spool.close()
})

test('the bound holds for what is on its way to the disk too, and not for what is owed', async () => {
  const spool = openSpool(fresh(), 5)
  const kept = await Promise.all(Array.from({ length: 8 }, (_, at) => spool.append(lines(at, at + 1), false)))
  assert.deepEqual(kept, [true, true, true, true, true, false, false, false])
  assert.equal(await spool.append(lines(10, 12), true), true)
  assert.equal(spool.length, 7)
  spool.drop(3)
  assert.equal(await spool.append(lines(12, 13), false), true)
  assert.deepEqual(spool.head(9), [...lines(3, 5), ...lines(10, 13)])
  await spool.close()
})

test('a torn last line is cut off, so that the next event is not written to its end', async () => {
  const file = fresh()
  const first = openSpool(file, 100)
  await first.append(lines(0, 2), false)
  await first.close()
  appendFileSync(file, '{"n":2,"té')
  const second = openSpool(file, 100)
  assert.deepEqual(second.head(9), lines(0, 2))
  await second.append(lines(3, 4), false)
  await second.close()
  assert.deepEqual(openSpool(file, 100).head(9), [...lines(0, 2), ...lines(3, 4)])
})

test('a line that is not an event is left out, and the file is put right', async () => {
  const file = fresh()
  await openSpool(file, 100).close()
  writeFileSync(file, '{"n":0}\n{"n":\n\n{"n":1}\n')
  const spool = openSpool(file, 100)
  assert.deepEqual(spool.head(9), lines(0, 2))
  await spool.append(lines(2, 3), false)
  assert.deepEqual(inFile(file), lines(0, 3))
  await spool.close()
})

test('what is acknowledged leaves the file in the end, and the rest stays in order', async () => {
  const file = fresh()
  const spool = openSpool(file, 10_000)
  await spool.append(lines(0, 3000), false)
  spool.drop(2000)
  await spool.append(lines(3000, 3001), false)
  assert.deepEqual(inFile(file), lines(2000, 3001))
  await spool.close()
  const again = openSpool(file, 10_000)
  assert.equal(again.length, 1001)
  again.drop(1001)
  await again.close()
  assert.equal(statSync(file).size, 0)
})

test('a disk that refuses is a no; what is owed is kept in memory, and written when the disk is back', async () => {
  const file = fresh()
  const spool = openSpool(file, 100)
  // Without its folder, neither the file nor another one in its place can be written.
  rmSync(dirname(file), { recursive: true })
  assert.equal(await spool.append(lines(0, 1), false), false)
  assert.equal(spool.length, 0)
  assert.equal(await spool.append(lines(1, 2), true), true)
  assert.deepEqual(spool.head(9), lines(1, 2))
  mkdirSync(dirname(file))
  assert.equal(await spool.append(lines(2, 3), false), true)
  assert.deepEqual(inFile(file), lines(1, 3))
  await spool.close()
})

test('a list of hundreds of thousands of events is accepted in one step', async () => {
  const spool = openSpool(fresh(), 300_000)
  assert.equal(await spool.append(lines(0, 200_000), false), true)
  assert.equal(spool.length, 200_000)
  await spool.close()
})
