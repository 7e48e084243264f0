/**
 * A stand-in for the Kubernetes API server, for kubectl and tests: objects with versions, dry runs, all forms of patch, scale
 * and eviction, tables and watches. It believes everybody, unless a test gives it somebody to refuse.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { Operation } from 'rfc6902'
import { FAKE_RESOURCES, kubernetesDocument, type FakeResource } from './kubernetes-documents.ts'
import { jsonOfProtobuf, KUBERNETES_PROTOBUF } from './kubernetes-protobuf.ts'
import { jsonPatched, mergePatched, strategicallyPatched, type FakeObject } from './kubernetes-patches.ts'

export interface FakeCluster {
  readonly origin: string
  /** Requests in order: method, path and query, media type, body. */
  readonly requests: readonly ClusterRequest[]
  /** Those that were meant to change something: no reads, no dry runs. */
  writes(): readonly ClusterRequest[]
  /** By `RESOURCE/NAMESPACE/NAME`; undefined when there is none. */
  object(key: string): FakeObject | undefined
  put(resource: string, object: FakeObject): void
  /** Runs before a request is answered; may change objects, or answer a Status instead. */
  intervene: (request: ClusterRequest) => { readonly code: number; readonly message: string } | null
  close(): Promise<void>
}

export interface ClusterRequest {
  readonly method: string
  readonly url: string
  readonly type: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly isDryRun: boolean
}

interface Place {
  readonly of: FakeResource
  readonly namespace: string
  readonly name: string | null
  readonly subresource: string | null
}

class Refused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const REASONS: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'NotFound', 409: 'Conflict', 422: 'Invalid' }

