/** Sessions of `preflight login`, by gateway, in one file that only this user can read. */
import { join } from 'node:path'
import { isJsonObject } from '../json/strict-json.ts'
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from '../runtime/private-file.ts'
import type { Environment } from '../settings/environment.ts'
import { deskHome } from '../stdio/home.ts'
import { jsonOrNull } from '../json/unchecked-json.ts'

interface StoredSession {
  /** Of the API of the gateway. */
  readonly origin: string
  readonly key: string
  /** Null: it does not end by itself. */
  readonly expires_at: string | null
}

const KIND = { subject: 'The file of sign-ins', remedy: 'Remove it, and sign in again with preflight login.' }

/** Null: nobody is signed in there, or the session has ended. */
export function sessionAt(environment: Environment, origin: string): StoredSession | null {
  return currentSessions(environment).find((session) => session.origin === origin) ?? null
}

/** The session at the API of a host, whatever its port. Null: there is none, or it has ended. */
export function sessionOfHost(environment: Environment, hostname: string): StoredSession | null {
  return (
    currentSessions(environment).find(({ origin }) => URL.canParse(origin) && new URL(origin).hostname === hostname) ??
    null
  )
}

function currentSessions(environment: Environment): readonly StoredSession[] {
  return sessions(environment).filter(({ expires_at: end }) => end === null || Date.parse(end) > Date.now())
}

export function keepSession(environment: Environment, session: StoredSession): void {
  writeSessions(environment, [...others(environment, session.origin), session])
}

export function forgetSession(environment: Environment, origin: string): void {
  const all = sessions(environment)
  const kept = others(environment, origin)
  if (kept.length < all.length) writeSessions(environment, kept)
}

function others(environment: Environment, origin: string): readonly StoredSession[] {
  return sessions(environment).filter((session) => session.origin !== origin)
}

function writeSessions(environment: Environment, kept: readonly StoredSession[]): void {
  makePrivateDirectory(deskHome(environment).folder)
  writePrivateFile(sessionFile(environment), `${JSON.stringify({ sessions: kept }, null, 2)}\n`)
}

function sessionFile(environment: Environment): string {
  return join(deskHome(environment).folder, 'sign-in.json')
}

/** What is not a session is left out: the person signs in again. */
function sessions(environment: Environment): readonly StoredSession[] {
  const text = readPrivateFile(sessionFile(environment), KIND)
  const value = text === null ? null : jsonOrNull(text)
  const listed: unknown = isJsonObject(value) ? value['sessions'] : null
  const rows: readonly unknown[] = Array.isArray(listed) ? listed : []
  return rows.filter(isSession)
}

function isSession(value: unknown): value is StoredSession {
  if (!isJsonObject(value)) return false
  const { origin, key, expires_at: end } = value
  return typeof origin === 'string' && typeof key === 'string' && (end === null || typeof end === 'string')
}
