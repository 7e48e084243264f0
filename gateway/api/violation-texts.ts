/**
 * What is wrong with a member, as text, for each keyword and pattern in the schemas of the API. A test keeps both lists
 * complete.
 */
import type { ErrorObject } from 'ajv/dist/2020.js'
import { lookupTable } from '../../engine/base.ts'

type TextParams = Readonly<Record<string, unknown>>

const OF_KEYWORDS: Readonly<Record<string, (params: TextParams) => string>> = lookupTable({
  required: () => 'is required',
  enum: ({ allowedValues }) => `must be one of ${Array.isArray(allowedValues) ? allowedValues.join(', ') : ''}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} entries`),
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  maxProperties: ({ limit }) => `must have at most ${String(limit)} members`,
  minimum: ({ limit }) => `must be ${String(limit)} or more`,
  maximum: ({ limit }) => `must be ${String(limit)} or less`,
  oneOf: () => 'exactly one of the alternatives must be given',
  type: ({ type }) => `must be ${Array.isArray(type) ? type.join(' or ') : String(type)}`,
  pattern: ({ pattern }) => OF_PATTERNS[String(pattern)] ?? `must match the pattern ${String(pattern)}`,
  format: ({ format }) => OF_FORMATS[String(format)] ?? `must be of the format ${String(format)}`,
})

const OF_PATTERNS: Readonly<Record<string, string>> = lookupTable({
  '^[^\\u0000-\\u001f\\u007f]*$': 'must not hold control characters, such as line breaks',
  '\\S': 'must not be blank',
  '^[A-Za-z0-9_.:-]{1,200}$': 'must be an id: 1 to 200 of the characters A-Z a-z 0-9 _ . : -',
  '^sha256:[0-9a-f]{64}$': 'must be a digest: sha256: and 64 lowercase hex digits',
  '^[0-9a-f]{32}$': 'must be the id of a trace: 32 lowercase hex digits',
  '^[0-9]{1,15}$': 'must be a cursor as an earlier answer gave it: digits only',
  '^x-': 'must begin with x-',
  '^[a-z0-9][a-z0-9-]{0,31}$': 'must be the name of a provider: 1 to 32 of a-z 0-9 -, beginning with a letter or digit',
  '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$':
    'must be a name: at most 100 of the characters A-Z a-z 0-9 _ . : -, beginning with a letter or digit',
})

const OF_FORMATS: Readonly<Record<string, string>> = lookupTable({
  'date-time': 'must be a date and time of RFC 3339, such as 2026-01-31T12:00:00Z',
  email: 'must be a mail address, such as you@example.org',
})

export function textOfViolation({ keyword, params, message }: ErrorObject): string {
  return OF_KEYWORDS[keyword]?.(params) ?? message ?? 'is not valid'
}
