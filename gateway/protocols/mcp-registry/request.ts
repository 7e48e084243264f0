/** What a request to an MCP registry does, by its method and path: the registry's published API, and nothing unknown passes. */
import type { CallHead } from '../../calls/call.ts'
import { singleSegments, splitSegments } from '../../routing/path-reading.ts'
import { isRead, matchSegments, basePath } from '../common/request-line.ts'

export type RegistryRequest =
  | { readonly kind: 'pass' }
  | { readonly kind: 'publish'; readonly root: string }
  | { readonly kind: 'edit'; readonly root: string; readonly name: string; readonly version: string }
  /** Deprecated, deleted or put back; `version` null: all of them. */
  | { readonly kind: 'status'; readonly name: string; readonly version: string | null }
  | { readonly kind: 'unknown' }

type RegistryNames = Readonly<Record<string, string>>

interface RegistryEndpoint {
  readonly method: string
  /** Behind the version of the API. */
  readonly path: string
  readonly make: (names: RegistryNames, root: string) => RegistryRequest
}

const status = ({ name = '', version }: RegistryNames): RegistryRequest => ({
  kind: 'status',
  name,
  version: version ?? null,
})

const ROWS: readonly RegistryEndpoint[] = [
  { method: 'POST', path: 'publish', make: (_names, root) => ({ kind: 'publish', root }) },
  {
    method: 'PUT',
    path: 'servers/:name/versions/:version',
    make: ({ name = '', version = '' }, root) => ({ kind: 'edit', root, name, version }),
  },
  { method: 'PATCH', path: 'servers/:name/versions/:version/status', make: status },
  { method: 'PATCH', path: 'servers/:name/status', make: status },
  { method: 'DELETE', path: 'servers/:name/versions/:version', make: status },
  { method: 'DELETE', path: 'servers/:name', make: status },
  { method: 'POST', path: 'auth/*rest', make: () => ({ kind: 'pass' }) },
  { method: 'POST', path: 'validate', make: () => ({ kind: 'pass' }) },
]

export function readRegistryRequest({
  method,
  upstreamPath,
  route,
}: Pick<CallHead, 'method' | 'upstreamPath' | 'route'>): RegistryRequest {
  if (isRead(method)) return { kind: 'pass' }
  const base = basePath(route)
  const segments = upstreamPath.startsWith(`${base}/`) ? singleSegments(upstreamPath.slice(base.length)) : null
  const [version, ...rest] = segments ?? []
  if (version === undefined || !/^v[0-9]+(?:\.[0-9]+)?$/i.test(version)) return { kind: 'unknown' }
  const root = `${base}/${version}`
  const request = registryRequest(method, rest, root)
  const split = registryRequest(method, splitSegments(rest), root)
  // To a server that decodes first, an encoded slash parts two segments.
  return split.kind === 'unknown' || JSON.stringify(split) === JSON.stringify(request) ? request : { kind: 'unknown' }
}

function registryRequest(method: string, segments: readonly string[], root: string): RegistryRequest {
  for (const row of ROWS) {
    const names = row.method === method ? matchSegments(row.path.split('/'), segments) : null
    if (names !== null && (names['name'] ?? '').split('/').length <= 2 && !names['version']?.includes('/'))
      return row.make(names, root)
  }
  return { kind: 'unknown' }
}
