/**
 * The parts of a request to a platform's API, with one reading or none: parameters, and the files and branches that
 * they name.
 */
import type { ScmRoute } from './settings.ts'
import type { Call } from '../../calls/call.ts'
import { fold, literalReadings, splitSegments } from '../../routing/path-reading.ts'
import { UnreadableIntent, type FileWrite } from './intent.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'

export type Parameters = Readonly<Record<string, unknown>>

/** The last segment says that a request is one of GraphQL; Rails takes a format behind it. */
export function isGraphqlPath(segments: readonly string[]): boolean {
  return literalReadings(splitSegments(segments).at(-1) ?? '').includes('graphql')
}

/** Members of query and body, by name. @throws UnreadableIntent where they contradict each other or have no single reading */
export async function parametersOf(call: Call<ScmRoute>): Promise<Parameters> {
  const query = new URLSearchParams(call.upstreamPath.split('?').slice(1).join('?'))
  const parameters: Record<string, unknown> = Object.create(null)
  const add = (name: string, value: unknown): void => {
    if (Object.hasOwn(parameters, name) && parameters[name] !== value)
      throw new UnreadableIntent(`The request states "${name}" twice, and not the same.`)
    parameters[name] = value
  }
  for (const [name, value] of query) add(name, value)
  for (const [name, value] of await bodyMembers(call)) add(name, value)
  return parameters
}

export function isForm(type: string | undefined): type is string {
  return /^(?:application\/x-www-form-urlencoded|multipart\/form-data)/i.test(type ?? '')
}

/** True for a form with a member that some frameworks take for the method, and for a form that cannot be read. */
export async function overridesMethodInBody(call: Call<ScmRoute>): Promise<boolean> {
  const { method, headers, body } = call
  if (method !== 'POST' || body === null || !isForm(headers['content-type'])) return false
  try {
    return (await bodyMembers(call)).some(([name]) => name === '_method')
  } catch (error) {
    if (error instanceof UnreadableIntent) return true
    throw error
  }
}

/** Members of the body alone, in its order; a form may state a name more than once. */
export async function bodyMembers({ body, headers }: Call<ScmRoute>): Promise<readonly (readonly [string, unknown])[]> {
  if (body === null || body.length === 0) return []
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new UnreadableIntent('The body is encoded, so it cannot be judged. Send it without Content-Encoding.')
  const type = headers['content-type'] ?? ''
  if (isForm(type)) return formMembers(body, type)
  const json = readStrictJson(body)
  if (!json.ok) throw new UnreadableIntent(`The body has no single reading: ${json.message}`)
  if (!isJsonObject(json.value)) throw new UnreadableIntent('The body is no JSON object.')
  return Object.entries(json.value)
}

async function formMembers(body: Buffer, type: string): Promise<readonly (readonly [string, unknown])[]> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    const members: (readonly [string, unknown])[] = []
    for (const [name, value] of form)
      members.push([name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer())])
    // Servers that read a body by its first character take such a form for the JSON that it is.
    if (/^\s*[[{]/.test(members[0]?.[0] ?? '')) throw new TypeError('a JSON document is no form')
    return members
  } catch (error) {
    throw new UnreadableIntent('The form in the body cannot be read, so the call cannot be judged.', { cause: error })
  }
}

/** @throws UnreadableIntent when the member is not a text */
export function text(parameters: Parameters, name: string): string | null {
  const value = parameters[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') return value
  throw new UnreadableIntent(`"${name}" is no text.`)
}

export function requiredText(parameters: Parameters, name: string): string {
  const value = text(parameters, name)
  if (value === null) throw new UnreadableIntent(`"${name}" is missing.`)
  return value
}

/** Members that say who calls. */
const CREDENTIALS: ReadonlySet<string> = new Set(['private_token', 'job_token', 'access_token'])

/** True if a request states only these members, in addition to credentials. */
export function statesOnly(parameters: Parameters, names: ReadonlySet<string>): boolean {
  return Object.keys(parameters).every((name) => names.has(name) || CREDENTIALS.has(name))
}

/** True in the forms that JSON and forms have for it. */
export function isSet(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  return value === true || value === 'true' || value === '1' || value === 1
}

/** A branch without `refs/heads/`, in letters of any case; null for another ref. */
export function branchOf(ref: string): string | null {
  const [root = '', kind = ''] = ref.split('/').map(fold)
  if (root !== 'refs') return ref
  return kind === 'heads' ? ref.split('/').slice(2).join('/') : null
}

/** The content of a write, as both platforms encode it. @throws UnreadableIntent for base64 that decoders read differently (RFC 4648 §3) */
export function contentOf(content: string, encoding: string | null): Buffer {
  if (encoding !== 'base64') return Buffer.from(content, 'utf8')
  // Line breaks are what encoders put there; every other stray letter is skipped, refused or taken for data.
  const plain = content.replaceAll(/[\t\n\r ]+/g, '')
  const bytes = Buffer.from(plain, 'base64')
  if (bytes.toString('base64') !== plain)
    throw new UnreadableIntent('the base64 of a content is not plain: standard letters, padded, nothing else.')
  return bytes
}

export function written(path: string, content: Buffer): FileWrite {
  return { kind: 'content', path: path.replace(/^\/+/, ''), content }
}

export function removed(path: string): FileWrite {
  return { kind: 'removal', path: path.replace(/^\/+/, '') }
}
