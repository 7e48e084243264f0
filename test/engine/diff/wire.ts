/**
 * What the callers of an OpenAPI contract send and receive, written without the engine. It has the calls that a contract
 * describes, whether a server refuses one, and which answers a client cannot read.
 */
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'
import { members, textOf, textsOf, type Contract, type Operation, type Parameter } from './wire-contract.ts'

/** Pairs of a name and a text, as they stand in a query, a path or the fields of a form. */
type Pairs = readonly (readonly [name: string, text: string])[]

interface Call {
  readonly method: string
  readonly path: string
  readonly server: string | null
  readonly given: ReadonlyMap<string, Pairs>
  readonly body: {
    readonly media: string
    readonly value: unknown
    readonly fields: ReadonlyMap<string, string> | null
  } | null
  readonly credentials: readonly string[] | null
}

const DEFAULT_STYLES: Readonly<Record<string, string>> = {
  query: 'form',
  cookie: 'form',
  path: 'simple',
  header: 'simple',
}
const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|', label: '.' }

interface Writing {
  readonly name: string
  readonly place: string
  readonly value: JsonRecord
}

/** How a value is written (RFC 6570, OpenAPI 3.1 style values). Null: it cannot be. */
function written({ name, place, value: stated }: Writing, value: unknown): Pairs | null {
  if (members(stated['content']).length > 0) return [[name, JSON.stringify(value)]]
  const style = textOf(stated['style'], DEFAULT_STYLES[place] ?? 'form')
  const isExploded = typeof stated['explode'] === 'boolean' ? stated['explode'] : style === 'form'
  const texts = Array.isArray(value)
    ? value.map((item: unknown) => String(item))
    : isRecord(value)
      ? Object.entries(value).flatMap(([key, item]) =>
          isExploded && style !== 'deepObject' ? `${key}=${String(item)}` : [key, String(item)],
        )
      : [String(value)]
  if (value === null || texts.some((text) => text.includes('[object')) || (texts.length === 0 && place !== 'query'))
    return null
  if (style === 'deepObject') {
    return isRecord(value) ? Object.entries(value).map(([key, item]) => [`${name}[${key}]`, String(item)]) : null
  }
  if (style === 'matrix') {
    if (isRecord(value) && isExploded) return [[name, texts.map((text) => `;${text}`).join('')]]
    return [[name, isExploded ? texts.map((text) => `;${name}=${text}`).join('') : `;${name}=${texts.join(',')}`]]
  }
  if (style === 'label')
    return [[name, texts.map((text, at) => (at === 0 || isExploded ? `.${text}` : `,${text}`)).join('')]]
  if (style === 'simple') return [[name, texts.join(',')]]
  if (!isExploded || typeof value !== 'object') return [[name, texts.join(SEPARATORS[style] ?? ',')]]
  return isRecord(value)
    ? Object.entries(value).map(([key, item]) => [key, String(item)])
    : texts.map((text) => [name, text])
}

function schemaOf(value: JsonRecord): unknown {
  const [content] = members(value['content'])
  return content === undefined ? value['schema'] : isRecord(content[1]) ? content[1]['schema'] : undefined
}

/** Each way to write a parameter, once. */
function writings(writing: Writing, contract: Contract): readonly Pairs[] {
  const admitted = contract.admitted(schemaOf(writing.value)) ?? []
  const all = new Map<string, Pairs>()
  const add = (pairs: Pairs): void => void all.set(JSON.stringify(pairs), pairs)
  for (const value of admitted) {
    const pairs = written(writing, value)
    if (pairs !== null) add(pairs)
  }
  if (writing.value['allowEmptyValue'] === true) add([[writing.name, '']])
  return [...all.values()]
}

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'
/** Media types of which bodies are sent: ranges stand for these. */
const SENT = ['application/json', 'application/vnd.a+json', 'text/csv', FORM, MULTIPART]

function isOf(media: string, range: string): boolean {
  const [name, other] = [media, range].map((one) => one.toLowerCase().replaceAll(' ', ''))
  return (
    other === '*/*' ||
    name === other ||
    (other?.endsWith('/*') === true && name?.startsWith(other.slice(0, -1)) === true)
  )
}

/** The most specific entry for a media type. */
function entryFor(content: unknown, media: string): JsonRecord | null {
  const [best] = members(content)
    .filter(([range]) => isOf(media, range))
    .toSorted(([a], [b]) => b.replaceAll('*', '').length - a.replaceAll('*', '').length)
  return best === undefined ? null : isRecord(best[1]) ? best[1] : {}
}

