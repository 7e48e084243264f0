/** Calls to the REST interface of Argo CD (`/api/v1/…`): which application, and what the call does to it. */
import type { Call } from '../../calls/call.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { deployedState, hasSyncOptions, nonEmptyText, unreadableArgocdCall, writeTo, type ArgocdCall } from './call.ts'
import { canonicalName, queryOf } from '../../routing/query-names.ts'
import { literalReadings, singleSegments } from '../../routing/path-reading.ts'
import { requestDigest, withContent } from '../common/request-digest.ts'
import { isRead } from '../common/request-line.ts'
import { overridesMethod } from '../common/method-override.ts'

const API = '/api/v1'
/** Logging in and out changes nothing that is deployed. */
const SIGN_IN = [/^\/api\/v1\/session$/, /^\/api\/dex\//, /^\/auth\//]

/** Where the application's namespace is stated. */
interface RestRow {
  readonly method: string
  /** Behind the application's name. */
  readonly below: string
  readonly verb: string
  readonly namespaceIn: 'body' | 'query'
}

const ROWS: readonly RestRow[] = [
  { method: 'POST', below: 'sync', verb: 'sync', namespaceIn: 'body' },
  { method: 'POST', below: 'rollback', verb: 'rollback', namespaceIn: 'body' },
  { method: 'PATCH', below: '', verb: 'patch', namespaceIn: 'body' },
  { method: 'PUT', below: 'spec', verb: 'update spec of', namespaceIn: 'query' },
  { method: 'DELETE', below: '', verb: 'delete', namespaceIn: 'query' },
  { method: 'DELETE', below: 'operation', verb: 'terminate operation of', namespaceIn: 'query' },
  { method: 'POST', below: 'resource', verb: 'patch resource of', namespaceIn: 'query' },
  { method: 'DELETE', below: 'resource', verb: 'delete resource of', namespaceIn: 'query' },
  { method: 'POST', below: 'resource/actions', verb: 'run action on', namespaceIn: 'query' },
  { method: 'POST', below: 'resource/actions/v2', verb: 'run action on', namespaceIn: 'body' },
]

/** Known paths, the longest first; `*` for a name. */
const LITERALS: readonly (readonly [method: string | null, segments: readonly string[]])[] = [
  ...ROWS.toSorted((one, other) => other.below.length - one.below.length).map(
    ({ method, below }) => [method, ['api', 'v1', 'applications', '*', ...below.split('/').filter(Boolean)]] as const,
  ),
  [null, ['api', 'v1', 'applications']],
  [null, ['api', 'v1', 'session']],
  [null, ['api']],
]

/** @param path at the server, without query and without the root path of the server */
export function readRestCall(call: Call, path: string, ownNamespace: string): ArgocdCall {
  if (overridesMethod(call)) return unreadableArgocdCall('The call states its method twice.')
  // The web terminal is an upgraded GET; it is a shell in a pod.
  if (isRead(call.method) && call.headers.upgrade === undefined) return { kind: 'read' }
  const problem = restPathProblem(call.method, path)
  if (problem !== null) return unreadableArgocdCall(problem)
  if (SIGN_IN.some((place) => place.test(path))) return { kind: 'read' }
  const [root = '', name = '', ...below] = path.startsWith(`${API}/`) ? path.slice(API.length + 1).split('/') : []
  const operation = call.method === 'DELETE' && root !== 'applications' ? 'delete' : 'deploy'
  const target = withContent(path, requestDigest(call))
  const other: ArgocdCall = { kind: 'write', verb: call.method, operation, object: path, target, revision: null }
  if (root !== 'applications') return other
  if (call.method === 'POST' && name === '') return readWhole(call, null, 'create', ownNamespace)
  if (call.method === 'PUT' && below.length === 0) return readWhole(call, decoded(name), 'update', ownNamespace)
  const row = ROWS.find((one) => one.method === call.method && one.below === below.join('/'))
  return row === undefined ? other : readRow(call, row, decoded(name), ownNamespace)
}

/**
 * Only the name of an application may use any letters: some servers in front read a literal in another case as the
 * same.
 */
function restPathProblem(method: string, path: string): string | null {
  const segments = singleSegments(path)
  if (segments === null || path.slice(1).split('/').slice(0, -1).includes(''))
    return 'Servers read this path in different ways: write it without parameters, empty segments, and blanks or dots at the end of a name.'
  if (segments.some((text) => /[/?#]/.test(text))) return 'The path holds an encoded slash, ? or #.'
  const named = LITERALS.find(
    ([of, literals]) =>
      (of === null || of === method) &&
      literals.length <= segments.length &&
      literals.every((text, index) => text === '*' || literalReadings(segments[index] ?? '').includes(text)),
  )
  const isOther = named?.[1].some((text, index) => text !== '*' && segments[index] !== text) === true
  return isOther ? 'The path differs from that of Argo CD in letter case, or ends with a format.' : null
}

/** The body is the application itself. */
function readWhole(call: Call, name: string | null, verb: string, ownNamespace: string): ArgocdCall {
  const body = readRestBody(call)
  if (!body.ok) return unreadableArgocdCall(body.message)
  const metadata = recordIn(body.value['metadata'])
  const fault = caseFault(metadata)
  if (fault !== null) return unreadableArgocdCall(fault)
  const own = nonEmptyText(metadata['name'])
  if (name !== null && own !== null && own !== name)
    return unreadableArgocdCall(`The path names ${name} and the application ${own}.`)
  const application = { name: name ?? own ?? '', namespace: nonEmptyText(metadata['namespace']) }
  return writeTo(application, ownNamespace, { verb, part: verb, content: requestDigest(call) })
}

function readRow(call: Call, { verb, below, namespaceIn }: RestRow, name: string, ownNamespace: string): ArgocdCall {
  const isWhole = verb === 'sync' || verb === 'delete'
  const write = { verb, part: isWhole ? '' : below || verb, content: isWhole ? null : requestDigest(call) }
  if (namespaceIn === 'query') {
    const namespaces = queryMembers(call.upstreamPath, 'appNamespace')
    if (namespaces.length > 1) return unreadableArgocdCall('The query names the namespace more than once.')
    const [[spelling, namespace] = ['appNamespace', '']] = namespaces
    if (spelling !== 'appNamespace')
      return unreadableArgocdCall(
        `Argo CD reads the parameter ${JSON.stringify(spelling)} in another way; write it as appNamespace.`,
      )
    return writeTo({ name, namespace: nonEmptyText(namespace) }, ownNamespace, write)
  }
  const body = readRestBody(call)
  if (!body.ok) return unreadableArgocdCall(body.message)
  const { dryRun, appNamespace, name: own } = body.value
  if (nonEmptyText(own) !== null && own !== name)
    return unreadableArgocdCall(`The path names ${name} and the body another application.`)
  if (dryRun === true && (verb === 'sync' || verb === 'rollback')) return { kind: 'read' }
  const state = deployedState(body.value)
  if (!state.ok) return unreadableArgocdCall(state.message)
  const hasOptions = verb === 'sync' && hasSyncOptions(body.value)
  return writeTo({ name, namespace: nonEmptyText(appNamespace) }, ownNamespace, {
    ...write,
    ...(hasOptions && { content: requestDigest(call) }),
    revision: state.revision,
  })
}

type ArgoBody =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string }

function readRestBody({ body, headers }: Call): ArgoBody {
  if (body === null || body.length === 0) return { ok: true, value: {} }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return { ok: false, message: 'A compressed body cannot be judged; send it plain.' }
  if (!isUtf8Type(headers['content-type'])) return { ok: false, message: 'The body is in another charset than UTF-8.' }
  const json = readStrictJson(body)
  if (!json.ok) return { ok: false, message: json.message }
  if (!isJsonObject(json.value)) return { ok: false, message: 'The body is not an object.' }
  const fault = caseFault(json.value)
  return fault === null ? { ok: true, value: json.value } : { ok: false, message: fault }
}

/** Members that say what is meant. */
const MEANT = countingNames([
  ...(['name', 'namespace', 'metadata', 'appNamespace', 'dryRun'] as const),
  ...(['revision', 'revisions', 'sourcePositions', 'manifests'] as const),
])

/** Argo CD reads JSON with Go's encoding/json. */
function caseFault(object: Readonly<Record<string, unknown>>): string | null {
  const other = otherSpelling(object, MEANT)
  return other === null ? null : `The member ${JSON.stringify(other)} is written in another case than Argo CD’s own.`
}

/** Written in any way that some server reads as the name: grpc-gateway takes what is in `name[…]` for the value. */
function queryMembers(target: string, name: string): readonly (readonly [name: string, value: string])[] {
  return [...new URLSearchParams(queryOf(target))].filter(([one]) => canonicalName(one) === canonicalName(name))
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not UTF-8: no application has such a name.
    return ''
  }
}
