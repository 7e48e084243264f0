/**
 * Calls to Argo CD over gRPC and gRPC-Web, which its command line uses: the path names the method, the message names
 * the application.
 */
import { lookupTable } from '../../../engine/base.ts'
import type { Call } from '../../calls/call.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import { requestDigest, withContent } from '../common/request-digest.ts'
import { createMessageReader, type MessageTable, type MessageValue } from '../common/protobuf-message.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import {
  deployedState,
  hasSyncOptions,
  nonEmptyText,
  unreadableArgocdCall,
  writeTo,
  type Application,
  type ArgocdCall,
} from './call.ts'

/** Field numbers of Argo CD's application.proto and of ObjectMeta. Fields without a row do not affect the meaning. */
const MESSAGES: MessageTable = {
  Sync: {
    name: [1, 'string'],
    revision: [2, 'string'],
    dryRun: [3, 'bool'],
    prune: [4, 'bool'],
    strategy: [5, 'SyncStrategy'],
    resources: [7, 'bytes[]'],
    manifests: [8, 'string[]'],
    infos: [9, 'bytes[]'],
    retryStrategy: [10, 'bytes'],
    syncOptions: [11, 'SyncOptions'],
    appNamespace: [12, 'string'],
    sourcePositions: [14, 'int64[]'],
    revisions: [15, 'string[]'],
  },
  SyncStrategy: { apply: [1, 'bytes'], hook: [2, 'SyncStrategyHook'] },
  SyncStrategyHook: { syncStrategyApply: [1, 'SyncStrategyApply'] },
  SyncStrategyApply: { force: [1, 'bool'] },
  SyncOptions: { items: [1, 'string[]'] },
  Rollback: { name: [1, 'string'], dryRun: [3, 'bool'], appNamespace: [6, 'string'] },
  Patch: { name: [1, 'string'], appNamespace: [5, 'string'] },
  UpdateSpec: { name: [1, 'string'], appNamespace: [4, 'string'] },
  Delete: { name: [1, 'string'], appNamespace: [4, 'string'] },
  TerminateOperation: { name: [1, 'string'], appNamespace: [2, 'string'] },
  PatchResource: { name: [1, 'string'], appNamespace: [9, 'string'] },
  DeleteResource: { name: [1, 'string'], appNamespace: [9, 'string'] },
  RunResourceAction: { name: [1, 'string'], appNamespace: [8, 'string'] },
  RunResourceActionV2: { name: [1, 'string'], appNamespace: [8, 'string'] },
  Create: { application: [1, 'Application'] },
  Update: { application: [1, 'Application'] },
  Application: { metadata: [1, 'ObjectMeta'] },
  ObjectMeta: { name: [1, 'string'], namespace: [3, 'string'] },
}
const read = createMessageReader(MESSAGES)

const APPLICATIONS = 'application.ApplicationService'
const VERBS: Readonly<Record<string, string>> = lookupTable({
  Sync: 'sync',
  Rollback: 'rollback',
  Patch: 'patch',
  UpdateSpec: 'update spec of',
  Delete: 'delete',
  TerminateOperation: 'terminate operation of',
  PatchResource: 'patch resource of',
  DeleteResource: 'delete resource of',
  RunResourceAction: 'run action on',
  RunResourceActionV2: 'run action on',
  Create: 'create',
  Update: 'update',
})
/** Methods that only read, in addition to those that begin with Get, List or Watch. */
const READING: ReadonlySet<string> = new Set([
  'CanI',
  'ManagedResources',
  'PodLogs',
  'ResourceTree',
  'RevisionChartDetails',
  'RevisionMetadata',
  'ServerSideDiff',
  'Version',
])

/**
 * What the server itself treats as gRPC: it compares the method and the exact content type, and passes all else to its
 * REST interface.
 */
export function isArgocdGrpc({ method, headers }: Pick<Call, 'method' | 'headers'>): boolean {
  return method === 'POST' && (headers['content-type'] ?? '').startsWith('application/grpc')
}

