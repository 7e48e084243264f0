/**
 * Formats of structural schemas. "Unknown formats are ignored" by the API server (JSONSchemaProps of
 * apiextensions.k8s.io/v1, `format`).
 */

/** Formats of texts that API servers check. They compare them without hyphens. */
const CHECKED: readonly string[] = [
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
  'isbn',
  'isbn10',
  'isbn13',
  'credit-card',
  'ssn',
  'hex-color',
  'rgb-color',
  'byte',
  'password',
  'date',
  'duration',
  'date-time',
  'k8s-short-name',
  'k8s-long-name',
]
/** Not checked, but the types of generated clients follow them. */
const OF_NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double'])

const CHECKED_NAMES: ReadonlyMap<string, string> = new Map(CHECKED.map((name) => [withoutHyphens(name), name]))

function withoutHyphens(format: string): string {
  return format.replaceAll('-', '')
}

/** The one name of a format that counts for API servers or generated clients. Null: it counts for neither. */
export function knownFormat(format: unknown): unknown {
  if (typeof format !== 'string' || OF_NUMBERS.has(format)) return format
  return CHECKED_NAMES.get(withoutHyphens(format)) ?? null
}