/** The fields of a form, written by their encodings. Null: it is no form, or cannot be written. */
function fieldsOf(media: string, entry: JsonRecord, value: unknown): ReadonlyMap<string, string> | null {
  if ((media !== FORM && media !== MULTIPART) || !isRecord(value)) return null
  const encoding = isRecord(entry['encoding']) ? entry['encoding'] : {}
  const fields = new Map<string, string>()
  for (const [name, item] of Object.entries(value)) {
    const stated = encoding[name]
    const own = isRecord(stated) ? stated : {}
    const isStyled = ['style', 'explode', 'allowReserved'].some((member) => own[member] !== undefined)
    if (media === FORM || isStyled)
      fields.set(name, JSON.stringify(written({ name, place: 'query', value: own }, item)))
    else
      fields.set(
        name,
        `${textOf(own['contentType'], typeof item === 'object' ? 'application/json' : 'text/plain')} ${JSON.stringify(item)}`,
      )
  }
  return fields
}

function bodies({ value, contract }: Operation): readonly Call['body'][] {
  const body = value['requestBody']
  if (body === undefined) return [null]
  const { content, required } = contract.at(body)
  const sent = SENT.flatMap((media): readonly Call['body'][] => {
    const entry = entryFor(content, media)
    if (entry === null) return []
    const admitted = contract.admitted(entry['schema']) ?? []
    return admitted.map((one) => ({ media, value: one, fields: fieldsOf(media, entry, one) }))
  })
  return required === true ? sent : [null, ...sent]
}

function addresses(server: JsonRecord): readonly string[] {
  let urls = [textOf(server['url'], '')]
  for (const [name, variable] of members(server['variables'])) {
    const stated = isRecord(variable) ? variable : {}
    const values = Array.isArray(stated['enum']) ? textsOf(stated['enum']) : [textOf(stated['default'], '')]
    urls = urls.flatMap((url) => values.map((value) => url.replaceAll(`{${name}}`, value)))
  }
  return urls
}

function pathOf(operation: Operation, given: ReadonlyMap<string, Pairs>): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given.get(`path ${name}`)?.[0]?.[1] ?? '')
}

/** The plainest call of an operation, and one for each thing that a caller may choose otherwise. */
export function* callsOf(operation: Operation): Generator<Call> {
  const { method, parameters, servers, security, contract } = operation
  const texts = new Map(parameters.map((one) => [one.key, writings(one, contract)]))
  const least = new Map(
    parameters.flatMap(({ key, isRequired }) => {
      const [first] = texts.get(key) ?? []
      return isRequired && first !== undefined ? [[key, first] as const] : []
    }),
  )
  const [body] = bodies(operation)
  // Nobody can call an operation that needs what has no value.
  if (body === undefined || parameters.some(({ key, isRequired }) => isRequired && !least.has(key))) return
  const held = security.map((one) => contract.credentials(one))
  const [server = null] = servers.flatMap((one) => addresses(one))
  const plain = { method, path: pathOf(operation, least), server, given: least, body, credentials: held[0] ?? null }
  yield plain
  for (const [key, all] of texts)
    for (const one of all) {
      const given = new Map(least).set(key, one)
      yield { ...plain, given, path: pathOf(operation, given) }
    }
  for (const other of bodies(operation)) yield { ...plain, body: other }
  for (const credentials of held) yield { ...plain, credentials }
  for (const url of servers.flatMap((one) => addresses(one))) yield { ...plain, server: url }
}

/** A variable without listed values takes any. */
function isAt(url: string, server: JsonRecord): boolean {
  if (addresses(server).includes(url)) return true
  const free = members(server['variables']).filter(([, one]) => isRecord(one) && !Array.isArray(one['enum']))
  const open = free.reduce((text, [name]) => text.replaceAll(`{${name}}`, '*'), textOf(server['url'], ''))
  return addresses({ ...server, url: open }).some((one) => {
    const [head = '', ...rest] = one.split('*')
    return rest.length > 0 && url.startsWith(head) && url.endsWith(rest.at(-1) ?? '')
  })
}

function fixedSegments({ path }: Operation): number {
  return path.split('/').filter((part) => !part.startsWith('{')).length
}

/** The operation that a call reaches: fixed segments before variables (OpenAPI 3.1.0 §4.8.8.2). Undefined: none. */
export function reached(contract: Contract, { method, path }: Pick<Call, 'method' | 'path'>): Operation | undefined {
  const segments = path.split('/')
  const takes = ({ path: template }: Operation): boolean => {
    const parts = template.split('/')
    return parts.length === segments.length && parts.every((part, at) => part.startsWith('{') || part === segments[at])
  }
  const all = contract.operations().filter(takes)
  const most = Math.max(...all.map(fixedSegments))
  return all.find((one) => fixedSegments(one) === most && one.method === method)
}

