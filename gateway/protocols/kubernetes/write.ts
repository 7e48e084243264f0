/**
 * A request that writes to the Kubernetes API, read with one meaning: which object, by which verb, with which content,
 * and whether it is a dry run. If it cannot be read so, the reason is reported; nothing is guessed.
 */
import { isUtf8 } from 'node:buffer'
import { DEFAULT_DOCUMENT_LIMITS, lookupTable, percentDecoded } from '../../../engine/base.ts'
import { readDocument, yamlObjectProblem } from '../../../engine/internal.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import type { PresentedReceipt } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject, readStrictJson, REQUEST_LIMITS, type JsonObject } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { knownKind } from './kinds.ts'
import type { ResourcePath } from './path.ts'
import { readProtobufObject } from './protobuf-object.ts'
import { receiptsIn, receiptsInPatch } from './receipt-annotations.ts'

type WriteVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection'

export interface Write {
  readonly path: ResourcePath
  readonly verb: WriteVerb
  /** Name of the object; `PREFIX*` when the API server generates it (generateName), `*` for a collection. */
  readonly name: string
  readonly isDryRun: boolean
  /** The receipts in the annotations of the written object. */
  readonly receipts: readonly PresentedReceipt[]
  /** Of the written object, as a Secret has it. */
  readonly type: unknown
  /** The body, if it is all that the request says. */
  readonly content: JsonObject | null
}

interface Refused {
  readonly ok: false
  readonly status: 400 | 405 | 415
  readonly message: string
}

type ReadWrite = { readonly ok: true; readonly write: Write } | Refused
type ReadTarget = { readonly ok: true; readonly write: Omit<Write, 'content'> } | Refused

type WriteBody = Readonly<Record<string, unknown>> | readonly unknown[] | null

const JSON_TYPE = 'application/json'
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'
const OBJECT_TYPES = [JSON_TYPE, 'application/yaml', PROTOBUF_TYPE]
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]
const VERBS: Readonly<Record<string, { readonly verb: WriteVerb; readonly types: readonly string[] } | undefined>> =
  lookupTable({
    POST: { verb: 'create', types: OBJECT_TYPES },
    PUT: { verb: 'update', types: OBJECT_TYPES },
    PATCH: { verb: 'patch', types: PATCH_TYPES },
    DELETE: { verb: 'delete', types: OBJECT_TYPES },
  })

/** Reads a request with its body; `path` is what its target names. */
export function readWrite(call: Call, path: ResourcePath): ReadWrite {
  const row = VERBS[call.method]
  if (row === undefined) return refusedWrite(405, `The Kubernetes API has no ${call.method} requests.`)
  if (path.name === null && (call.method === 'PUT' || call.method === 'PATCH'))
    return refusedWrite(405, `${call.method} needs the name of an object in the path.`)
  const bytes = call.body ?? Buffer.alloc(0)
  const isBodiless = bytes.length === 0
  const type = mediaTypeOfWrite(call, isBodiless)
  if (!row.types.includes(type)) return refusedWrite(415, typeMessage(type, row.types))
  if (isBodiless && call.method !== 'DELETE') return refusedWrite(400, 'The request has no body.')
  if (!isUtf8Type(call.headers['content-type'])) return refusedWrite(415, 'The body is in another charset than UTF-8.')
  const body = isBodiless ? { ok: true as const, value: null } : readObjectBody(bytes, type, path)
  if (!body.ok) return refusedWrite(400, body.message)
  const verb = type === 'application/apply-patch+yaml' ? 'apply' : row.verb
  const read = call.method === 'DELETE' ? readDelete(call, path, body.value) : readObject(call, path, verb, body.value)
  if (!read.ok) return read
  const isWhole = verb !== 'patch' && verb !== 'apply' && type !== PROTOBUF_TYPE && hasNeutralQuery(call)
  return { ok: true, write: { ...read.write, content: isWhole && isJsonObject(body.value) ? body.value : null } }
}

/** Parameters that say how the API server reports and records a write. Those of an action say what it does. */
const NEUTRAL_PARAMETER = /^(?:|(?:fieldManager|fieldValidation|pretty|timeout|dryRun)=[A-Za-z0-9._-]*)$/

