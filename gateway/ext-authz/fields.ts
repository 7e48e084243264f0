/** Header fields of a request that a gRPC message describes, in the form of node:http. */
import type { IncomingHttpHeaders } from 'node:http'
import { APPEND_ACTION, type AskedHeader, type HeaderOption } from './protocol.ts'

export type HeaderField = readonly [name: string, value: string]

/** A proxy that sends raw bytes leaves the text empty. */
export function headerField({ key, value, raw_value: raw }: AskedHeader): HeaderField {
  return [key, raw.length > 0 ? raw.toString('latin1') : value]
}

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

/** The first value of a name replaces the existing one, further values are appended. */
export function options(fields: readonly HeaderField[]): readonly HeaderOption[] {
  const seen = new Set<string>()
  return fields.map(([key, value]) => {
    const isFurther = seen.has(key)
    seen.add(key)
    const action = isFurther ? APPEND_ACTION.append : APPEND_ACTION.overwrite
    // Envoy before 1.25 reads `append`.
    return { header: { key, value }, append: { value: isFurther }, append_action: action }
  })
}

/** Name, value, name, value … as pairs. */
export function pairs(flat: readonly string[]): readonly HeaderField[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []))
}
