/**
 * Validates a body or a query against its schema and reports every mistake with its JSON Pointer (docs/reference/api.md#errors,
 * `details`).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { GatewayError, type ErrorCode } from '../errors/errors.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { type ApiRoute, type BodyMistake, bodyMistake } from './route.ts'
import type { ApiSettings } from './settings.ts'
import { NOT_BLANK } from './schemas/shapes.ts'
import { unknownMembers } from './unknown-members.ts'
import { PLATFORMS, type PlatformId } from '../scm/platform.ts'
import { appendPointer, lookupTable, misspelled, nameOfToken, nearest, spelledNames } from '../../engine/base.ts'

/** More than these are counted, not listed: a hostile body must not make a large answer. */
const LISTED_MISTAKES = 50

/** Highest precedence first: the code of the error when there are several mistakes. */
const GRAVITY: readonly ErrorCode[] = [
  'PREFLIGHT_MODE_REQUIRED',
  'OPERATION_REQUIRED',
  'UNSUPPORTED_ARTIFACT_TYPE',
  'DERIVATION_REQUIRES_BASE_HEAD',
  'INVALID_INPUT',
]

// These schemas are our own, compiled on first use; a foreign schema never comes here. `$id` of a served schema is an address,
// not a reference base.
const options = { allErrors: true, strict: false, verbose: true, messages: true } as const
const bodies = new Ajv2020(options)
const queries = new Ajv2020({ ...options, coerceTypes: true })
addFormats.default(bodies)
addFormats.default(queries)

const compiled = new WeakMap<TSchema, ValidateFunction>()

function validator(ajv: Ajv2020, schema: TSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile(schema)
  compiled.set(schema, made)
  return made
}

type CheckedRoute = Pick<
  ApiRoute,
  'body' | 'codes' | 'mistakes' | 'mistakesUnder' | 'mistakesUnread' | 'toleratesUnknown'
>

/**
 * Returns the JSON Pointers of members that are tolerated and not read.
 * @throws GatewayError with every mistake in `details`.
 */
export function checkBody(route: CheckedRoute, body: unknown, settings: ApiSettings): readonly string[] {
  if (route.body === undefined) return []
  const unknown = unknownMembers(route.body, body, route.toleratesUnknown === true)
  const check = validator(bodies, route.body)
  const violations = check(body) ? [] : informative(check.errors ?? []).map((error) => mistakeOf(error, route))
  const { mistakesUnder = '', mistakesUnread } = route
  const isFit =
    isOfKind(check.errors) &&
    violations.every(({ pointer }) => mistakesUnread?.test(pointer) || !isWithinPointer(pointer, mistakesUnder))
  const mistakes = isFit && isJsonObjectOrList(body) ? (route.mistakes?.(body, settings) ?? []) : []
  const strangers = namesByParent([...unknown.ignored, ...unknown.mistakes.map(({ pointer }) => pointer)])
  const all = [...[...violations, ...mistakes].map((one) => withGivenName(one, strangers)), ...unknown.mistakes]
  if (all.length > 0) throw bodyRefusal(all)
  return unknown.ignored
}

/** Names of members that are not known, by the pointer of the object that has them. */
function namesByParent(pointers: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const pointer of pointers) {
    const [parent, name] = parentAndName(pointer)
    names.set(parent, [...(names.get(parent) ?? []), name])
  }
  return names
}

function parentAndName(pointer: string): readonly [parent: string, name: string] {
  const end = pointer.lastIndexOf('/')
  return [pointer.slice(0, Math.max(0, end)), nameOfToken(pointer.slice(end + 1))]
}

/** A member that is missing beside one of a similar name: short names are too alike to be taken for each other otherwise. */
function withGivenName(mistake: BodyMistake, strangers: ReadonlyMap<string, readonly string[]>): BodyMistake {
  if (!mistake.message.startsWith(REQUIRED)) return mistake
  const [parent, missing] = parentAndName(mistake.pointer)
  const given = nearest(missing, strangers.get(parent) ?? [])
  return given === null ? mistake : { ...mistake, message: `${mistake.message}; did you mean it by "${given}"?` }
}

