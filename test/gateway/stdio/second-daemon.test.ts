/** Two daemons of one user that start at the same time: the second one ends, and the first one and its calls do not notice. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectDaemon } from '../../../gateway/stdio/daemon-connection.ts'
import { startDaemon } from '../../../gateway/stdio/daemon.ts'
import { holdServingLock } from '../../../gateway/store/sqlite/serving-lock.ts'
import { deskHome, type DeskHome } from '../../../gateway/stdio/home.ts'
import { initialize, LINE_SERVER, startDesk, startLineClient } from '../../fakes/desk.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

/** What keeps the ledger → how a home states it. */
const KEEPERS: Readonly<Record<string, (home: DeskHome) => void>> = {
  'a file': () => {},
  'a database': ({ settings }) => writeFileSync(settings, 'store: { url: "postgres://127.0.0.1:9/none" }\n'),
  'a hub': ({ hub, settings }) =>
    writeFileSync(hub, JSON.stringify({ url: 'https://127.0.0.1:9', credential: 'none', settings })),
}

/** A daemon with a gateway that does nothing. */
function deskDaemon(t: TestContext, prepare: (home: DeskHome) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-second-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const home = deskHome({ PREFLIGHT_HOME: folder })
  prepare(home)
  let started = 0
  let closed = 0
  const startGateway = () => {
    started += 1
    return Promise.resolve({
      addresses: { proxy: 'http://127.0.0.1:9' },
      warmUp: () => Promise.resolve(),
      reload: () => {},
      problems: () => [],
      upstreamFault: () => null,
      close() {
        closed += 1
        return Promise.resolve()
      },
    })
  }
  const options = { home, startGateway, environment: {}, now: Date.now, idleMs: 60_000 }
  return { home, options, started: () => started, closed: () => closed }
}

/** As wrappers do, until the daemon that runs has ended. */
async function startNext(options: Parameters<typeof startDaemon>[0]): ReturnType<typeof startDaemon> {
  for (let left = 20; ; left -= 1) {
    try {
      return await startDaemon(options)
    } catch (error) {
      if (at(error, 'code') !== 'HELD_ELSEWHERE' || left === 0) throw error
      await sleep(100)
    }
  }
}

for (const [keeper, prepare] of Object.entries(KEEPERS))
  test(`a second daemon leaves the configuration of the first one as it is: ${keeper} keeps the ledger`, async (t) => {
    const { home, options, started } = deskDaemon(t, prepare)
    const first = await startDaemon(options)
    t.after(() => first.close())
    const written = readFileSync(home.config, 'utf8')
    await assert.rejects(startDaemon(options), (error) => at(error, 'code') === 'HELD_ELSEWHERE')
    assert.equal(readFileSync(home.config, 'utf8'), written)
    // Only the socket tells that the first one runs, where no file of a ledger is open.
    if (keeper !== 'a file') {
      rmSync(home.lock)
      await assert.rejects(startDaemon(options), (error) => at(error, 'code') === 'HELD_ELSEWHERE')
      assert.equal(readFileSync(home.config, 'utf8'), written)
      assert.ok(existsSync(home.socket))
    }
    assert.equal(started(), 1)
    const socket = await connectDaemon({ home, start: () => assert.fail('a daemon runs') })
    socket.destroy()
    await first.close()
    const next = await startDaemon(options)
    await next.close()
  })

const noGateway = () => assert.fail('a second gateway')

test('a second daemon leaves the configuration of the first one as it is, also without its lock', async (t) => {
  const desk = startDesk(t)
  const home = deskHome(desk.environment)
  await initialize(startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER]))
  const written = readFileSync(home.config, 'utf8')
  rmSync(home.lock)
  const second = startDaemon({ home, startGateway: noGateway, environment: {}, now: Date.now, idleMs: 60_000 })
  await assert.rejects(second, (error) => at(error, 'code') === 'HELD_ELSEWHERE')
  assert.equal(readFileSync(home.config, 'utf8'), written)
  assert.ok(existsSync(home.socket))
})

/** What of a running daemon is lost → how. */
const LOSSES: Readonly<Record<string, (home: DeskHome) => void>> = {
  'its socket': ({ socket }) => rmSync(socket),
  'its lock and its socket': ({ lock, socket }) => [lock, socket].forEach((file) => rmSync(file)),
}

for (const [keeper, prepare] of Object.entries(KEEPERS))
  for (const [lost, lose] of Object.entries(LOSSES))
    test(`a daemon that lost ${lost} ends and writes nothing more, and the next one serves: ${keeper} keeps the ledger`, async (t) => {
      const { home, options, closed } = deskDaemon(t, prepare)
      const first = await startDaemon(options)
      lose(home)
      const next = await startNext(options)
      t.after(() => next.close())
      const { config } = home
      writeFileSync(config, 'of the next one')
      writeFileSync(home.servers, '{"servers": [{"name": "new", "url": "https://api.example/mcp"}]}')
      first.reload()
      await first.ended
      assert.equal(closed(), 1)
      assert.equal(readFileSync(config, 'utf8'), 'of the next one')
      const socket = await connectDaemon({ home, start: () => assert.fail('a daemon runs') })
      socket.destroy()
    })

test('a daemon whose lock another one has taken ends before it writes', async (t) => {
  const { home, options } = deskDaemon(t, KEEPERS['a hub'] ?? (() => {}))
  const first = await startDaemon(options)
  rmSync(home.lock)
  const other = holdServingLock(home.lock)
  t.after(() => other.close())
  writeFileSync(home.config, 'of another one')
  first.reload()
  await first.ended
  assert.equal(readFileSync(home.config, 'utf8'), 'of another one')
})

test('a lock that was only removed is held again', async (t) => {
  const { home, options } = deskDaemon(t, KEEPERS['a hub'] ?? (() => {}))
  const first = await startDaemon(options)
  t.after(() => first.close())
  rmSync(home.lock)
  first.reload()
  assert.ok(existsSync(home.lock))
  await assert.rejects(startDaemon(options), (error) => at(error, 'code') === 'HELD_ELSEWHERE')
})

test('servers go on at the next daemon when the first one lost its lock and its socket', async (t) => {
  const desk = startDesk(t)
  const home = deskHome(desk.environment)
  const editor = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER])
  await initialize(editor)
  const first = await desk.daemon()
  rmSync(home.lock)
  rmSync(home.socket)
  const another = startLineClient(desk, ['--name', 'others'], [process.execPath, LINE_SERVER])
  await initialize(another)
  await until(() => desk.daemon().then((pid) => pid !== first), 'another daemon runs', 30_000)
  for (const client of [editor, another]) assert.ok('result' in (await client.ask('again', 'ping')), client.stderr())
})
