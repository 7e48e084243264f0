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
import { writePrivateFile } from '../runtime/private-file.ts'
import type { StorePart } from '../store/store.ts'
import type { OperatorPages } from './admin.ts'
import { isSameSecret } from '../runtime/hash.ts'

interface LocalAccessDeps {
  readonly store: StorePart<'apiKeys.byHash'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface LocalAccess extends Pick<OperatorPages, 'identify'> {
  /** Writes the file, once the listeners are open. */
  announce(addresses: object): void
  close(): void
}

export function servingFile(dataDir: string): string {
  return join(dataDir, 'serving.json')
}

/** Longer credentials were not issued here. */
const LONGEST = 512

export function openLocalAccess(dataDir: string, { store, now }: LocalAccessDeps): LocalAccess {
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
    announce: (addresses) => writePrivateFile(file, JSON.stringify({ pid: process.pid, token, ...addresses })),
    close: () => rmSync(file, { force: true }),
  }
}
