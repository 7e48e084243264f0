/** Where `preflight mcp` keeps what all wrapped servers of a user share. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { recordIn } from '../json/unchecked-json.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { makePrivateDirectory, writePrivateFile } from '../runtime/private-file.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { homeFolder } from '../runtime/current-user.ts'

export interface DeskHome {
  readonly folder: string
  /** Where the daemon listens. */
  readonly socket: string
  /** Written by the daemon: the configuration in force. Commands read it with --config. */
  readonly config: string
  /** Written by the user: settings of the gateway, and of servers by their names. */
  readonly settings: string
  /** Servers that were seen. */
  readonly servers: string
  readonly log: string
  /** The daemon that runs: its process id and version. */
  readonly process: string
  /** Held by the daemon that runs. */
  readonly lock: string
  /** Present while a daemon starts. */
  readonly starting: string
  /** Why the last daemon did not start. */
  readonly fault: string
  /** The hub that keeps its state, if one does. */
  readonly hub: string
}

/** Longest path of a socket that every system takes. */
const LONGEST_SOCKET = 100

export function deskHome(environment: Environment): DeskHome {
  const folder = resolve(variable(environment, 'PREFLIGHT_HOME') ?? join(homeFolder(environment), '.preflight'))
  return {
    folder,
    socket: socketOf(folder),
    config: join(folder, 'gateway.json'),
    settings: join(folder, 'preflight.yaml'),
    servers: join(folder, 'servers.json'),
    log: join(folder, 'daemon.log'),
    process: join(folder, 'daemon.json'),
    lock: join(folder, 'daemon.lock'),
    starting: join(folder, 'daemon.starting'),
    fault: join(folder, 'daemon.fault'),
    hub: join(folder, 'hub.json'),
  }
}

/** Folder of the daemon whose state is at a hub: one for each hub. */
export function hubFolder({ folder }: DeskHome, url: string): string {
  return join(folder, 'hubs', createHash('sha256').update(url).digest('hex').slice(0, 16))
}

/** Only this user may enter: whoever reaches the socket may call the servers. */
export function makeHome({ folder, socket }: DeskHome): void {
  makePrivateDirectory(folder)
  const place = resolve(socket, '..')
  if (process.platform !== 'win32' && place !== folder) makePrivateDirectory(place)
}

function socketOf(folder: string): string {
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  if (process.platform === 'win32') return String.raw`\\.\pipe\preflight-${digest}`
  const inside = join(folder, 'daemon.sock')
  if (inside.length <= LONGEST_SOCKET) return inside
  return join(tmpdir(), `preflight-${process.getuid?.()}-${digest}`, 'daemon.sock')
}

interface DeskHub {
  readonly url: string
  /** File with a hub key or a token. */
  readonly credential: string
  /** PEM file of its authorities; absent: the public ones. */
  readonly ca?: string
  /** Settings of the user. */
  readonly settings: string
}

export function keepHub(home: Pick<DeskHome, 'hub'>, hub: DeskHub): void {
  const text = `${JSON.stringify(hub, null, 2)}\n`
  if (!existsSync(home.hub) || readRegularFile(home.hub, 'utf8') !== text) writePrivateFile(home.hub, text)
}

/** Null: this daemon keeps its state itself. Throws when the file is not what `keepHub` wrote. */
export function hubOf(home: Pick<DeskHome, 'hub'>): DeskHub | null {
  if (!existsSync(home.hub)) return null
  const value: unknown = JSON.parse(readRegularFile(home.hub, 'utf8'))
  const { url, credential, ca, settings } = recordIn(value)
  if (typeof url !== 'string' || typeof credential !== 'string' || typeof settings !== 'string')
    throw new Error(`${home.hub} is not readable; remove it, and start the server again`)
  return { url, credential, settings, ...(typeof ca === 'string' ? { ca } : {}) }
}

/** Settings of the store of a daemon. */
export function storeAt({ url, credential, ca }: DeskHub): object {
  return { url, hub: { key_file: credential, ...(ca === undefined ? {} : { ca_file: ca }) } }
}
