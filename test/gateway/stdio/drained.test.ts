/** Writers that wait for a slow reader. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { drained } from '../../../gateway/stdio/drained.ts'

function full(): PassThrough {
  const stream = new PassThrough({ highWaterMark: 1 })
  stream.write('more than one')
  return stream
}

const listeners = (stream: PassThrough): number => stream.listenerCount('drain') + stream.listenerCount('close')

for (const [what, end] of [
  ['takes more', (stream: PassThrough) => void stream.resume()],
  ['closes', (stream: PassThrough) => void stream.destroy()],
] as const)
  test(`when a stream ${what}, all who wait go on, and no listener stays`, async () => {
    const stream = full()
    const before = listeners(stream)
    const waits = Array.from({ length: 50 }, () => drained(stream))
    assert.equal(listeners(stream), before + 2)
    end(stream)
    await Promise.all(waits)
    assert.equal(listeners(stream), before)
  })

test('a stream that is full again is waited for again', async () => {
  const stream = full()
  const first = drained(stream)
  stream.resume()
  await first
  stream.pause()
  stream.write('more than one')
  let isFree = false
  const second = drained(stream).then(() => (isFree = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isFree, false)
  stream.resume()
  await second
})
