/** Schema violations from ajv → Problems with a JSON Pointer to the faulty member and a fix. */
import { lookupTable } from './lookup-table.ts'
import type { Problem, Result } from './result.ts'
import { pointerToken } from './json-pointer.ts'
import { nearest } from './suggestion.ts'

/** The part of an ajv error that is read here. */
export interface SchemaViolation {
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

/** Answer of a generated validator (docs/validators.ts). */
export type Checked<T> = Result<T, readonly SchemaViolation[]>

/** JSON Pointer of an object, with `*` for an index or a free name, → the members that it may have. */
export type KnownMembers = ReadonlyMap<string, readonly string[]>

/** @param known members of the object at the place */
type ViolationText = (params: Readonly<Record<string, unknown>>, known: readonly string[]) => string

/** Keyword → what is wrong with the value at the place. A keyword without a row uses ajv's message. */
const WORDINGS: Readonly<Record<string, ViolationText>> = lookupTable({
  additionalProperties: ({ additionalProperty }, known) => {
    const name = String(additionalProperty)
    const guess = nearest(name, known)
    return `the member ${JSON.stringify(name)} is not known${guess === null ? `; known here: ${known.join(', ')}` : `; did you mean "${guess}"?`}`
  },
  required: ({ missingProperty }) => `the member ${JSON.stringify(missingProperty)} is missing`,
  enum: ({ allowedValues }) =>
    `must be one of ${Array.isArray(allowedValues) ? allowedValues.join(', ') : String(allowedValues)}`,
  anyOf: () => 'has none of the forms that it may have: see its description in the schema',
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  type: ({ type }) => `must be of type ${String(type)}`,
  minItems: ({ limit }) => `must have at least ${limit === 1 ? 'one entry' : `${String(limit)} entries`}`,
  maxItems: ({ limit }) => `may have at most ${String(limit)} entries`,
  minLength: () => 'must not be empty',
  maxLength: ({ limit }) => `may have at most ${String(limit)} characters`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `may be at most ${String(limit)}`,
  pattern: ({ pattern }) => requiredForm(String(pattern)),
})

/** What a text has to look like, by the pattern of its schema. */
const FORMS: Readonly<Record<string, string>> = lookupTable({
  '^[a-z0-9][a-z0-9_.-]{0,62}$': 'be small letters, digits, _, . or -, beginning with a letter or digit, at most 63',
  '^[A-Z][A-Z0-9_]{2,63}$': 'be a code: capitals, digits and _, beginning with a letter, 3 to 64',
  '^https?://': 'be an address that begins with http:// or https://',
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$': 'be an instant in UTC: 2027-01-31T12:00:00Z',
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$':
    'be a day or an instant in UTC: 2027-01-31 or 2027-01-31T12:00:00Z',
  '^(?:[1-9]|1[0-9]|20) of [a-z0-9][a-z0-9_.-]{0,62}(?: or [a-z0-9][a-z0-9_.-]{0,62}){0,19}$':
    'be a number of people and their groups, such as "2 of payments or security"',
})

function requiredForm(pattern: string): string {
  return `must ${Object.hasOwn(FORMS, pattern) ? FORMS[pattern] : `match ${pattern}`}`
}

/**
 * For several alternatives at one place (`anyOf`) only the summary is reported. `code` is the code of every problem. Its
 * message does not name the place, which the pointer is.
 */
export function problemsOf(
  violations: readonly SchemaViolation[],
  code: string,
  members: KnownMembers,
): readonly Problem[] {
  return violations
    .filter(({ schemaPath }) => !/\/anyOf\/\d/.test(schemaPath))
    .map(({ instancePath, keyword, params, message }) => {
      const wording = Object.hasOwn(WORDINGS, keyword) ? WORDINGS[keyword] : undefined
      const unknownMember =
        keyword === 'additionalProperties' ? `/${pointerToken(String(params.additionalProperty))}` : ''
      return {
        code,
        message: wording?.(params, membersAt(instancePath, members)) ?? message ?? 'is not valid',
        pointer: instancePath + unknownMember,
      }
    })
}

function membersAt(pointer: string, members: KnownMembers): readonly string[] {
  const steps = pointer.split('/')
  const isAt = (place: string): boolean => {
    const wanted = place.split('/')
    return wanted.length === steps.length && wanted.every((step, index) => step === '*' || step === steps[index])
  }
  return [...members].flatMap(([place, names]) => (isAt(place) ? names : []))
}
