/** Connects to the daemon of this user, and starts it when none runs. Several clients may do so together. */
import { openSync, closeSync, rmSync, statSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../errors/startup-error.ts'
import { makeHome, type DeskHome } from './home.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

interface DaemonConnectionOptions {
  readonly home: DeskHome
  /** Starts a daemon as a process of its own. */
  readonly start: () => void
}

/** A daemon starts within this time, also on a busy machine. */
const PATIENCE_MS = 30_000
const RETRY_MS = 20
/** A start that takes longer has failed. */
const STALE_MS = 10_000

/** Rejects with an Error that says why no daemon answers. */
export async function connectDaemon({ home, start }: DaemonConnectionOptions): Promise<Socket> {
  makeHome(home)
  const startedAt = Date.now()
  for (;;) {
    const socket = await tryConnect(home.socket)
    if (socket !== null) return socket
    const fault = faultSince(home, startedAt)
    if (fault !== null) throw new Error(fault)
    if (Date.now() - startedAt > PATIENCE_MS) throw new Error(`the daemon does not answer; its log is ${home.log}`)
    if (mayStart(home)) {
      // The daemon removes the file after it listens: it may have done so since the last look.
      const late = await tryConnect(home.socket)
      if (late !== null) {
        rmSync(home.starting, { force: true })
        return late
      }
      start()
    }
    await sleep(RETRY_MS)
  }
}

/** Null: nobody listens. */
export function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EAGAIN'].includes(errorCode(error) ?? '')) resolve(null)
      else reject(error)
    })
  })
}

/** True for one of those that try at the same time. The daemon removes the file once it listens, or fails. */
function mayStart({ starting }: DeskHome): boolean {
  try {
    const descriptor = openSync(starting, 'wx', 0o600)
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  try {
    if (Date.now() - statSync(starting).mtimeMs > STALE_MS) rmSync(starting, { force: true })
  } catch {
    // Somebody else removed it.
  }
  return false
}

function faultSince({ fault }: DeskHome, since: number): string | null {
  try {
    return statSync(fault).mtimeMs < since ? null : readRegularFile(fault, 'utf8')
  } catch {
    return null
  }
}
