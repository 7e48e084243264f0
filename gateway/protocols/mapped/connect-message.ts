/**
 * The message of a Connect call by GET, which stands in the query in place of a body (Connect Protocol, "Unary-Get-Request").
 * Rules that read the body read it; a message with another reading is refused.
 */
import { ok, fail } from '../../../engine/base.ts'
import type { Result } from '../../../engine/internal.ts'
import type { CallHead } from '../../calls/call.ts'
import { queryOf, readNames } from '../../routing/query-names.ts'
import { isRead } from '../common/request-line.ts'

const PARAMETERS = ['message', 'encoding', 'base64', 'compression', 'connect'] as const

/** The encodings that every such server takes, whatever their parameters and letters. */
const ENCODING = /^\s*(?:json|proto)\b/i

/** Null: the request is no such call. */
export function connectMessage({ method, upstreamPath }: CallHead): Result<Buffer, string> | null {
  const query = queryOf(upstreamPath)
  if (!isRead(method) || !query.includes('=')) return null
  const names = readNames(query)
  if (!names.includes('message') || !names.includes('encoding')) return null
  const values = new URLSearchParams(query)
  const isMarked = values.has('connect') || values.getAll('encoding').some((encoding) => ENCODING.test(encoding))
  if (!isMarked) return null
  for (const name of PARAMETERS)
    if (names.filter((one) => one === name).length !== values.getAll(name).length || values.getAll(name).length > 1)
      return fail(`its query has the parameter ${JSON.stringify(name)} more than once, or in another spelling`)
  const { encoding = '', message = '', base64 = '', compression = '' } = Object.fromEntries(values)
  if (encoding !== 'json') return fail(`its message is ${JSON.stringify(encoding.slice(0, 40))} and not JSON`)
  if (compression !== '' && compression !== 'identity') return fail('its message is compressed')
  if (base64 === '') return ok(Buffer.from(message))
  const bytes = Buffer.from(message, 'base64url')
  const isBase64 = base64 === '1' && bytes.toString('base64url') === message.replace(/={0,2}$/, '')
  return isBase64 ? ok(bytes) : fail('its message is not base64url')
}
