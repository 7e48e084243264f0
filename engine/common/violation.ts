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
 * The alternatives of one place (`anyOf`) give one problem. `code` is the code of every problem. Its message does not name
 * the place, which the pointer is.
 */
export function problemsOf(
  violations: readonly SchemaViolation[],
  code: string,
  members: KnownMembers,
): readonly Problem[] {
  return violations
    .filter(({ schemaPath }) => !IN_ALTERNATIVE.test(schemaPath))
    .map((violation) => {
      const { instancePath, keyword, params } = violation
      const unknownMember =
        keyword === 'additionalProperties' ? `/${pointerToken(String(params.additionalProperty))}` : ''
      const message =
        keyword === 'anyOf'
          ? textOfAlternatives(violations.filter((one) => isAlternativeOf(one, violation)))
          : textOf(violation, membersAt(instancePath, members))
      return { code, message, pointer: instancePath + unknownMember }
    })
}

const IN_ALTERNATIVE = /\/anyOf\/\d/

/** Of the same value: mistakes deeper in it belong to one of the alternatives only. */
function isAlternativeOf(one: SchemaViolation, { schemaPath, instancePath }: SchemaViolation): boolean {
  return one.instancePath === instancePath && one.schemaPath.startsWith(`${schemaPath}/`)
}

function textOf({ keyword, params, message }: SchemaViolation, known: readonly string[] = []): string {
  const wording = Object.hasOwn(WORDINGS, keyword) ? WORDINGS[keyword] : undefined
  return wording?.(params, known) ?? message ?? 'is not valid'
}

/** A value of the right type is meant to be the alternative of its type. */
function textOfAlternatives(violations: readonly SchemaViolation[]): string {
  const missing = violations.filter(({ keyword }) => keyword === 'required')
  if (missing.length > 0)
    return `the member ${missing.map(({ params }) => JSON.stringify(params.missingProperty)).join(' or ')} is missing`
  const ofItsType = violations.find(({ keyword }) => keyword !== 'type')
  if (ofItsType !== undefined) return textOf(ofItsType)
  return `must be of type ${violations.map(({ params }) => String(params.type)).join(' or ')}`
}

function membersAt(pointer: string, members: KnownMembers): readonly string[] {
  const steps = pointer.split('/')
  const isAt = (place: string): boolean => {
    const wanted = place.split('/')
    return wanted.length === steps.length && wanted.every((step, index) => step === '*' || step === steps[index])
  }
  return [...members].flatMap(([place, names]) => (isAt(place) ? names : []))
}
