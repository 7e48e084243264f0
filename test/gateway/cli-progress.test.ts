import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { openProgress } from '../../gateway/cli/progress.ts'
import { main } from '../../gateway/cli/main.ts'

function terminal(isTerminal: boolean) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  return { stdin, stdout, stderr, environment: {}, isTerminal }
}

const written = (stream: PassThrough): string => String(stream.read() ?? '')

test('progress is one line of a terminal, from the second second on, and is taken away', () => {
  const io = terminal(true)
  let now = 0
  const progress = openProgress(io, () => now)
  progress.show('comparing 1 of 2')
  assert.equal(written(io.stderr), '')
  now = 1500
  progress.show('comparing 2 of 2\u001b[31m')
  const line = written(io.stderr)
  assert.match(line, /^\rcomparing 2 of 2/)
  assert.ok(!line.includes('\u001b') && !line.includes('\n'))
  progress.end()
  assert.match(written(io.stderr), /^\r +\r$/)
})

test('there is no progress where the output is not a terminal', () => {
  const io = terminal(false)
  const progress = openProgress(io, () => Number.MAX_SAFE_INTEGER)
  progress.show('comparing')
  progress.end()
  assert.equal(written(io.stderr), '')
})

test('--quiet prints no report and keeps the exit code', async () => {
  const io = terminal(false)
  const files = ['examples/shop/before.yaml', 'examples/shop/after.yaml']
  assert.equal(await main(['diff', ...files, '--quiet'], io), 1)
  assert.equal(written(io.stdout), '')
})