function hasNeutralQuery({ upstreamPath: target }: Call): boolean {
  const start = target.indexOf('?')
  return (
    start === -1 ||
    target
      .slice(start + 1)
      .split('&')
      .every((pair) => NEUTRAL_PARAMETER.test(pair))
  )
}

function refusedWrite(status: 400 | 405 | 415, message: string): Refused {
  return { ok: false, status, message }
}

/** Without a Content-Type the API server reads a body as JSON. */
function mediaTypeOfWrite({ headers }: Call, isBodiless: boolean): string {
  const encoding = headers['content-encoding']
  if (!isBodiless && encoding !== undefined && encoding !== 'identity') return `${encoding}-encoded content`
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  const named = type.trim().toLowerCase()
  return isBodiless || named === '' ? JSON_TYPE : named
}

function typeMessage(type: string, types: readonly string[]): string {
  return `Preflight cannot read ${type}; send ${types.join(' or ')}.`
}

type ParsedBody = { readonly ok: true; readonly value: WriteBody } | { readonly ok: false; readonly message: string }

function readObjectBody(bytes: Buffer, type: string, { group, resource }: ResourcePath): ParsedBody {
  if (type === PROTOBUF_TYPE) return readProtobufObject(bytes, group === '' && resource === 'secrets')
  const parsed = type.endsWith('yaml') ? readYamlObject(bytes) : readStrictJson(bytes)
  if (!parsed.ok) return parsed
  const { value } = parsed
  const isList = type === 'application/json-patch+json'
  if (isList && Array.isArray(value)) return { ok: true, value }
  if (!isList && isJsonObject(value)) return { ok: true, value }
  return { ok: false, message: `The body is not ${isList ? 'a list of operations (RFC 6902)' : 'an object'}.` }
}

const YAML_LIMITS = { ...DEFAULT_DOCUMENT_LIMITS, ...REQUEST_LIMITS }

function readYamlObject(bytes: Buffer): ReturnType<typeof readStrictJson> {
  if (!isUtf8(bytes)) return { ok: false, message: 'The body is not UTF-8 text.' }
  const text = bytes.toString('utf8')
  if (OLD_BREAKS.test(text))
    return {
      ok: false,
      message: 'The body holds a line break that YAML 1.1 has and YAML 1.2 has not (U+0085, U+2028, U+2029).',
    }
  if (text.includes(BYTE_ORDER_MARK, 1))
    return { ok: false, message: 'The body holds a byte order mark (U+FEFF) that readers of YAML skip or keep.' }
  const read = readDocument(text, YAML_LIMITS)
  if (!read.ok) return { ok: false, message: read.problem.message }
  // The API server reads YAML 1.1, in which a merge key replaces earlier members.
  const problem = read.value.format === 'yaml' ? yamlObjectProblem(text, YAML_LIMITS) : null
  return problem === null
    ? { ok: true, value: read.value.root }
    : { ok: false, message: `The body cannot be read: ${problem}.` }
}

/** The API server reads YAML 1.1: what is a comment to the end of the line here would be another member there. */
const BYTE_ORDER_MARK = '\uFEFF'
const OLD_BREAKS = /[\u0085\u2028\u2029]/

/** A body of DeleteOptions replaces the query: a dry run in the query is then ignored. */
function readDelete(call: Call, path: ResourcePath, body: WriteBody): ReadTarget {
  if (Array.isArray(body)) return refusedWrite(400, 'The body is not an object.')
  const other = isJsonObject(body) ? otherSpelling(body, OPTIONS) : null
  if (other !== null) return refusedWrite(400, otherSpellingMessage(other))
  const isDryRun = isJsonObject(body) ? isRehearsed(path) && isAll(body['dryRun']) : asksForDryRun(call, path)
  const verb = path.name === null ? 'deletecollection' : 'delete'
  return { ok: true, write: { path, verb, name: path.name ?? '*', isDryRun, receipts: [], type: null } }
}

