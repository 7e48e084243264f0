/**
 * Formats of structural schemas. "Unknown formats are ignored" by the API server (JSONSchemaProps of
 * apiextensions.k8s.io/v1, `format`).
 */

/** Formats of texts that API servers check, without hyphens as they compare them. */
const CHECKED: ReadonlySet<string> = new Set([
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
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'password',
  'date',
  'duration',
  'datetime',
  'k8sshortname',
  'k8slongname',
])
/** Not checked, but the types of generated clients follow them. */
const OF_NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double'])

/** Whether a format counts for API servers or generated clients. */
export function isKnownFormat(format: unknown): boolean {
  return typeof format !== 'string' || OF_NUMBERS.has(format) || CHECKED.has(format.replaceAll('-', ''))
}
