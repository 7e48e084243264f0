/** Where at the upstream the paths of a route's protocol begin. */
import type { CallHead } from '../../calls/call.ts'

/** Without a slash at its end; `''` for the root. A route without an upstream has its prefix for it. */
export function basePath({ upstream, match }: Pick<CallHead['route'], 'upstream' | 'match'>): string {
  const path = upstream === undefined ? match.path : new URL(upstream).pathname
  return path.endsWith('/') ? path.slice(0, -1) : path
}
