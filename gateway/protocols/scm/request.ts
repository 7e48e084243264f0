/**
 * The parts of a request to a platform's API, with one reading or none: parameters, and the files and branches that
 * they name.
 */
import { isUtf8 } from 'node:buffer'
import type { ScmRoute } from './settings.ts'
import type { Call } from '../../calls/call.ts'
import { fold, literalReadings, splitSegments } from '../../routing/path-reading.ts'
import { canonicalName, hasTooManyFields, MOST_FIELDS, queryOf, readNames } from '../../routing/query-names.ts'
import { readParts } from '../common/form-parts.ts'
import { isJsonType } from '../../network/json-type.ts'
import { mayBeForm } from '../common/method-override.ts'
import { UnreadableIntent, type FileWrite } from './intent.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'

export type Parameters = Readonly<Record<string, unknown>>
type NamedValue = readonly [name: string, value: unknown]

/** A field that some servers begin behind a semicolon (Rack 2 in queries, older Python). */
const HIDDEN_FIELD = /;\s*[\w.%[\]+-]+=/
/** Rack drops blanks before a name, and reads `[a]`, `a]` and `a` as one name. */
const PLAIN_NAME = /^(?!\s)[^\p{Cc}[\]]+(?<!\s)(?:\[[^\p{Cc}[\]]*\])*$/u
const FIELD_WITHIN = /[&;]\s*[\w.%[\]+-]+=/

/** The last segment says that a request is one of GraphQL; Rails takes a format behind it. */
export function isGraphqlPath(segments: readonly string[]): boolean {
  return literalReadings(splitSegments(segments).at(-1) ?? '').includes('graphql')
}

/** Members of query and body, by name. @throws UnreadableIntent where they contradict each other or have no single reading */
export function requestParameters(call: Call<ScmRoute>): Parameters {
  const parameters: Record<string, unknown> = Object.create(null)
  const add = (name: string, value: unknown): void => {
    if (!PLAIN_NAME.test(name))
      throw new UnreadableIntent(`Some servers read the name ${JSON.stringify(name)} as another one.`)
    if (Object.hasOwn(parameters, name) && parameters[name] !== value)
      throw new UnreadableIntent(`The request states "${name}" twice, and not the same.`)
    parameters[name] = value
  }
  for (const [name, value] of queryMembers(call)) add(name, value)
  for (const [name, value] of bodyMembers(call)) add(name, value)
  return parameters
}

/** @throws UnreadableIntent where some servers begin another parameter at a semicolon */
export function queryMembers({ upstreamPath }: Pick<Call, 'upstreamPath'>): readonly NamedValue[] {
  const query = queryOf(upstreamPath)
  const members = [...new URLSearchParams(query)]
  if (hidesField(query, members))
    throw new UnreadableIntent('Some servers begin another parameter at a ";" in the query: write it as %3B.')
  return members
}

/** A name behind a semicolon without a value is that of a parameter which some servers then read as absent. */
function hidesField(text: string, members: readonly NamedValue[]): boolean {
  if (!text.includes(';')) return false
  const names = new Set(members.map(([name]) => canonicalName(name.split(';', 1)[0] ?? '')))
  const hidden = text.split('&').flatMap((piece) => piece.split(';').slice(1).flatMap(readNames))
  return HIDDEN_FIELD.test(text) || hidden.some((name) => names.has(name))
}

function isForm(type: string | undefined): type is string {
  return /^application\/x-www-form-urlencoded/i.test(type ?? '') || isMultipart(type ?? '')
}

function isMultipart(type: string): boolean {
  return /^multipart\/form-data/i.test(type)
}

/** True for a form with a member that some frameworks take for the method, and for a form that cannot be read. */
export function overridesMethodInBody(call: Call<ScmRoute>): boolean {
  const { method, headers, body } = call
  if (method !== 'POST' || body === null || !mayBeForm(headers['content-type'])) return false
  try {
    const members = bodyMembers(call)
    return isForm(headers['content-type']) && members.some(([name]) => canonicalName(name) === '_method')
  } catch (error) {
    if (error instanceof UnreadableIntent) return true
    throw error
  }
}

