/** Progress and colour of commands: on a terminal only. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { during, openProgress } from '../../../gateway/cli/io.ts'
import { main } from '../../../gateway/cli/main.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { until } from '../../fakes/until.ts'

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

/** Long commands that write a report: none of them writes progress or colour to a pipe. */
const LONG: readonly (readonly [name: string, argv: (data: string) => readonly string[], code: number])[] = [
  ['diff', () => ['diff', 'examples/shop/before.yaml', 'examples/shop/after.yaml'], 1],
  ['ledger verify', (data) => ['ledger', 'verify', '--data-dir', data], 0],
  ['ledger export', (data) => ['ledger', 'export', '--data-dir', data, '--output', join(data, 'export.ndjson')], 0],
  ['ledger backup', (data) => ['ledger', 'backup', join(data, 'copy.db'), '--data-dir', data], 0],
  ['policy replay', (data) => ['policy', 'replay', '--ledger', '--data-dir', data], 0],
]

test('no long command writes progress or colour to a pipe', async (t) => {
  const { dataDir } = await startTestGateway(t)
  for (const [name, argv, code] of LONG) {
    const io = { ...terminal(false), environment: { NO_COLOR: '1' } }
    assert.equal(await main([...argv(dataDir)], io), code, name)
    const text = written(io.stdout) + written(io.stderr)
    assert.ok(!text.includes('\r') && !text.includes('\u001b'), name)
  }
})

test('--quiet leaves the report out of every command whose exit code is the answer', async (t) => {
  const { dataDir } = await startTestGateway(t)
  for (const argv of [
    ['ledger', 'verify', '--data-dir', dataDir],
    ['policy', 'replay', '--ledger', '--data-dir', dataDir],
  ]) {
    const io = terminal(false)
    assert.equal(await main([...argv, '--quiet'], io), 0)
    assert.equal(written(io.stdout), '')
  }
})

test('work without steps shows its seconds, and an error takes the line away', async () => {
  const io = terminal(true)
  await assert.rejects(
    during(io, 'copying', async () => {
      await until(() => io.stderr.readableLength > 0, 'the line is shown')
      throw new Error('no space')
    }),
    /no space/,
  )
  assert.match(written(io.stderr), /^\rcopying \(\d+ s\) +(?:\rcopying \(\d+ s\) +)*\r +\r$/)
})
