/** Every file of a data directory, replaced by a special file: the start fails immediately, and nothing waits for a writer of a FIFO. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { startGateway } from '../../../gateway/main.ts'
import { writePrivateFile } from '../../../gateway/runtime/private-file.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { sinkName } from '../../../gateway/telemetry/sinks/spooled.ts'
import { openSpool } from '../../../gateway/telemetry/sinks/spool.ts'
import { readProtoFolder } from '../../../gateway/documents/proto-folder.ts'
import { run } from '../../fakes/command-io.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-special-'))
after(() => rmSync(root, { recursive: true, force: true }))

const SINK = 'http://127.0.0.1:9/events'
const SPOOL = `spool/${sinkName('http', SINK)}.ndjson`

const PLACES: Readonly<Record<string, (path: string) => void>> = {
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a link to a FIFO': (path) => {
    execFileSync('mkfifo', [`${path}.fifo`])
    symlinkSync(`${path}.fifo`, path)
  },
  'an endless device': (path) => symlinkSync('/dev/zero', path),
  'an empty device': (path) => symlinkSync('/dev/null', path),
  'a folder': (path) => mkdirSync(path),
  'a loop of links': (path) => symlinkSync(path, path),
  // Root reads whatever the mode says.
  ...(process.getuid?.() !== 0 && {
    'a file that nobody may read': (path: string) => {
      writeFileSync(path, '{}')
      chmodSync(path, 0)
    },
  }),
}

let count = 0
function fresh(): string {
  count += 1
  return join(root, `data-${count}`)
}

const start = (data: string) =>
  startGateway(
    {
      value: { listen: FREE_PORTS, data_dir: data, monitoring: { sinks: [{ type: 'http', url: SINK }] } },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    },
    { output: devNull(), logger: createLogger('silent') },
  )

/** Files of a data directory, and what opens each: the start, or a command. SQLite removes those of its own that it does not need. */
const FILES: Readonly<Record<string, 'start' | 'command'>> = {
  'ledger.db': 'start',
  'ledger.db-wal': 'start',
  'ledger.db-shm': 'start',
  'ledger.db.lock': 'start',
  'serving.lock': 'start',
  'receipt-keys.json': 'start',
  'ledger-checkpoint.jwt': 'start',
  [SPOOL]: 'start',
  'interception-ca.json': 'command',
}

suite('in the place of a file of the data directory', () => {
  let served = ''
  before(async () => {
    served = fresh()
    await (await start(served)).close()
    assert.equal((await run(['ca', 'show', '--data-dir', served])).code, 0)
  })

  test('the table has every file that a gateway leaves behind', () => {
    const left = readdirSync(served, { recursive: true, encoding: 'utf8' }).filter((name) => name !== 'spool')
    assert.deepEqual(
      left.filter((name) => !(name in FILES)),
      [],
    )
  })

  for (const [file, opener] of Object.entries(FILES))
    for (const [what, put] of Object.entries(PLACES))
      test(`${file}: ${what} is an immediate error`, async () => {
        const data = fresh()
        cpSync(served, data, { recursive: true })
        rmSync(join(data, file), { force: true })
        put(join(data, file))
        if (opener === 'start')
          await assert.rejects(start(data), (error: Error) => {
            assert.equal(error.name, 'StartupError', error.stack)
            assert.ok(error.message.includes(data), error.message)
            return true
          })
        else {
          const { code, stderr } = await run(['ca', 'show', '--data-dir', data])
          assert.notEqual(code, 0)
          assert.ok(stderr.includes(file), stderr)
        }
      })
})

suite('in the place of a file that is written and then moved', () => {
  for (const what of ['a FIFO', 'a link to a FIFO', 'an endless device', 'a loop of links'])
    test(`${what} is removed, not opened`, async () => {
      const folder = fresh()
      mkdirSync(folder)
      const put = PLACES[what] ?? assert.fail(what)
      const file = join(folder, 'secret.json')
      put(`${file}.${process.pid}.tmp`)
      writePrivateFile(file, 'text')
      const spoolFile = join(folder, 'spool.ndjson')
      writeFileSync(spoolFile, 'torn\n{"a":1}\n')
      put(`${spoolFile}.new`)
      const spool = openSpool(spoolFile, 10)
      assert.equal(await spool.append(['{"b":2}'], false), true)
      await spool.close()
      const again = openSpool(spoolFile, 10)
      assert.deepEqual(again.head(5), ['{"a":1}', '{"b":2}'])
      await again.close()
    })
})

test('a FIFO or a device among the files of a proto folder is an error', async () => {
  for (const what of ['a FIFO', 'a link to a FIFO', 'an endless device', 'a loop of links']) {
    const folder = fresh()
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.proto'), 'syntax = "proto3";')
    const put = PLACES[what] ?? assert.fail(what)
    put(join(folder, 'b.proto'))
    await assert.rejects(readProtoFolder(folder, 1 << 20), what)
  }
})
