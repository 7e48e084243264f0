/**
 * The caller's source-control token (docs/reference/api.md#post-apiv1preflight): a header of one request, used for that request
 * only and stored nowhere.
 */
import type { RouteExchange } from './route.ts'

/** For openapi.json. */
export const SCM_TOKEN_HEADER = {
  'X-SCM-Token':
    'Short-lived token of the source-control platform, to read the repository with. Used for this request and never kept.',
} as const

/** Null when the request carries none. */
export function scmToken({ headers }: Pick<RouteExchange, 'headers'>): string | null {
  const given = headers['x-scm-token']
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : null
}
