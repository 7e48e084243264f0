/** How log lines reach a file descriptor: all of them in their order, or counted as lost. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { LogLines } from '../../../gateway/telemetry/log-lines.ts'
import { until } from '../../fakes/until.ts'

/** What the system answers to one write: so many bytes, or an error. */
type Answer = number | 'EAGAIN' | 'ENOSPC' | 'EIO' | 'EPIPE'

/** Answers in this order, then takes everything. */
function target(answers: readonly Answer[]) {
  const left = [...answers]
  const state = { text: '', lost: [] as number[] }
  const take = (bytes: Buffer): number => {
    const answer = left.shift() ?? bytes.length
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer })
    state.text += String(bytes.subarray(0, answer))
    return answer
  }
  const lines = new LogLines(99, {
    ending: new EventEmitter(),
    writeSync: (_, bytes) => take(bytes),
    write: (_, bytes, done) =>
      void setImmediate(() => {
        try {
          done(null, take(bytes))
        } catch (error) {
          done(error instanceof Error ? error : null, 0)
        }
      }),
  })
  lines.whenWritable((lost) => state.lost.push(lost))
  return { lines, state, isIdle: () => left.length === 0 }
}

for (const [what, answers, text, lost, total] of [
  ['all at once', [], 'a\nb\nc\n', [], 0],
  ['in pieces', [1, 1, 2, 1], 'a\nb\nc\n', [], 0],
  ['to a pipe that is full for a moment', ['EAGAIN', 'EAGAIN'], 'a\nb\nc\n', [], 0],
  ['after a piece, to a full pipe', [1, 'EAGAIN', 1], 'a\nb\nc\n', [], 0],
  ['to a disk that was full', ['ENOSPC'], 'b\nc\n', [1], 1],
  ['to a disk that was full in the middle of a line', [1, 'ENOSPC'], 'a\nb\nc\n', [1], 1],
  ['to a terminal that is gone after a line', [1, 'EAGAIN', 1, 'EIO'], 'a\n', [], 2],
  ['to a reader that is gone', ['EPIPE', 'EPIPE'], '', [], 3],
] as const satisfies readonly (readonly [string, readonly Answer[], string, readonly number[], number])[])
  test(`lines written ${what}`, async () => {
    const { lines, state, isIdle } = target(answers)
    for (const line of ['a\n', 'b\n', 'c\n']) lines.write(line)
    await until(() => isIdle() && state.text.length >= text.length, what)
    assert.equal(state.text, text)
    assert.deepEqual(state.lost, lost)
    assert.equal(lines.lost, total)
  })

test('a reader that never reads costs lines, and bounded memory', async () => {
  const taken: Buffer[] = []
  const lines = new LogLines(99, {
    ending: new EventEmitter(),
    writeSync: () => 0,
    write: (_, bytes) => void taken.push(bytes),
  })
  const line = `${'x'.repeat(1_000_000)}\n`
  for (let count = 0; count < 40; count += 1) lines.write(line)
  assert.equal(taken.length, 1)
  assert.equal(lines.lost, 40 - 1 - 16)
})

for (const [what, answers, text] of [
  ['in pieces', [1, 2], 'b\nc\n'],
  ['to a pipe that is full for a moment', ['EAGAIN', 1, 'EAGAIN'], 'b\nc\n'],
  ['to a disk that is full', [2, 'ENOSPC'], 'b\n'],
] as const satisfies readonly (readonly [string, readonly Answer[], string])[])
  test(`at the end of the process, what waits is written ${what}`, () => {
    const left: Answer[] = [...answers]
    const written: string[] = []
    const source = new EventEmitter()
    const lines = new LogLines(99, {
      write: () => {},
      writeSync: (_, bytes) => {
        const answer = left.shift() ?? bytes.length
        if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer })
        written.push(String(bytes.subarray(0, answer)))
        return answer
      },
      ending: source,
    })
    for (const line of ['a\n', 'b\n', 'c\n']) lines.write(line)
    source.emit('exit')
    assert.equal(written.join(''), text)
  })

test('a loss is reported once, with the next line', async () => {
  const { lines, state } = target(['ENOSPC'])
  lines.write('a\n')
  await until(() => lines.lost === 1, 'it is lost')
  lines.write('b\n')
  await until(() => state.lost.length === 1, 'it is reported')
  lines.write('c\n')
  await until(() => state.text === 'b\nc\n', 'all is written')
  assert.deepEqual(state.lost, [1])
})
