/** Header fields of a request that a gRPC message describes, in the form of node:http. */
import type { IncomingHttpHeaders } from 'node:http'

export type HeaderField = readonly [name: string, value: string]

/** Lower case, several values of one name joined. */
export function mergedFields(fields: readonly HeaderField[]): IncomingHttpHeaders {
  const merged = new Map<string, string>()
  for (const [field, value] of fields) {
    const name = field.toLowerCase()
    const before = merged.get(name)
    merged.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(merged)
}