export async function startFakeCluster(): Promise<FakeCluster> {
  const objects = new Map<string, FakeObject>()
  const requests: ClusterRequest[] = []
  const watchers = new Set<(type: string, object: FakeObject, of: FakeResource) => void>()
  let version = 100

  const notify = (type: string, object: FakeObject, of: FakeResource): void =>
    watchers.forEach((watcher) => watcher(type, object, of))
  const store = (key: string, object: FakeObject, of: FakeResource): FakeObject => {
    version += 1
    const stored = { ...object, metadata: { ...metadataOf(object), resourceVersion: String(version) } }
    const type = objects.has(key) ? 'MODIFIED' : 'ADDED'
    objects.set(key, stored)
    notify(type, stored, of)
    return stored
  }
  const cluster: FakeCluster = {
    origin: '',
    requests,
    writes: () =>
      requests.filter(({ method, isDryRun, url }) => method !== 'GET' && !isDryRun && !url.includes('reviews')),
    object: (key) => objects.get(key),
    put(resource, object) {
      const of = FAKE_RESOURCES.find((row) => row.resource === resource)
      if (of === undefined) throw new Error(`the stand-in has no ${resource}`)
      const { name, namespace } = metadataOf(object)
      store(`${resource}/${namespace ?? ''}/${name}`, created(object, of), of)
    },
    intervene: () => null,
    close: async () => {},
  }

  const write = (place: Place, request: ClusterRequest): { readonly status: number; readonly object: unknown } => {
    const { of, namespace, name, subresource } = place
    const key = `${of.resource}/${of.namespaced ? namespace : ''}/${name ?? ''}`
    const existing = name === null ? undefined : objects.get(key)
    if (request.method === 'POST' && of.kind === 'SelfSubjectAccessReview')
      return {
        status: 201,
        object: { apiVersion: 'authorization.k8s.io/v1', kind: of.kind, status: { allowed: true } },
      }
    if (request.method === 'POST' && subresource === 'eviction')
      return { status: 201, object: removed(key, of, request) }
    if (request.method === 'POST' && name === null) return create(place, request)
    if (request.method === 'DELETE') return { status: 200, object: removed(key, of, request) }
    if (existing === undefined && !request.type.startsWith('application/apply-patch')) throw notFound(of, name)
    if (subresource === 'scale' && existing !== undefined)
      return { status: 200, object: scaled(key, existing, of, request) }
    const next = request.method === 'PUT' ? replaced(existing, request) : patched(existing, request)
    const object =
      existing === undefined
        ? created(next, of)
        : { ...existing, ...next, metadata: { ...metadataOf(existing), ...metadataOf(next) } }
    const kept = subresource === 'status' ? { ...existing, status: next['status'] } : withoutRemoved(object, next)
    return { status: existing === undefined ? 201 : 200, object: request.isDryRun ? kept : store(key, kept, of) }
  }
  const create = (
    { of, namespace }: Place,
    request: ClusterRequest,
  ): { readonly status: number; readonly object: unknown } => {
    const given = parsed(request.body)
    const { name = `${metadataOf(given).generateName ?? ''}x7k2p` } = metadataOf(given)
    const key = `${of.resource}/${of.namespaced ? namespace : ''}/${name}`
    if (objects.has(key)) throw new Refused(409, `${of.resource} "${name}" already exists`)
    const object = created(
      { ...given, metadata: { ...metadataOf(given), name, ...(of.namespaced ? { namespace } : {}) } },
      of,
    )
    return { status: 201, object: request.isDryRun ? object : store(key, object, of) }
  }
  const removed = (key: string, of: FakeResource, { isDryRun }: ClusterRequest): unknown => {
    const object = objects.get(key)
    if (object === undefined) throw notFound(of, key.split('/')[2] ?? '')
    if (!isDryRun) {
      objects.delete(key)
      notify('DELETED', object, of)
    }
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: metadataOf(object).name, kind: of.resource },
    }
  }
  const scaled = (key: string, existing: FakeObject, of: FakeResource, request: ClusterRequest): unknown => {
    const scale = scaleOf(existing)
    const next = request.method === 'PUT' ? parsed(request.body) : patched(scale, request)
    const object = { ...existing, spec: { ...members(existing['spec']), replicas: members(next['spec'])['replicas'] } }
    return scaleOf(request.isDryRun ? object : store(key, object, of))
  }
  const read = (place: Place, request: ClusterRequest): unknown => {
    const { of, namespace, name, subresource } = place
    if (name === null) return list(place, request)
    const object = objects.get(`${of.resource}/${of.namespaced ? namespace : ''}/${name}`)
    if (object === undefined) throw notFound(of, name)
    return subresource === 'scale' ? scaleOf(object) : object
  }
  const list = ({ of, namespace }: Place, { url, headers }: ClusterRequest): unknown => {
    const items = selected(of, namespace, url)
    const metadata = { resourceVersion: String(version) }
    if (String(headers.accept).includes('as=Table')) return { ...table(items), metadata }
    return { kind: `${of.kind}List`, apiVersion: apiVersionOf(of), metadata, items }
  }
  const selected = (of: FakeResource, namespace: string, url: string): readonly FakeObject[] => {
    const { searchParams } = new URL(url, 'http://cluster.invalid')
    const [path = '', value = ''] = (searchParams.get('fieldSelector') ?? '').split('=')
    const labels = (searchParams.get('labelSelector') ?? '').split(',').filter((one) => one.includes('='))
    return [...objects]
      .filter(([key]) => key.startsWith(`${of.resource}/${namespace}`))
      .map(([, object]) => object)
      .filter((object) => path === '' || valueAt(object, path) === value)
      .filter((object) => labels.every((one) => one === labelOf(object, one.split('=', 1)[0] ?? '')))
  }
  const watch = (place: Place, request: ClusterRequest, response: ServerResponse): void => {
    const isTable = String(request.headers.accept).includes('as=Table')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const watcher = (type: string, object: FakeObject, of: FakeResource): void => {
      if (of.resource === place.of.resource)
        response.write(`${JSON.stringify({ type, object: isTable ? table([object]) : object })}\n`)
    }
    watchers.add(watcher)
    response.on('close', () => watchers.delete(watcher))
  }

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      const code = error instanceof Refused ? error.code : 500
      send(request, response, code, statusOf(code, error instanceof Error ? error.message : 'failed'))
    })
  })
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    requests.push(request)
    const refusal = cluster.intervene(request)
    if (refusal !== null) throw new Refused(refusal.code, refusal.message)
    const [path = ''] = request.url.split('?', 1)
    const document = kubernetesDocument(path, String(incoming.headers.accept))
    if (document !== null) return send(incoming, response, 200, document)
    const place = placeOf(path)
    if (place === null) throw new Refused(404, 'the server could not find the requested resource')
    if (request.method !== 'GET') {
      const { status, object } = write(place, request)
      return send(incoming, response, status, object)
    }
    if (/[?&]watch=(?:true|1)/.test(request.url)) return watch(place, request, response)
    return send(incoming, response, 200, read(place, request))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(cluster, {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}

async function readRequest(incoming: IncomingMessage): Promise<ClusterRequest> {
  const { method = '', url = '', headers } = incoming
  const bytes = await buffer(incoming)
  const type = headers['content-type'] ?? ''
  const body = type === KUBERNETES_PROTOBUF && method !== 'DELETE' ? jsonOfProtobuf(bytes) : bytes.toString('utf8')
  const isNamed = /[?&]dryRun=All(?:&|$)/.test(url)
  const options = body.includes('"dryRun":["All"]')
  return {
    method,
    url,
    type,
    headers,
    body,
    isDryRun: method === 'DELETE' && body !== '' ? options : isNamed || options,
  }
}

function placeOf(path: string): Place | null {
  const [, group = '', version, rest = ''] = /^\/api(?:s\/([^/]+))?\/(v1)\/(.+)$/.exec(path) ?? []
  if (version === undefined) return null
  const parts = rest.split('/')
  const isWithin = parts[0] === 'namespaces' && parts.length > 2
  const [resource, name = null, subresource = null] = isWithin ? parts.slice(2) : parts
  const of = FAKE_RESOURCES.find((row) => row.group === group && row.resource === resource)
  return of === undefined ? null : { of, namespace: isWithin ? (parts[1] ?? '') : '', name, subresource }
}

interface Metadata {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly resourceVersion?: string
  readonly [member: string]: unknown
}

function members(value: unknown): FakeObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

function metadataOf(object: FakeObject): Metadata {
  return members(object['metadata'])
}

function parsed(body: string): FakeObject {
  return members(JSON.parse(body))
}

function apiVersionOf({ group, version }: FakeResource): string {
  return group === '' ? version : `${group}/${version}`
}

/** With what the API server itself adds. */
function created(object: FakeObject, of: FakeResource): FakeObject {
  const metadata = {
    ...metadataOf(object),
    uid: 'u-1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
    managedFields: [],
  }
  return {
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    ...object,
    metadata,
    ...(of.kind === 'Pod' ? { status: { phase: 'Running' } } : {}),
  }
}

function replaced(existing: FakeObject | undefined, { body }: ClusterRequest): FakeObject {
  const next = parsed(body)
  const { resourceVersion } = metadataOf(next)
  if (
    existing !== undefined &&
    resourceVersion !== undefined &&
    resourceVersion !== metadataOf(existing).resourceVersion
  )
    throw new Refused(
      409,
      'the object has been modified; please apply your changes to the latest version and try again',
    )
  return next
}

function patched(existing: FakeObject | undefined, { type, body }: ClusterRequest): FakeObject {
  const patch: unknown = JSON.parse(body)
  if (type === 'application/json-patch+json') {
    const operations: readonly Operation[] = Array.isArray(patch) ? patch : []
    const object = jsonPatched(existing ?? {}, operations)
    if (object === null) throw new Refused(422, 'the patch cannot be applied')
    return object
  }
  if (type === 'application/merge-patch+json') return members(mergePatched(existing, patch))
  return members(strategicallyPatched(existing ?? {}, patch))
}

/** What a patch took away stays away. */
function withoutRemoved(object: FakeObject, next: FakeObject): FakeObject {
  return { ...next, metadata: object['metadata'], ...('status' in object ? { status: object['status'] } : {}) }
}

function scaleOf(object: FakeObject): FakeObject {
  const { name, namespace, resourceVersion } = metadataOf(object)
  const { replicas = 0 } = members(object['spec'])
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, resourceVersion },
    spec: { replicas },
    status: { replicas },
  }
}

