/**
 * Who operates a running gateway at its admin listener: the holder of an API key, or whoever may read the data directory. A
 * command on the same machine finds the gateway and its token in a file there.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { hashApiKey, isKeyInForce } from '../callers/api-keys.ts'
import { hasRight, isOperatorTenant } from '../callers/rights.ts'
import { errorCode, StartupError } from '../errors/startup-error.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { readPrivateFile, writePrivateFile } from '../runtime/private-file.ts'
import type { StorePart } from '../store/store.ts'
import type { OperatorPages } from './admin.ts'
import { isSameSecret } from '../runtime/hash.ts'

interface LocalAccessDeps {
  readonly store: StorePart<'apiKeys.byHash'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface LocalAccess extends Pick<OperatorPages, 'identify'> {
  /** Writes the file, once the listeners are open and when other settings are in force. */
  announce(addresses: object, settings: ServedSettings | null): void
  close(): void
}

/** How a command on this machine reaches the gateway that serves from a data directory. */
export interface ServingGateway {
  /** Base URL of the admin listener. */
  readonly admin: string
  readonly token: string
  /** Absolute path of its configuration; null: it has none. */
  readonly config: string | null
  /** False: its process ended without removing the file. */
  readonly isRunning: boolean
  /** What commands on the data directory need of the settings in force; null: its ledger is no file. */
  readonly settings: ServedSettings | null
}

/** The configuration on disk may be refused, while the gateway goes on with the one before. */
export interface ServedSettings {
  /** Sections of a configuration, without paths that are relative. */
  readonly sections: Readonly<Record<string, unknown>>
  /** Names. */
  readonly routes: readonly string[]
}

function servingFile(dataDir: string): string {
  return join(dataDir, 'serving.json')
}

/**
 * Null: no gateway serves from the data directory.
 * @throws StartupError when the file cannot be read, or another version wrote it
 */
export function readServing(dataDir: string): ServingGateway | null {
  const file = servingFile(dataDir)
  const text = readPrivateFile(file, {
    subject: `The file ${file}`,
    remedy: 'Run the command as the user of the gateway, or name the gateway with --url.',
  })
  if (text === null) return null
  const { pid, admin, token, config = null, settings } = recordIn(JSON.parse(text))
  if (typeof admin !== 'string' || typeof token !== 'string' || (config !== null && typeof config !== 'string'))
    throw new StartupError(`${file} was not written by this version; restart the gateway, or use --url`)
  return { admin, token, config, isRunning: typeof pid === 'number' && isRunning(pid), settings: servedIn(settings) }
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of another user.
    return errorCode(error) === 'EPERM'
  }
}

function servedIn(settings: unknown): ServedSettings | null {
  const { sections, routes } = recordIn(settings)
  if (!isJsonObject(sections) || !Array.isArray(routes)) return null
  return { sections, routes: routes.filter((name) => typeof name === 'string') }
}

/** Longer credentials were not issued here. */
const LONGEST = 512

/** @param config absolute path of the configuration, or null */
export function openLocalAccess(dataDir: string, config: string | null, { store, now }: LocalAccessDeps): LocalAccess {
  const token = `local_${randomBytes(32).toString('base64url')}`
  const file = servingFile(dataDir)
  return {
    async identify({ headers }: IncomingMessage) {
      const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
      if (given === undefined || given.length > LONGEST) return null
      if (isSameSecret(given, token)) return { by: 'cli:data-dir', mayRead: true, mayOperate: true }
      const key = await store.apiKeys.byHash(hashApiKey(given))
      if (key === null || !isKeyInForce(key, now())) return null
      const isOwn = isOperatorTenant(key)
      return {
        by: key.audience,
        mayRead: isOwn && hasRight(key, 'read'),
        mayOperate: isOwn && hasRight(key, 'operate'),
      }
    },
    announce: (addresses, settings) =>
      writePrivateFile(file, JSON.stringify({ pid: process.pid, token, config, settings, ...addresses })),
    close: () => rmSync(file, { force: true }),
  }
}