/** Why a server refuses a call that reaches the operation; null: it serves it. Undescribed parameters are ignored. */
export function refusal(operation: Operation, call: Call): string | null {
  const { contract, path, servers, security, parameters } = operation
  if (call.server !== null && !servers.some((one) => isAt(call.server ?? '', one))) return `not at ${call.server}`
  const segments = call.path.split('/')
  const given = new Map(call.given)
  for (const [at, part] of path.split('/').entries())
    if (part.startsWith('{')) given.set(`path ${part.slice(1, -1)}`, [[part.slice(1, -1), segments[at] ?? '']])
  for (const one of parameters) {
    const pairs = given.get(one.key)
    if (pairs === undefined && one.isRequired) return `${one.key} is missing`
    if (pairs !== undefined && !isRead(one, pairs, contract)) return `${one.key} is not read: ${JSON.stringify(pairs)}`
  }
  const held = call.credentials ?? []
  const isEnough =
    security.length === 0 || security.some((one) => contract.credentials(one).every((each) => held.includes(each)))
  return isEnough ? bodyRefusal(operation, call) : 'the credentials do not suffice'
}

/** Whether some value of the schema is written so. The names of header fields are in any letter case. */
function isRead(parameter: Parameter, pairs: Pairs, contract: Contract): boolean {
  const texts = (list: Pairs): string =>
    JSON.stringify(list.map(([name, text]) => [parameter.place === 'path' ? '' : name.toLowerCase(), text]))
  return (
    contract.admitted(schemaOf(parameter.value)) === null ||
    writings(parameter, contract).some((one) => texts(one) === texts(pairs))
  )
}

function bodyRefusal({ value, contract }: Operation, { body }: Call): string | null {
  if (value['requestBody'] === undefined) return null
  const { content, required } = contract.at(value['requestBody'])
  if (body === null) return required === true ? 'the body is missing' : null
  const entry = entryFor(content, body.media)
  if (entry === null) return `no body of ${body.media}`
  const admitted = contract.admitted(entry['schema'])
  if (admitted === null) return null
  if (body.fields === null)
    return admitted.includes(body.value) ? null : `${body.media} refuses ${JSON.stringify(body.value)}`
  const sent = [...body.fields]
  const isSame = (one: unknown): boolean => {
    const fields = fieldsOf(body.media, entry, one)
    return fields?.size === sent.length && sent.every(([name, text]) => fields.get(name) === text)
  }
  return admitted.some(isSame) ? null : `${body.media} does not read ${JSON.stringify(sent)}`
}

/** The description of a status: its own, that of its range, or the default for whatever else may be answered. */
function answerFor({ value, contract }: Operation, status: string, isDefaulted: boolean): JsonRecord | null {
  const responses = isRecord(value['responses']) ? value['responses'] : {}
  const own = responses[status] ?? responses[`${status[0] ?? ''}XX`]
  // Beside a listed success the default is for errors.
  const isForErrors = status.startsWith('2') && Object.keys(responses).some((one) => one.startsWith('2'))
  const found = own ?? (isDefaulted && !isForErrors ? responses['default'] : undefined)
  return found === undefined ? null : contract.at(found)
}

/** An answer of the head that a client of the base cannot read; null: there is none. */
export function unreadable(base: Operation, head: Operation): string | null {
  for (const status of ['200', '201', '404', '500', 'default']) {
    const [before, after] = [answerFor(base, status, true), answerFor(head, status, status === 'default')]
    if (before === null || after === null) continue
    const why = headersFault(base, head, before, after) ?? contentFault(base, head, before, after)
    if (why !== null) return `${status}: ${why}`
  }
  return null
}

function headersFault(base: Operation, head: Operation, before: JsonRecord, after: JsonRecord): string | null {
  const sent = new Map(
    members(after['headers']).map(([name, header]) => [name.toLowerCase(), head.contract.at(header)]),
  )
  for (const [name, reference] of members(before['headers'])) {
    const [known, now] = [base.contract.at(reference), sent.get(name.toLowerCase())]
    if (known['required'] === true && now?.['required'] !== true) return `may lack ${name}`
    if (now === undefined) continue
    const parameter = { key: name, name, place: 'header', isRequired: false, value: known }
    const pairs = writings({ name, place: 'header', value: now }, head.contract).find(
      (one) => !isRead(parameter, one, base.contract),
    )
    if (pairs !== undefined) return `${name} is not read: ${JSON.stringify(pairs)}`
  }
  return null
}

function contentFault(base: Operation, head: Operation, before: JsonRecord, after: JsonRecord): string | null {
  const known = members(before['content'])
  if (known.length === 0) return null
  if (members(after['content']).length === 0) return 'without a body'
  const all = SENT.flatMap((media) => {
    const entry = entryFor(after['content'], media)
    return entry === null ? [] : [{ media, entry, old: entryFor(before['content'], media) }]
  })
  // Readers ask for a type that they know, where there is one.
  if (all.length > 0 && all.every(({ old }) => old === null)) return 'a body of other types'
  for (const { media, entry, old } of all) {
    if (old === null) continue
    const admitted = base.contract.admitted(old['schema'])
    const fault = head.contract.admitted(entry['schema'])?.find((value) => admitted?.includes(value) === false)
    if (fault !== undefined) return `${media} is ${JSON.stringify(fault)}`
  }
  return null
}