function table(items: readonly FakeObject[]): FakeObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }],
    rows: items.map((object) => ({
      cells: [metadataOf(object).name],
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] },
    })),
  }
}

function valueAt(object: FakeObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => members(value)[name], object)
}

/** `NAME=VALUE` */
function labelOf(object: FakeObject, name: string): string {
  return `${name}=${String(members(metadataOf(object)['labels'])[name])}`
}

function notFound({ resource }: FakeResource, name: string | null): Refused {
  return new Refused(404, `${resource} "${name ?? ''}" not found`)
}

function statusOf(code: number, message: string): unknown {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: REASONS[code] ?? 'InternalError',
    details: {},
    code,
  }
}

/** Compressed for those who ask, as the API server does for long answers. */
function send(request: IncomingMessage, response: ServerResponse, code: number, value: unknown): void {
  const isAggregated = String(request.headers.accept).includes('as=APIGroupDiscoveryList')
  const type =
    isAggregated && /^\/apis?(?:\?|$)/.test(request.url ?? '')
      ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      : 'application/json'
  const body = Buffer.from(JSON.stringify(value))
  const isZipped = String(request.headers['accept-encoding']).includes('gzip') && body.length > 1024
  response.writeHead(code, { 'content-type': type, ...(isZipped ? { 'content-encoding': 'gzip' } : {}) })
  response.end(isZipped ? gzipSync(body) : body)
}
