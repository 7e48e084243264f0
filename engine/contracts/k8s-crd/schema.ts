/** The schema of a resource as JSON Schema: Kubernetes' own type members become `type`. */
import { isRecord, type JsonRecord } from '../../schema/located.ts'

const INT_OR_STRING = 'x-kubernetes-int-or-string'

/** Every part keeps its place. */
export function plainCrdSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const members = Object.entries(schema).map(([name, value]): [string, unknown] => [name, plainMember(name, value)])
  const plain: JsonRecord = Object.fromEntries(members)
  if (plain[INT_OR_STRING] !== true) return plain
  // Generators repeat it as alternatives. Structural schemas allow these alternatives for no other purpose.
  const { anyOf: _, ...rest } = plain
  return { ...rest, type: ['integer', 'string'] }
}

function plainMember(name: string, value: unknown): unknown {
  if (name === 'properties' && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([property, schema]) => [property, plainCrdSchema(schema)]))
  }
  return name === 'items' || name === 'additionalProperties' ? plainCrdSchema(value) : value
}
