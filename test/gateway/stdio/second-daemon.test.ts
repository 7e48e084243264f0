/** Two daemons of one user that start at the same time: the second one ends, and the first one and its calls do not notice. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectDaemon } from '../../../gateway/stdio/daemon-connection.ts'
import { startDaemon } from '../../../gateway/stdio/daemon.ts'
import { deskHome, type DeskHome } from '../../../gateway/stdio/home.ts'
import { initialize, LINE_SERVER, startDesk, startLineClient } from '../../fakes/desk.ts'
import { at } from '../../json.ts'

/** What keeps the ledger → how a home states it. */
const KEEPERS: Readonly<Record<string, (home: DeskHome) => void>> = {
  'a file': () => {},
  'a database': ({ settings }) => writeFileSync(settings, 'store: { url: "postgres://127.0.0.1:9/none" }\n'),
  'a hub': ({ hub, settings }) =>
    writeFileSync(hub, JSON.stringify({ url: 'https://127.0.0.1:9', credential: 'none', settings })),
}

for (const [keeper, prepare] of Object.entries(KEEPERS))
  test(`a second daemon leaves the configuration of the first one as it is: ${keeper} keeps the ledger`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'preflight-second-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const home = deskHome({ PREFLIGHT_HOME: folder })
    prepare(home)
    let started = 0
    const startGateway = () => {
      started += 1
      return Promise.resolve({
        addresses: { proxy: 'http://127.0.0.1:9' },
        warmUp: () => Promise.resolve(),
        reload: () => {},
        problems: () => [],
        close: () => Promise.resolve(),
      })
    }
    const options = { home, startGateway, environment: {}, now: Date.now, idleMs: 60_000 }
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
    assert.equal(started, 1)
    const socket = await connectDaemon({ home, start: () => assert.fail('a daemon runs') })
    socket.destroy()
    await first.close()
    const next = await startDaemon(options)
    await next.close()
  })

const noGateway = () => assert.fail('a second gateway')

for (const lost of ['lock', 'socket', 'both'] as const)
  test(`a second daemon leaves the configuration of the first one as it is, also without its ${lost === 'both' ? 'lock and socket' : lost}`, async (t) => {
    const desk = startDesk(t)
    const home = deskHome(desk.environment)
    await initialize(startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER]))
    const written = readFileSync(home.config, 'utf8')
    if (lost !== 'socket') rmSync(home.lock)
    if (lost !== 'lock') rmSync(home.socket)
    const second = startDaemon({ home, startGateway: noGateway, environment: {}, now: Date.now, idleMs: 60_000 })
    await assert.rejects(second, (error) => at(error, 'code') === 'HELD_ELSEWHERE')
    assert.equal(readFileSync(home.config, 'utf8'), written)
    assert.equal(existsSync(home.socket), lost === 'lock')
  })