/** `/package.Service/Method`, behind the root path of the server; null for any other call. */
export function grpcMethod(
  call: Pick<Call, 'method' | 'headers'>,
  path: string,
): { readonly service: string; readonly method: string } | null {
  if (!isArgocdGrpc(call)) return null
  // Every service of the server is in a package: the paths of its REST interface have no dot there.
  const [, service, method] = /\/([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\/([A-Za-z_]\w*)$/.exec(path) ?? []
  return service === undefined || method === undefined ? null : { service, method }
}

export function isReadingMethod({ service, method }: { readonly service: string; readonly method: string }): boolean {
  return service === 'session.SessionService' || /^(?:Get|List|Watch)/.test(method) || READING.has(method)
}

export function readGrpcCall(
  call: Pick<Call, 'method' | 'headers' | 'body' | 'upstreamPath'>,
  path: string,
  ownNamespace: string,
): ArgocdCall {
  const named = grpcMethod(call, path)
  if (named === null) return unreadableArgocdCall('The path is not of a gRPC method.')
  if (isReadingMethod(named)) return { kind: 'read' }
  const { service, method } = named
  const verb = service === APPLICATIONS ? VERBS[method] : undefined
  if (verb === undefined) {
    const operation = /^(?:Delete|Remove)/.test(method) ? 'delete' : 'deploy'
    const object = `/${service}/${method}`
    const target = withContent(object, requestDigest(call))
    return { kind: 'write', verb: 'call', operation, object, target, revision: null }
  }
  const frame = singleFrame(call)
  if (!frame.ok) return unreadableArgocdCall(frame.message)
  const message = read(method, frame.bytes)
  if (!message.ok) return unreadableArgocdCall(message.message)
  if (message.value['dryRun'] === true) return { kind: 'read' }
  const state = deployedState(message.value)
  if (!state.ok) return unreadableArgocdCall(state.message)
  const isWhole = method === 'Delete' || (method === 'Sync' && !hasSyncOptions(message.value))
  return writeTo(applicationOf(message.value), ownNamespace, {
    verb,
    part: method === 'Delete' || method === 'Sync' ? '' : method,
    content: isWhole ? null : requestDigest(call),
    revision: state.revision,
  })
}

function applicationOf({ name, appNamespace, application }: MessageValue): Application {
  if (!isJsonObject(application)) return { name: nonEmptyText(name) ?? '', namespace: nonEmptyText(appNamespace) }
  const metadata = recordIn(application['metadata'])
  return { name: nonEmptyText(metadata['name']) ?? '', namespace: nonEmptyText(metadata['namespace']) }
}

type ReadFrame = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly message: string }

const FRAME_HEAD = 5

/** One message, plain: a flag byte, four bytes of length, the message (gRPC over HTTP/2, Length-Prefixed-Message). */
function singleFrame({ body, headers }: Pick<Call, 'body' | 'headers'>): ReadFrame {
  const type = (headers['content-type'] ?? '').toLowerCase()
  if (type.includes('grpc-web-text'))
    return { ok: false, message: 'gRPC-Web in its text form cannot be judged; use the binary one.' }
  const bytes = body ?? Buffer.alloc(0)
  const isWhole = bytes.length >= FRAME_HEAD && bytes.readUInt32BE(1) === bytes.length - FRAME_HEAD
  if (!isWhole) return { ok: false, message: 'The call is not exactly one complete gRPC message.' }
  if (bytes[0] !== 0) return { ok: false, message: 'A compressed gRPC message cannot be judged.' }
  return { ok: true, bytes: bytes.subarray(FRAME_HEAD) }
}

/** google.rpc.Code: a client must not retry a refused call, and may retry one that could not be judged. */
export function grpcStatus(httpStatus: number): number {
  if (httpStatus === 400) return 3
  return httpStatus >= 500 ? 14 : 7
}
