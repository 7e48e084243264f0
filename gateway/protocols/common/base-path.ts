/** The path at the upstream where a route's protocol begins. */
import type { CallHead } from '../../calls/call.ts'

/** Without a trailing slash; `''` for the root. For a route without an upstream it is the prefix. */
export function basePath({ upstream, match }: Pick<CallHead['route'], 'upstream' | 'match'>): string {
  const path = upstream === undefined ? match.path : new URL(upstream).pathname
  return path.endsWith('/') ? path.slice(0, -1) : path
}
