/** Requests that state another method beside the one of their first line: frameworks differ in whether they take it for the real one. */
import type { CallHead } from '../../calls/call.ts'

const OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const

/** What a form in the body says is no part of it: only recognisers that read the body can tell. */
export function overridesMethod({ headers, upstreamPath }: Pick<CallHead, 'headers' | 'upstreamPath'>): boolean {
  return OVERRIDES.some((name) => headers[name] !== undefined) || /[?&](?:_|%5f)method=/i.test(upstreamPath)
}