const REQUIRED = 'is required'

/** A list in place of an object has no members to check. */
function isOfKind(errors: ValidateFunction['errors']): boolean {
  return (errors ?? []).every(({ keyword, instancePath }) => keyword !== 'type' || instancePath !== '')
}

function isWithinPointer(pointer: string, parent: string): boolean {
  return pointer === parent || pointer.startsWith(`${parent}/`)
}

function isJsonObjectOrList(body: unknown): boolean {
  return typeof body === 'object' && body !== null
}

/** Query parameters as plain values; a repeated or invalid one is a mistake. */
export function checkQuery(schema: TSchema | undefined, search: URLSearchParams): unknown {
  const query: Record<string, unknown> = {}
  const known = isJsonObject(schema) ? schema['properties'] : undefined
  const names = isJsonObject(known) ? Object.keys(known) : []
  const mistakes: BodyMistake[] = []
  for (const name of new Set(search.keys())) {
    const values = search.getAll(name)
    if (!names.includes(name)) {
      mistakes.push(bodyMistake(name.slice(0, LONGEST_NAME), unknownParameter(name, names)))
      continue
    }
    if (values.length > 1) mistakes.push(bodyMistake(name, 'is given more than once'))
    Object.defineProperty(query, name, { value: values[0], enumerable: true, writable: true, configurable: true })
  }
  const check = schema === undefined ? null : validator(queries, schema)
  if (check !== null && !check(query)) {
    for (const error of informative(check.errors ?? []))
      mistakes.push(bodyMistake(error.instancePath.slice(1), textOfViolation(error)))
  }
  if (mistakes.length > 0) throw bodyRefusal(mistakes)
  return query
}

/** Longest name that is repeated to the client, UTF-16 code units. */
const LONGEST_NAME = 200

function unknownParameter(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not known; this path takes no query parameters'
  const meant = misspelled(name, spelledNames(known))
  return `is not known; ${meant === null ? `known here: ${known.join(', ')}` : `did you mean "${meant}"?`}`
}

/**
 * The violations that a caller can act on. A union reports one for each branch. For a nullable value, "is not null" does not
 * help; for a list with a fault, "is not an object" does not help.
 */
function informative(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  // A body may have as many mistakes as values, so no error is looked for among all the others.
  const unions = new Set(errors.flatMap(({ keyword, instancePath }) => (keyword === 'anyOf' ? [instancePath] : [])))
  const closer = new Set(
    errors.flatMap(({ keyword, instancePath }) =>
      keyword === 'type' || keyword === 'anyOf' ? [] : pointersAbove(instancePath),
    ),
  )
  const hasOther = errors.some((error) => error.keyword !== 'oneOf' && !isAlternative(error))
  const isNoise = ({ keyword, instancePath, params, schemaPath }: ErrorObject): boolean => {
    // Unknown members are reported by name.
    if (keyword === 'if' || keyword === 'additionalProperties') return true
    // Of members that may replace each other, the first is reported as missing.
    if (keyword === 'required' && /\/anyOf\/[1-9]\d*\/required$/.test(schemaPath)) return true
    // Once the mistakes inside an alternative are reported, it is clear which alternative was meant.
    if (keyword === 'oneOf') return hasOther
    if (isAlternative({ keyword, schemaPath })) return true
    if (!unions.has(instancePath)) return false
    if (keyword === 'anyOf') return true
    if (keyword !== 'type') return false
    return params['type'] === 'null' || (closer.has(instancePath) && schemaPath.includes('anyOf'))
  }
  const reported = new Set<string>()
  return withJoinedTypes(errors.filter((error) => !isNoise(error))).filter((error) => {
    const key = `${violatedPointer(error)}\0${textOfViolation(error)}`
    if (reported.has(key)) return false
    reported.add(key)
    return true
  })
}

