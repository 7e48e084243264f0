/** Requests that state a second method in addition to the one of their first line: some frameworks use it instead. */
import type { CallHead } from '../../calls/call.ts'

const OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/** Does not cover forms in the body: only recognisers that read the body can check those. */
export function overridesMethod({ headers, upstreamPath }: Pick<CallHead, 'headers' | 'upstreamPath'>): boolean {
  return OVERRIDES.some((name) => headers[name] !== undefined) || /[?&](?:_|%5f)method=/i.test(upstreamPath)
}
