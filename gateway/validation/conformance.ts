/** Holds one request or answer against a contract: the operation that it belongs to, its parameters, its media type, its body. */
import type { ErrorObject } from 'ajv/dist/2020.js'
import { CHECKED_JSON, readStrictJson } from '../json/strict-json.ts'
import { isJsonType } from '../network/json-type.ts'
import { templateOf } from './path-templates.ts'
import type { CheckedContract, ContractPart, MessageSide } from './contract.ts'
import type { AnswerMessage, Conformance, HttpMessage, RequestMessage, Violation } from './message.ts'
import { cookiesOf, operationParameters, pathValues, parameterValue, type RequestValues } from './parameters.ts'

interface FoundBody {
  readonly name: string
  readonly operation: ContractPart
  readonly item: ContractPart
  readonly path: ReadonlyMap<string, string>
}

/** Throws when a schema of the contract cannot be compiled: then nothing is known about the message. */
export function conformanceOf(message: HttpMessage, contract: CheckedContract): Conformance {
  const [found, ...others] = matchingOperations(message, contract)
  // Which of several it was, only the upstream knows.
  if (message.side === 'answer' && others.length > 0)
    return { result: 'unchecked', operation: null, note: 'several operations may be meant by the path' }
  if (found === undefined) {
    if (message.side === 'answer' || message.method === 'OPTIONS')
      return { result: 'unchecked', operation: null, note: 'the contract describes no such operation' }
    const violations = [{ where: 'path', message: 'the contract describes no such operation' }]
    return { result: 'violates', operation: null, violations }
  }
  const { violations, notes } =
    message.side === 'request' ? ofRequest(message, found, contract) : ofAnswer(message, found, contract)
  if (violations.length > 0) return { result: 'violates', operation: found.name, violations }
  if (message.side === 'request')
    for (const other of others) {
      const { violations: also } = ofRequest(message, other, contract)
      if (also.length > 0) return { result: 'violates', operation: other.name, violations: also }
    }
  return { result: notes.length > 0 ? 'unchecked' : 'conforms', operation: found.name, note: notes[0] ?? null }
}

/** Each that some router would run; none where the contract describes none as the path is written. */
function matchingOperations({ method, target }: HttpMessage, contract: CheckedContract): readonly FoundBody[] {
  const [path = '/'] = target.split('?', 1)
  const own = contract.matcher.match(method, path)
  const matches = own?.isDescribed !== true && method === 'HEAD' ? contract.matcher.match('GET', path) : own
  if (matches?.isDescribed !== true) return []
  return matches.operations.flatMap((match) => {
    const parts = contract.operation(match.method, match.path)
    if (parts === null) return []
    const values = pathValues(templateOf(match.path), match.below)
    return [{ name: `${match.method} ${match.path}`, ...parts, path: values ?? new Map() }]
  })
}

interface CheckedMessage {
  readonly violations: readonly Violation[]
  /** What was there and could not be read. */
  readonly notes: readonly string[]
}

function ofRequest(
  message: RequestMessage,
  { operation, item, path }: FoundBody,
  contract: CheckedContract,
): CheckedMessage {
  const query = new URLSearchParams(message.target.split('?').slice(1).join('?'))
  const values = { path, query, headers: message.headers, cookies: cookiesOf(message.headers['cookie']) }
  const parts = [checkParameters(values, { operation, item, contract }), ofRequestBody(message, operation, contract)]
  return { violations: parts.flatMap(({ violations }) => violations), notes: parts.flatMap(({ notes }) => notes) }
}

function checkParameters(
  values: RequestValues,
  { operation, item, contract }: Pick<FoundBody, 'operation' | 'item'> & { readonly contract: CheckedContract },
): CheckedMessage {
  const violations: Violation[] = []
  const notes: string[] = []
  for (const parameter of operationParameters(contract, item, operation)) {
    const { place, name, isRequired, schemaAt } = parameter
    const where = `${place}.${name}`
    const { given, isRead } = parameterValue(parameter, values)
    if (!isRead) notes.push(`${where} is written in a way that is not read`)
    else if (given === undefined) {
      if (isRequired) violations.push({ where, message: 'is required' })
    } else if (schemaAt !== null)
      violations.push(...faults(given, where, contract.validator(schemaAt, 'request', true)))
  }
  return { violations, notes }
}

