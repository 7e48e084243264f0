/**
 * The wrapped servers of a user, and the configuration that is made from them: the settings that the user wrote, and one
 * route for each server.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatMistake } from '../errors/mistake.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { jsonOrNull } from '../json/unchecked-json.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { type DeskHome, hubOf, storeAt } from './home.ts'
import type { Hello } from './frames.ts'
import { createHash } from 'node:crypto'
import { readSourceText } from '../settings/source-text.ts'

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Null: the name may be used. */
export function nameProblem(name: string): string | null {
  return NAME.test(name)
    ? null
    : `the name ${JSON.stringify(name)} may contain lower-case letters, digits and hyphens, at most 63 characters`
}

/** Programs that start other programs: the name is that of what they start. */
const LAUNCHERS = new Set(
  'npx bunx pnpm yarn npm dlx exec x uvx uv run pipx python python3 node bun deno docker podman -m'.split(' '),
)
const RELEASE = /(?<=[^@/])@[^/@]*$|==.*$/

/**
 * The name of a server that was given none: what is started, and a hash of the whole command. Versions are left out, so
 * that a new version is compared with the old one.
 */
export function serverNameOf(command: readonly string[]): string {
  const plain = command.map((word) => word.replace(RELEASE, ''))
  const started = plain
    .map((word) => word.replace(/^.*[/\\]/, ''))
    .find((word, index) => {
      return !LAUNCHERS.has(word) && !word.startsWith('-') && (index > 0 || !LAUNCHERS.has(word))
    })
  const base = (started ?? 'server').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const digest = createHash('sha256').update(JSON.stringify(plain)).digest('hex').slice(0, 8)
  return `${base.replace(/^-+/, '').slice(0, 50).replace(/-+$/, '') || 'server'}-${digest}`
}

/** Any text as a name. */
export function asName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'server' : name
}

/** A server as it was last started. */
interface KnownServer {
  readonly name: string
  readonly command: string
  readonly url?: string
  readonly seenAt: string
}

export function readServers({ servers }: Pick<DeskHome, 'servers'>): readonly KnownServer[] {
  if (!existsSync(servers)) return []
  const list = jsonOrNull(readRegularFile(servers, 'utf8'))
  if (!Array.isArray(list))
    throw new Error(
      `${servers} is not a list of servers in JSON: remove it, and each server is listed again when it starts`,
    )
  return list
    .filter(isJsonObject)
    .flatMap(({ name, command, url, seenAt }) =>
      typeof name === 'string' && nameProblem(name) === null && typeof command === 'string'
        ? [{ name, command, seenAt: String(seenAt), ...(typeof url === 'string' ? { url } : {}) }]
        : [],
    )
}

/** @returns takes it back, so that the list is the one before */
export function keepServer(home: DeskHome, { name, command, url }: Hello, now: () => number): () => void {
  const known = readServers(home)
  const seenAt = new Date(now()).toISOString()
  const server: KnownServer = { name, command, seenAt, ...(url === undefined ? {} : { url }) }
  const others = known.filter((one) => one.name !== name)
  writeServers(home, [...others, server])
  return () => writeServers(home, known)
}

function writeServers({ servers }: DeskHome, list: readonly KnownServer[]): void {
  writePrivateFile(servers, `${JSON.stringify(list, null, 2)}\n`)
}

/** Why a header field cannot be sent to a server; null: it can. The value may be a credential, so it is not repeated. */
export function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    return `${JSON.stringify(name)} is not the name of a header: write letters, digits and hyphens`
  return /^[\t -~\u0080-\u00ff]*$/.test(value)
    ? null
    : `the value of the header ${name} has a line break or a character that a header cannot hold`
}

/** A server over HTTP is reached at these addresses only. */
export function isServerAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** Members of a route that the daemon sets. */
const OWN_MEMBERS = new Set(['name', 'match', 'upstream', 'protocol'])

/**
 * Writes the configuration of the daemon. Throws an Error when the settings of the user cannot be read.
 * @returns whether it is another one than before
 */
export function writeDeskConfig(home: DeskHome, bridge: string): boolean {
  const text = `${JSON.stringify(deskConfig(home, bridge), null, 2)}\n`
  if (existsSync(home.config) && readRegularFile(home.config, 'utf8') === text) return false
  writePrivateFile(home.config, text)
  return true
}

/** The settings of the user and one route for each server. Throws an Error when either cannot be read. */
export function deskConfig(home: DeskHome, bridge: string): object {
  const hub = hubOf(home)
  const settings = userSettings(hub?.settings ?? home.settings)
  const own: readonly unknown[] = Array.isArray(settings['routes']) ? settings['routes'] : []
  const overrides = new Map(own.filter(isJsonObject).map((route) => [route['name'], route]))
  const routes = readServers(home).map(({ name, url }) => ({
    ...Object.fromEntries(Object.entries(overrides.get(name) ?? {}).filter(([member]) => !OWN_MEMBERS.has(member))),
    name,
    match: { path: `/${name}` },
    upstream: url ?? bridge,
    protocol: 'mcp',
  }))
  return {
    policy: 'agent-tools',
    limits: { proxied_body: MAX_BODY },
    ...settings,
    listen: { proxy: '127.0.0.1:0', api: '127.0.0.1:0', admin: '127.0.0.1:0' },
    data_dir: dataFolder(home),
    ...(hub === null ? {} : { store: storeAt(hub) }),
    routes,
  }
}

export const dataFolder = ({ folder }: DeskHome): string => join(folder, 'data')

const MAX_BODY = 64 * 1024 * 1024

/** Throws when they are no settings. */
export function userSettings(settings: string): Readonly<Record<string, unknown>> {
  if (!existsSync(settings)) return {}
  const source = readSourceText(settings, readRegularFile(settings, 'utf8'))
  if (!source.ok) throw new Error(source.problem.map(formatMistake).join('\n'))
  const { value } = source.value
  if (value === null || value === undefined) return {}
  if (!isJsonObject(value)) throw new Error(`${settings} is not a mapping of settings`)
  return value
}