/** The pointer itself, and those of all that its value is within. */
function pointersAbove(pointer: string): readonly string[] {
  const ends = [...pointer.matchAll(/\//g)].map(({ index }) => pointer.slice(0, index))
  return [...ends, pointer]
}

/** `{required: [name]}` as one of several: that exactly one of them is required is reported once. */
function isAlternative({ keyword, schemaPath }: Pick<ErrorObject, 'keyword' | 'schemaPath'>): boolean {
  return keyword === 'required' && /\/oneOf\/\d+\/required$/.test(schemaPath)
}

/** A value that may be a text or a number, and is neither, gets one sentence. */
function withJoinedTypes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const types = new Map<string, string[]>()
  for (const { keyword, instancePath, params } of errors)
    if (keyword === 'type') types.set(instancePath, [...(types.get(instancePath) ?? []), String(params['type'])])
  return errors.map((error) =>
    error.keyword === 'type'
      ? { ...error, params: { type: [...new Set(types.get(error.instancePath) ?? [])] } }
      : error,
  )
}

function bodyRefusal(mistakes: readonly BodyMistake[]): GatewayError {
  const code = GRAVITY.find((candidate) => mistakes.some((mistake) => mistake.code === candidate)) ?? 'INVALID_INPUT'
  const listed = mistakes.slice(0, LISTED_MISTAKES).map(({ pointer, message }) => ({ pointer, message }))
  const rest = mistakes.length - listed.length
  const details = rest > 0 ? [...listed, { pointer: '', message: `… and ${rest} more mistakes` }] : listed
  return new GatewayError(code, undefined, { details })
}

function mistakeOf(error: ErrorObject, { codes = [] }: Pick<ApiRoute, 'codes'>): BodyMistake {
  const pointer = violatedPointer(error)
  const known = codes.find((row) => row.keywords.includes(error.keyword) && row.pointer.test(pointer))
  return { code: known?.code ?? 'INVALID_INPUT', pointer, message: textOfViolation(error) }
}

/** Where the mistake is: a missing member is located where it belongs. */
function violatedPointer({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword !== 'required' || typeof params['missingProperty'] !== 'string') return instancePath
  return appendPointer(instancePath, params['missingProperty'])
}

type TextParams = Readonly<Record<string, unknown>>

const OF_KEYWORDS: Readonly<Record<string, (params: TextParams) => string>> = lookupTable({
  required: () => REQUIRED,
  enum: ({ allowedValues }) =>
    `must be one of ${Array.isArray(allowedValues) ? allowedValues.map(titled).join(', ') : ''}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} entries`),
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  maxProperties: ({ limit }) => `must have at most ${String(limit)} members`,
  minimum: ({ limit }) => `must be ${String(limit)} or more`,
  maximum: ({ limit }) => `must be ${String(limit)} or less`,
  oneOf: ({ schema }) => `must have exactly one of ${requiredNames(schema).join(', ')}`,
  type: ({ type }) => `must be ${Array.isArray(type) ? type.join(' or ') : String(type)}`,
  pattern: ({ pattern }) => OF_PATTERNS[String(pattern)] ?? `must match the pattern ${String(pattern)}`,
  format: ({ format }) => OF_FORMATS[String(format)] ?? `must be of the format ${String(format)}`,
})

/** The neutral name of a platform does not tell which one it is. */
function titled(value: unknown): string {
  const id = String(value)
  const platform = isPlatformId(id) ? PLATFORMS[id] : null
  return platform === null ? id : `${id} (${platform.title})`
}

function isPlatformId(id: string): id is PlatformId {
  return Object.hasOwn(PLATFORMS, id)
}

const OF_PATTERNS: Readonly<Record<string, string>> = lookupTable({
  '^[^\\u0000-\\u001f\\u007f]*$': 'must not hold control characters, such as line breaks',
  [NOT_BLANK]: 'must not be blank',
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

/** The members that each alternative of a `oneOf` requires. */
function requiredNames(alternatives: unknown): readonly string[] {
  if (!Array.isArray(alternatives)) return []
  return alternatives.flatMap((alternative: unknown) => {
    const names = isJsonObject(alternative) ? alternative['required'] : undefined
    return Array.isArray(names) ? names.map(String) : []
  })
}

export function textOfViolation({ keyword, params, message, schema }: ErrorObject): string {
  return OF_KEYWORDS[keyword]?.({ ...params, schema }) ?? message ?? 'is not valid'
}