function readObject(call: Call, path: ResourcePath, verb: WriteVerb, body: WriteBody): ReadTarget {
  if (Array.isArray(body)) {
    const isDryRun = asksForDryRun(call, path)
    return {
      ok: true,
      write: { path, verb, name: path.name ?? '*', isDryRun, receipts: receiptsInPatch(body), type: null },
    }
  }
  const object = recordIn(body)
  const metadata = recordIn(object['metadata'])
  const fault = spellingFault(object, metadata) ?? kindFault(path, object) ?? placeFault(path, metadata)
  if (fault !== null) return refusedWrite(400, fault)
  const name = path.name ?? newName(metadata)
  if (name === null) return refusedWrite(400, 'The object has neither metadata.name nor metadata.generateName.')
  // An eviction may be a dry run by its own options.
  const options = recordIn(path.subresource === 'eviction' ? object['deleteOptions'] : null)
  const isDryRun = asksForDryRun(call, path) || isAll(options['dryRun'])
  return { ok: true, write: { path, verb, name, isDryRun, receipts: receiptsIn(metadata), type: object['type'] } }
}

/** JsonObject on which the judgement rests: some API servers (older ones, aggregated ones) take them in letters of any case. */
const TOP = countingNames(['kind', 'apiVersion', 'metadata', 'spec', 'type', 'data', 'binaryData', 'deleteOptions'])
const METADATA = countingNames(['name', 'generateName', 'namespace', 'annotations', 'resourceVersion', 'uid'])
const OPTIONS = countingNames(['kind', 'apiVersion', 'dryRun', 'preconditions', 'propagationPolicy'])

function spellingFault(object: JsonObject, metadata: JsonObject): string | null {
  const { deleteOptions } = object
  const other =
    otherSpelling(object, TOP) ??
    otherSpelling(metadata, METADATA) ??
    (isJsonObject(deleteOptions) ? otherSpelling(deleteOptions, OPTIONS) : null)
  return other === null ? null : otherSpellingMessage(other)
}

function otherSpellingMessage(other: string): string {
  return `The member ${JSON.stringify(other)} is another one to some readers: write it in the letters that the API names.`
}

/** A subresource has a kind of its own (Scale, Eviction), and a patch need not say any. */
function kindFault(path: ResourcePath, object: Readonly<Record<string, unknown>>): string | null {
  const expected = knownKind(path)
  const { kind } = object
  if (expected === null || path.subresource !== null || kind === undefined || kind === expected) return null
  return `The path is of a ${expected} and the body is of the kind ${JSON.stringify(kind)}.`
}

/** The API server refuses an object that names another place than the path; so that nothing depends on it, so does the gateway. */
function placeFault(path: ResourcePath, { name, namespace }: Readonly<Record<string, unknown>>): string | null {
  if (path.name !== null && !isAbsent(name) && name !== path.name)
    return `The path names ${path.name} and the object ${JSON.stringify(name)}.`
  if (isAbsent(namespace) || namespace === path.namespace) return null
  return `The path is of ${path.namespace === null ? 'no namespace' : `the namespace ${path.namespace}`} and the object of ${JSON.stringify(namespace)}.`
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function newName({ name, generateName }: Readonly<Record<string, unknown>>): string | null {
  if (typeof name === 'string' && name !== '') return name
  return typeof generateName === 'string' && generateName !== '' ? `${generateName}*` : null
}

/** Others (a token that is issued, an action of an aggregated API) may happen whatever the parameter says. */
const REHEARSED_SUBRESOURCES: ReadonlySet<string> = new Set([
  'status',
  'scale',
  'eviction',
  'binding',
  'finalize',
  'approval',
  'resize',
  'ephemeralcontainers',
])

/** False: with `dryRun=All` the write may take effect all the same. */
export function isRehearsed({ subresource }: ResourcePath): boolean {
  return subresource === null || REHEARSED_SUBRESOURCES.has(subresource)
}

/** Only what every reader of a query takes for a dry run: one parameter spelt plainly, and no other of its name. */
function asksForDryRun({ upstreamPath: target }: Call, path: ResourcePath): boolean {
  const queryStart = target.indexOf('?')
  if (queryStart === -1 || !isRehearsed(path)) return false
  const named = target
    .slice(queryStart + 1)
    .split('&')
    .filter((pair) => /^dryrun(=|$)/i.test(percentDecoded(pair)))
  return named.length > 0 && named.every((pair) => pair === 'dryRun=All')
}

function isAll(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((stage) => stage === 'All')
}
