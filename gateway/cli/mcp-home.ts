/** Which daemon judges the calls of wrapped servers: that of this user, or one of this user whose state is at a hub. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { connectDaemon } from '../stdio/daemon-connection.ts'
import { deskHome, hubFolder, makeHome, type DeskHome, keepHub } from '../stdio/home.ts'
import type { Environment } from '../settings/environment.ts'
import { assertNoSpecialFile } from '../runtime/regular-file.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { UsageError, type Arguments, type OptionSpec } from './command.ts'
import { sessionOfHost } from './session-file.ts'

export const HUB_OPTIONS: readonly OptionSpec[] = [
  { name: 'hub', value: 'URL', help: 'Keep decisions, baselines and the ledger at this hub of your company.' },
  {
    name: 'hub-token',
    value: 'FILE',
    help: 'File with a hub key or token; else the session of preflight login at the host of the hub is used.',
  },
  { name: 'hub-ca', value: 'FILE', help: 'PEM file of the authorities of the hub; else the public ones.' },
]

/** Throws a UsageError when nothing proves to the hub who this is. */
export function homeOf(args: Arguments, environment: Environment): DeskHome {
  const own = deskHome(environment)
  const url = args.value('hub')
  if (url === undefined) {
    if (args.value('hub-token') !== undefined || args.value('hub-ca') !== undefined)
      throw new UsageError('--hub-token and --hub-ca need --hub')
    return own
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--hub ${JSON.stringify(url)} is not an address (https://HOST:PORT)`)
  const home = deskHome({ ...environment, PREFLIGHT_HOME: hubFolder(own, url) })
  makeHome(home)
  const credential = hubCredentialFile(args, environment, url, home)
  const ca = args.value('hub-ca')
  keepHub(home, { url, credential, settings: own.settings, ...(ca === undefined ? {} : { ca: resolve(ca) }) })
  return home
}

/** A file that the daemon reads again and again: tokens are replaced, and sessions are renewed. */
function hubCredentialFile(args: Arguments, environment: Environment, url: string, home: DeskHome): string {
  const file = args.value('hub-token')
  if (file !== undefined) return resolve(file)
  const session = sessionOfHost(environment, new URL(url).hostname)
  if (session === null)
    throw new UsageError(
      `nobody is signed in at ${new URL(url).hostname}: run preflight login --url ADDRESS-OF-ITS-API, or give --hub-token FILE`,
    )
  const kept = join(home.folder, 'hub.credential')
  writePrivateFile(kept, `${session.key}\n`)
  return kept
}

/** Connects to the daemon of a home, and starts it when it does not run. */
export function daemonConnector(home: DeskHome, environment: Environment): () => Promise<Socket> {
  return () => connectDaemon({ home, start: () => startDaemonProcess(home, environment) })
}

const PROGRAM = fileURLToPath(new URL('../preflight.js', import.meta.url))

/** MiB for new values. V8 would take 16, and keeps three of them: 100 MiB of a daemon that calls few tools a second. */
const YOUNG_GENERATION = '--max-semi-space-size=2'

/** As in the image (Dockerfile): two arenas are enough, and freed memory goes back. */
const MEMORY_OF_GLIBC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '16384',
  MALLOC_TOP_PAD_: '16384',
  MALLOC_MMAP_THRESHOLD_: '16384',
  MALLOC_MMAP_MAX_: '8192',
}

function startDaemonProcess(home: DeskHome, environment: Environment): void {
  makeHome(home)
  assertNoSpecialFile(home.log)
  const log = openSync(home.log, 'a', 0o600)
  const args = ['--disable-warning=ExperimentalWarning', YOUNG_GENERATION, PROGRAM, 'mcp', 'daemon']
  const child = spawn(process.execPath, args, {
    cwd: home.folder,
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...MEMORY_OF_GLIBC, ...environment, PREFLIGHT_HOME: home.folder },
    windowsHide: true,
  })
  child.on('error', () => {})
  child.unref()
  closeSync(log)
}

/** Throws a UsageError that names a variable which is not set. */
export function withEnvironment(text: string, environment: Environment): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = environment[name]
    if (value === undefined) throw new UsageError(`the environment variable ${name} is not set`)
    return value
  })
}