/** Members of the body alone, in its order; a form may state a name more than once. */
export function bodyMembers({ body, headers, route }: Call<ScmRoute>): readonly NamedValue[] {
  if (body === null || body.length === 0) return []
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new UnreadableIntent('The body is encoded, so it cannot be judged. Send it without Content-Encoding.')
  const type = headers['content-type'] ?? ''
  if (!isUtf8Type(type))
    throw new UnreadableIntent('The body is in another charset than UTF-8, so it cannot be judged.')
  if (isForm(type)) return formMembers(body, type)
  // It drops a body of a type that it has no reader for (Grape), and runs the request by what is left.
  if (route.protocol === 'gitlab' && type !== '' && !isJsonType(type))
    throw new UnreadableIntent('GitLab does not read a body of this type: state application/json.')
  // To Rack, a body without a type is a form, and a text in the JSON may be a field of it.
  if (type === '' && FIELD_WITHIN.test(body.toString('latin1')))
    throw unreadableForm('it states no type, and is JSON to some servers and a form to others')
  const json = readStrictJson(body)
  if (!json.ok) throw new UnreadableIntent(`The body has no single reading: ${json.message}`)
  if (!isJsonObject(json.value)) throw new UnreadableIntent('The body is not a JSON object.')
  return Object.entries(json.value)
}