/** OpenAPI 3 `requestBody`, Swagger 2.0 a parameter in the body. */
function ofRequestBody(message: RequestMessage, operation: ContractPart, contract: CheckedContract): CheckedMessage {
  const described = contract.member(operation, 'requestBody')
  const old = contract.items(operation, 'parameters').find(({ value }) => value['in'] === 'body') ?? null
  const isRequired = (described ?? old)?.value['required'] === true
  if (!message.hasBody) return isRequired ? one('body', 'is required') : NOTHING
  if (described !== null) return ofContent(message, described, 'request', contract)
  if (old === null) return NOTHING
  const schema = contract.member(old, 'schema')
  return schema === null || !isJsonType(message.headers['content-type'])
    ? NOTHING
    : ofJson(message.body, schema.at, 'request', contract)
}

function ofAnswer(message: AnswerMessage, { operation }: FoundBody, contract: CheckedContract): CheckedMessage {
  const { status, body, headers, method } = message
  const responses = contract.member(operation, 'responses')
  if (responses === null) return NOTHING
  const names = [String(status), `${String(status)[0]}XX`, `${String(status)[0]}xx`, 'default']
  const described = names.map((name) => contract.member(responses, name)).find((part) => part !== null) ?? null
  if (described === null) return one('status', `${status} is none of the answers that the contract describes`)
  if (method === 'HEAD' || status === 204 || status === 304) return NOTHING
  const schema = contract.member(described, 'schema')
  if (schema !== null && isJsonType(headers['content-type'])) return ofJson(body, schema.at, 'answer', contract)
  // An answer whose description names no content says nothing of its body.
  return contract.member(described, 'content') === null ? NOTHING : ofContent(message, described, 'answer', contract)
}

function ofContent(
  { body, headers }: Pick<RequestMessage, 'body' | 'headers'>,
  described: ContractPart,
  side: MessageSide,
  contract: CheckedContract,
): CheckedMessage {
  const content = contract.member(described, 'content')
  if (content === null || Object.keys(content.value).length === 0) return NOTHING
  const type = mediaTypeIn(headers['content-type'])
  if (type === '' && body?.length === 0) return one('body', 'is missing')
  const key = Object.keys(content.value)
    .filter((range) => isWithin(type, mediaTypeIn(range)))
    .toSorted((a, b) => wildcards(a) - wildcards(b))[0]
  if (key === undefined)
    return one('content-type', `${type === '' ? 'none' : type} is none of ${Object.keys(content.value).join(', ')}`)
  const schema = contract.member(content, key, 'schema')
  if (schema === null) return NOTHING
  return isJsonType(type)
    ? ofJson(body, schema.at, side, contract)
    : { violations: [], notes: [`bodies of ${type} are not read`] }
}

function wildcards(range: string): number {
  return range.split('*').length
}

function isWithin(type: string, range: string): boolean {
  if (range === '*/*' || range === type) return true
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1))
}

function mediaTypeIn(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function ofJson(
  body: Uint8Array | null,
  schemaAt: string,
  side: MessageSide,
  contract: CheckedContract,
): CheckedMessage {
  if (body === null) return { violations: [], notes: ['the body was not read'] }
  const json = readStrictJson(Buffer.from(body), CHECKED_JSON)
  if (!json.ok) return one('body', json.message)
  return { violations: faults(json.value, 'body', contract.validator(schemaAt, side, false)), notes: [] }
}

function faults(value: unknown, where: string, check: ReturnType<CheckedContract['validator']>): readonly Violation[] {
  if (check({ value })) return []
  return (check.errors ?? []).slice(0, MAX_LISTED).map((error) => violationOfError(error, where))
}

const MAX_LISTED = 10

/** In the words of the schema; the value itself is the caller's, and stays out of answers and logs. */
function violationOfError(
  { instancePath, message = 'does not conform', params }: ErrorObject,
  where: string,
): Violation {
  const pointer = instancePath.replace(/^\/value/, '')
  const allowed: unknown = params['allowedValues']
  const listed = Array.isArray(allowed) ? `: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`.slice(0, 200) : ''
  return { where: pointer === '' ? where : `${where}#${pointer}`, message: `${message}${listed}` }
}

const NOTHING: CheckedMessage = { violations: [], notes: [] }

function one(where: string, message: string): CheckedMessage {
  return { violations: [{ where, message }], notes: [] }
}
