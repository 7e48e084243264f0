/**
 * Header fields from HTTP/1.1 to HTTP/2: fields of a connection are dropped, all others keep their values and order.
 */

/** Fields that make a message of HTTP/2 malformed (RFC 9113 §8.2.2). */
const OF_A_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** Names in lower case; several values of one name in their order. */
export type Http2Fields = Record<string, string | string[]>

/** @param raw name, value, name, value … */
export function http2Fields(raw: readonly string[]): Http2Fields {
  const fields: Http2Fields = Object.create(null)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name, value] = [(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']
    if (OF_A_CONNECTION.has(name) || (name === 'te' && value !== 'trailers')) continue
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  return fields
}
