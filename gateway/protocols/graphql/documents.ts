/**
 * Documents that a request names instead of stating them. Automatically persisted ones are named by their hash, which
 * the gateway knows once they have been stated. Others are in a manifest that the operator gives to both the server and
 * the gateway.
 */
import type { GraphqlRoute } from './settings.ts'
import { stat } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors/errors.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import type { GraphqlParameters } from './parameters.ts'
import { loadRegularFile } from '../../runtime/regular-file.ts'

export type FoundDocument =
  | { readonly kind: 'text'; readonly text: string }
  /** The document of this hash was not stated here yet: a client states it together with the hash. */
  | { readonly kind: 'unknown_hash' }
  | { readonly kind: 'unknown_id'; readonly id: string }
  /** The stated hash is not the hash of the stated text. */
  | { readonly kind: 'mismatch' }

export interface GraphqlDocuments {
  /** Rejects with PREFLIGHT_UNDECIDED when the manifest of the route cannot be read. */
  find(route: GraphqlRoute, request: GraphqlParameters): Promise<FoundDocument>
}

type DocumentManifest = ReadonlyMap<string, string>

interface DocumentView {
  readonly path: string
  readonly modifiedAt: number
  readonly lookedAt: number
  readonly manifest: DocumentManifest
}

/** Maximum number of characters of all documents that are remembered by their hash. */
const MAX_REMEMBERED = 8 * 1024 * 1024
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024
/** A changed manifest takes effect within this time. */
const RECHECK_MS = 5000

/** @param now milliseconds since the epoch */
export function createGraphqlDocuments(now: () => number): GraphqlDocuments {
  // By content: the hash stands for the same document, whoever stated it first.
  const stated = new LRUCache<string, string>({ maxSize: MAX_REMEMBERED, sizeCalculation: (text) => text.length + 64 })
  const views = new Map<string, DocumentView>()

  const manifestOf = async ({ graphql: { documents: path } }: GraphqlRoute): Promise<DocumentManifest> => {
    if (path === undefined) return NOTHING
    const known = views.get(path)
    if (known !== undefined && now() - known.lookedAt < RECHECK_MS) return known.manifest
    const { mtimeMs: modifiedAt, size } = await stat(path)
    if (size > MAX_MANIFEST_BYTES) throw new Error(`it is longer than ${MAX_MANIFEST_BYTES} bytes`)
    const manifest = known?.modifiedAt === modifiedAt ? known.manifest : manifestIn(await loadRegularFile(path))
    views.set(path, { path, modifiedAt, lookedAt: now(), manifest })
    return manifest
  }
  const known = async (route: GraphqlRoute): Promise<DocumentManifest> => {
    try {
      return await manifestOf(route)
    } catch (error) {
      throw new GatewayError(
        'PREFLIGHT_UNDECIDED',
        `The documents of route "${route.name}" (graphql.documents) cannot be read; the log has the cause.`,
        { cause: error },
      )
    }
  }

  return {
    async find(route, { query, hash, document }) {
      if (query !== null) {
        if (hash !== null && sha256Hex(query) !== hash) return { kind: 'mismatch' }
        if (hash !== null) stated.set(hash, query)
        return { kind: 'text', text: query }
      }
      const id = hash ?? document ?? ''
      const text = (hash === null ? undefined : stated.get(hash)) ?? (await known(route)).get(id)
      if (text !== undefined) return { kind: 'text', text }
      return hash === null ? { kind: 'unknown_id', id } : { kind: 'unknown_hash' }
    },
  }
}

const NOTHING: DocumentManifest = new Map()

/** An object of id → document, or Apollo's manifest of persisted queries (`operations[]` with `id` and `body`). */
function manifestIn(bytes: Buffer): DocumentManifest {
  const read = readStrictJson(bytes)
  if (!read.ok) throw new Error(read.message)
  if (!isJsonObject(read.value)) throw new Error('it is not a JSON object')
  const operations: unknown = read.value['operations']
  const entries: readonly (readonly [unknown, unknown])[] = Array.isArray(operations)
    ? operations.map((one: unknown) => (isJsonObject(one) ? [one['id'], one['body']] : [null, null]))
    : Object.entries(read.value)
  return new Map(
    entries.map(([id, text]) => {
      if (typeof id !== 'string' || typeof text !== 'string')
        throw new Error('it contains something other than documents')
      return [id, text] as const
    }),
  )
}