function formMembers(body: Buffer, type: string): readonly NamedValue[] {
  const members = isMultipart(type) ? partMembers(body, type) : fieldMembers(body)
  // Servers that read a body by its first character take such a form for the JSON that it is.
  if (/^\s*[[{]/.test(members[0]?.[0] ?? '')) throw unreadableForm('a JSON document is not a form')
  return members
}

function unreadableForm(why: string): UnreadableIntent {
  return new UnreadableIntent(`The form in the body cannot be read in one way, so the call cannot be judged: ${why}.`)
}

function fieldMembers(body: Buffer): readonly NamedValue[] {
  const fields = isUtf8(body) ? body.toString('utf8') : null
  if (fields === null) throw unreadableForm('it is not UTF-8')
  if (hasTooManyFields(fields)) throw unreadableForm(`it has more than ${MOST_FIELDS} fields`)
  const members = [...new URLSearchParams(fields)]
  if (hidesField(fields, members)) throw unreadableForm('some servers begin a field at a ";" in it; write it as %3B')
  return members
}

function partMembers(body: Buffer, type: string): readonly NamedValue[] {
  const parts = readParts(body, type)
  if (!parts.ok) throw unreadableForm(parts.why)
  return parts.value.map(({ head, bytes }) => {
    const [name, isFile] = partHead(head)
    if (isFile) return [name, Buffer.from(bytes)]
    if (!isUtf8(bytes)) throw unreadableForm('a text in it is not UTF-8')
    return [name, bytes.toString('utf8')]
  })
}

/** Fields that clients write into the head of a part, and their values that change nothing about its bytes. */
const PART_FIELDS = [
  /^content-type:[^\r\n]*$/i,
  /^content-length:[ \t]*[0-9]+[ \t]*$/i,
  /^content-transfer-encoding:[ \t]*(?:7bit|8bit|binary)[ \t]*$/i,
]
const DISPOSITION =
  /^content-disposition:[ \t]*form-data;[ \t]*name=(?:"([^"\\\r\n]+)"|([\w.[\]/-]+))((?:;[ \t]*filename\*?=(?:"[^"\\\r\n]*"|[^";\\\s]+))*)[ \t]*$/i
/** Only some servers take these for the signs themselves. */
const ESCAPES = /%(?:22|0d|0a)/i

/** Name of the part, and whether it is a file. */
function partHead(head: readonly string[]): readonly [name: string, isFile: boolean] {
  const [disposition = '', ...others] = [...head].sort((a, b) => Number(isDisposition(b)) - Number(isDisposition(a)))
  const [, quoted, plain = '', filename = ''] = DISPOSITION.exec(disposition) ?? []
  const bytes = Buffer.from(quoted ?? plain, 'latin1')
  const types = others.filter((line) => /^content-type:/i.test(line))
  const isKnown = others.every((line) => PART_FIELDS.some((field) => field.test(line))) && types.length <= 1
  if (bytes.length === 0 || !isUtf8(bytes) || ESCAPES.test(bytes.toString('latin1')) || !isKnown)
    throw unreadableForm('the head of a part is not written in the common way')
  const isFile = filename !== ''
  if (!isFile && !types.every(isUtf8Type)) throw unreadableForm('a text in it is in another charset than UTF-8')
  const name = bytes.toString('utf8')
  if (name === '_charset_') throw unreadableForm('it names the charset of its texts')
  return [name, isFile]
}

function isDisposition(line: string): boolean {
  return /^content-disposition:/i.test(line)
}

/** @throws UnreadableIntent when the text is no number of a request */
export function requestNumber(number: string | undefined, kind: 'pull' | 'merge'): string {
  if (number !== undefined && /^[1-9][0-9]{0,9}$/.test(number)) return number
  throw new UnreadableIntent(`"${number}" is not the number of a ${kind} request.`)
}

/** @throws UnreadableIntent when the member is not a text */
export function textOfParameter(parameters: Parameters, name: string): string | null {
  const value = parameters[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') return value
  throw new UnreadableIntent(`"${name}" is not a text.`)
}

export function requiredText(parameters: Parameters, name: string): string {
  const value = textOfParameter(parameters, name)
  if (value === null) throw new UnreadableIntent(`"${name}" is missing.`)
  return value
}

/** Members that say who calls. */
const CREDENTIALS: ReadonlySet<string> = new Set(['private_token', 'job_token', 'access_token'])

/** True if a request states only these members, in addition to credentials. */
export function statesOnly(parameters: Parameters, names: ReadonlySet<string>): boolean {
  return Object.keys(parameters).every((name) => names.has(name) || CREDENTIALS.has(name))
}

/** Only as every server reads it. */
export function isTrue(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  return value === true || value === 'true'
}

/** True unless every server reads it as no: frameworks take `on`, `t` and `yes` for true as well. */
export function maySet(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  if (typeof value === 'string') return !/^(?:|0|false|no|off|f|n)$/i.test(value)
  return value !== undefined && value !== null && value !== false && value !== 0
}

/** A branch without `refs/heads/`, in letters of any case; null for another ref. */
export function branchOf(ref: string): string | null {
  const [root = '', kind = ''] = ref.split('/').map(fold)
  if (root !== 'refs') return ref
  return kind === 'heads' ? ref.split('/').slice(2).join('/') : null
}

/** A tag without `refs/tags/`, in letters of any case; null for another ref. */
export function tagOf(ref: string): string | null {
  const [root = '', kind = ''] = ref.split('/').map(fold)
  return root === 'refs' && kind === 'tags' ? ref.split('/').slice(2).join('/') : null
}

/** The content of a write, as both platforms encode it. @throws UnreadableIntent for base64 that decoders read differently (RFC 4648 §3) */
export function decodedContent(content: string, encoding: string | null): Buffer {
  if (encoding !== 'base64') return Buffer.from(content, 'utf8')
  // Line breaks are what encoders put there; every other stray letter is skipped, refused or taken for data.
  const plain = content.replaceAll(/[\t\n\r ]+/g, '')
  const bytes = Buffer.from(plain, 'base64')
  if (bytes.toString('base64') !== plain)
    throw new UnreadableIntent('the base64 of a content is not plain: standard letters, padded, nothing else.')
  return bytes
}

export function writtenFile(path: string, content: Buffer): FileWrite {
  return { kind: 'content', path: plainPath(path), content }
}

export function removed(path: string): FileWrite {
  return { kind: 'removal', path: plainPath(path) }
}

/** @param content null: that of the file */
export function movedFile(from: string, path: string, content: Buffer | null): FileWrite {
  return { kind: 'move', from: plainPath(from), path: plainPath(path), content }
}

/** Platforms clean a path before they write to it: `./a`, `a//b` and `x/../a` are other files. @throws UnreadableIntent */
function plainPath(path: string): string {
  const plain = path.replace(/^\/+/, '')
  if (plain.split('/').some((name) => name === '' || name === '.' || name === '..'))
    throw new UnreadableIntent(`"${path}" is not the plain path of a file: write it without empty names, "." and "..".`)
  return plain
}
