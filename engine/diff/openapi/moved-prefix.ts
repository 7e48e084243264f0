/**
 * A part of the servers' path that moved into the paths, or out of them: `/v1` and `/users` is `/` and `/v1/users`. The
 * address of an operation is that of its server with its path appended (OpenAPI 3.1.1 §4.8.8, Swagger 2.0 basePath).
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { PathItem } from '../../contracts/openapi/contract.ts'
import { memberOf } from '../../schema/located.ts'
import type { Sides } from '../sides.ts'

/** What stands before the paths of each side in its servers, and no longer counts as a part of the servers. */
export type MovedPrefix = Sides<string>

const NO_PREFIX: MovedPrefix = { base: '', head: '' }

/** @param servers comparable addresses of the whole interface, without a final slash */
export function movedPrefix(servers: Sides<readonly string[]>, paths: Sides<readonly PathItem[]>): MovedPrefix {
  for (const [longer, shorter] of [
    ['base', 'head'],
    ['head', 'base'],
  ] as const) {
    const prefix = prefixesBetween(servers[longer], servers[shorter]).find((one) =>
      paths[longer].some(isBelowPrefix(one, paths[shorter])),
    )
    if (prefix === undefined) continue
    // Servers of its own replace those of the interface, so that the path of an operation may follow another address.
    if ([...paths.base, ...paths.head].some(hasOwnServers)) continue
    return { ...NO_PREFIX, [longer]: prefix }
  }
  return NO_PREFIX
}

/**
 * Ends that all addresses of one side have, and that are missing at one of the other side. Servers may come and go besides. An
 * address of both sides keeps its paths.
 */
function prefixesBetween(longer: readonly string[], shorter: readonly string[]): readonly string[] {
  const starts = new Set(shorter)
  const [first] = longer
  if (first === undefined || longer.some((address) => starts.has(address))) return []
  // Each of them is an end of the first address.
  const ends = [...first.matchAll(/\//g)].map(({ index }) => first.slice(index))
  const isShared = (end: string): boolean => longer.every((address) => address.endsWith(end))
  const isMissing = (end: string): boolean => longer.some((address) => starts.has(address.slice(0, -end.length)))
  return ends.filter((end) => isShared(end) && isMissing(end) && !/[{}?#]/.test(end)).sort(byCodeUnit)
}

function isBelowPrefix(prefix: string, others: readonly PathItem[]): (item: PathItem) => boolean {
  const paths = new Set(others.map(({ path }) => withoutNames(path)))
  return ({ path }) => paths.has(withoutNames(prefix + path))
}

/** A path without the names of its parameters. */
export function withoutNames(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, '{}')
}

function hasOwnServers({ serversOwner, operations }: PathItem): boolean {
  return [serversOwner, ...[...operations.values()].map((operation) => operation.located)].some(
    (owner) => memberOf(owner, 'servers') !== null || memberOf(owner, 'schemes') !== null,
  )
}
