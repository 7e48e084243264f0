/**
 * A part of the servers' path that moved into the paths, or out of them: `/v1` and `/users` is `/` and `/v1/users`. The
 * address of an operation is that of its server with its path appended (OpenAPI 3.1.1 §4.8.8, Swagger 2.0 basePath).
 */
import type { PathItem } from '../../contracts/openapi/contract.ts'
import { memberOf } from '../../schema/located.ts'
import type { Sides } from '../sides.ts'

/** What stands before the paths of each side in its servers, and no longer counts as a part of the servers. */
export type MovedPrefix = Sides<string>

export const NO_PREFIX: MovedPrefix = { base: '', head: '' }

/** @param servers comparable addresses of the whole interface, without a final slash */
export function movedPrefix(servers: Sides<readonly string[]>, paths: Sides<readonly PathItem[]>): MovedPrefix {
  for (const [longer, shorter] of [
    ['base', 'head'],
    ['head', 'base'],
  ] as const) {
    const prefix = prefixBetween(servers[longer], servers[shorter])
    if (prefix === null || !paths[longer].some(isUnder(prefix, paths[shorter]))) continue
    // Servers of its own replace those of the interface, so that the path of an operation may follow another address.
    if ([...paths.base, ...paths.head].some(hasOwnServers)) continue
    return { ...NO_PREFIX, [longer]: prefix }
  }
  return NO_PREFIX
}

/** The end that all addresses of one side have beyond those of the other. Null if there is none. */
function prefixBetween(longer: readonly string[], shorter: readonly string[]): string | null {
  const [first] = longer
  const start = shorter.find((address) => first !== address && first?.startsWith(`${address}/`))
  if (first === undefined || start === undefined) return null
  const prefix = first.slice(start.length)
  const [stated, implied] = [new Set(longer), new Set(shorter.map((address) => address + prefix))]
  return /[{}?#]/.test(prefix) || stated.symmetricDifference(implied).size > 0 ? null : prefix
}

function isUnder(prefix: string, others: readonly PathItem[]): (item: PathItem) => boolean {
  const paths = new Set(others.map(({ path }) => withoutNames(path)))
  return ({ path }) => paths.has(withoutNames(prefix + path))
}

/** A path without the names of its parameters. */
export function withoutNames(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, '{}')
}

function hasOwnServers({ located, operations }: PathItem): boolean {
  return [located, ...[...operations.values()].map((operation) => operation.located)].some(
    (owner) => memberOf(owner, 'servers') !== null || memberOf(owner, 'schemes') !== null,
  )
}
