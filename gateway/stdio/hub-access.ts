/** The hub of a daemon: written by `preflight mcp --hub`, read by the daemon that it starts. */
import { existsSync } from 'node:fs'
import { isJsonObject } from '../json/strict-json.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import type { DeskHome } from './home.ts'

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
  const { url, credential, ca, settings } = isJsonObject(value) ? value : {}
  if (typeof url !== 'string' || typeof credential !== 'string' || typeof settings !== 'string')
    throw new Error(`${home.hub} is not readable; remove it, and start the server again`)
  return { url, credential, settings, ...(typeof ca === 'string' ? { ca } : {}) }
}

/** Settings of the store of a daemon. */
export function storeAt({ url, credential, ca }: DeskHub): object {
  return { url, hub: { key_file: credential, ...(ca === undefined ? {} : { ca_file: ca }) } }
}
