/**
 * The paths of the Kubernetes API, read as the API server reads them: group, version, namespace, resource, name, subresource.
 * Says what a path names, not what may be done to it.
 */
import { percentDecoded } from '../../../engine/base.ts'
import { fold, singleSegments } from '../../routing/path-reading.ts'

export interface ResourcePath {
  /** Empty for the core group (`/api/v1`). */
  readonly group: string
  readonly version: string
  /** Null for what belongs to no namespace, and across all of them. */
  readonly namespace: string | null
  /** Plural, as in the path: `deployments`. */
  readonly resource: string
  /** Null: the collection. */
  readonly name: string | null
  readonly subresource: string | null
}

export type ApiPath =
  | { readonly kind: 'resource'; readonly path: ResourcePath; readonly isWatch: boolean }
  /** Discovery, OpenAPI, health, metrics: nothing there holds objects. */
  | { readonly kind: 'other' }
  | { readonly kind: 'ambiguous'; readonly message: string }

/** Subresources that are a connection into something, whatever the HTTP method. */
export const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy'])

/** Of a namespace itself; whatever else follows a namespace is a resource within it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * @param path at the upstream, with or without query
 * @param base path of the route's upstream, which the API stands under
 */
export function readApiPath(path: string, base: string): ApiPath {
  const [whole = ''] = path.split('?', 1)
  const root = base.endsWith('/') ? base.slice(0, -1) : base
  if (!whole.startsWith(`${root}/`) && whole !== root) return { kind: 'other' }
  const raw = trimSlashes(whole.slice(root.length)).split('/')
  const read = readSegments(raw.map(percentDecoded))
  if (read.kind === 'ambiguous') return read
  const own = raw.slice(0, ownLength(read, raw.length))
  const segments = singleSegments(own.join('/'))
  return segments !== null && !segments.some((text) => /[/?#]/.test(text)) && isSameKind(read, looseReading(own))
    ? read
    : ambiguous('Servers and proxies read this path in different ways; write it as the API has it.')
}

/** What follows `proxy` is the path at another server. */
function ownLength(read: ApiPath, length: number): number {
  if (read.kind !== 'resource' || read.path.subresource !== 'proxy') return length
  const { group, namespace } = read.path
  return (group === '' ? 2 : 3) + (read.isWatch ? 1 : 0) + (namespace === null ? 0 : 2) + 3
}

/** As a proxy has it that folds letters, drops empty segments and takes formats off: kinds and subresources have no dot. */
function looseReading(raw: readonly string[]): ApiPath {
  const segments = raw.map((segment) => fold(percentDecoded(segment))).filter(Boolean)
  const read = readSegments(segments)
  if (read.kind !== 'resource') return read
  const { resource, subresource } = read.path
  const [plainResource = '', plainSubresource = null] = [resource, subresource].map((name) => name?.split('.', 1)[0])
  return { ...read, path: { ...read.path, resource: plainResource, subresource: plainSubresource } }
}

function isSameKind(read: ApiPath, loose: ApiPath): boolean {
  if (read.kind !== 'resource' || loose.kind !== 'resource') return read.kind === loose.kind
  const kindOf = ({ path: { group, version, resource, subresource } }: typeof read): string =>
    JSON.stringify([group, version, resource, subresource])
  return kindOf(read) === kindOf(loose)
}

function readSegments(segments: readonly string[]): ApiPath {
  const parts = groupVersionOf(segments)
  if (parts === null) return { kind: 'other' }
  const { group, version } = parts
  let { rest } = parts
  const isWatch = rest[0] === 'watch'
  if (isWatch) rest = rest.slice(1)
  if (rest[0] === 'proxy') return ambiguous('The path form /proxy/… was taken out of the API in Kubernetes 1.10.')
  const isWithin = rest[0] === 'namespaces' && rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? '')
  const namespace = isWithin ? (rest[1] ?? null) : null
  const [resource = '', name = null, subresource = null, ...further] = isWithin ? rest.slice(2) : rest
  // What follows `proxy` is the path at another server. The checks here do not apply to it.
  const own = subresource === 'proxy' ? segments.slice(0, segments.length - further.length) : segments
  if (own.includes('')) return ambiguous('The path holds an empty segment.')
  if (further.length > 0 && subresource !== 'proxy') return ambiguous('The path goes on behind a subresource.')
  return { kind: 'resource', path: { group, version, namespace, resource, name, subresource }, isWatch }
}

/** `/api/VERSION/…` or `/apis/GROUP/VERSION/…`, with a resource behind it. */
function groupVersionOf(
  segments: readonly string[],
): { readonly group: string; readonly version: string; readonly rest: readonly string[] } | null {
  const [root, ...behind] = segments
  if (root !== 'api' && root !== 'apis') return null
  const [group = '', version = '', ...rest] = root === 'api' ? ['', ...behind] : behind
  return rest.length === 0 ? null : { group, version, rest }
}

/** Where the object stands that a path names, or that it names something of; without query. Null for a collection. */
export function objectPath({ group, version, namespace, resource, name }: ResourcePath, base: string): string | null {
  if (name === null) return null
  const root = group === '' ? ['api', version] : ['apis', group, version]
  const within = namespace === null ? [] : ['namespaces', namespace]
  return `${base.endsWith('/') ? base.slice(0, -1) : base}/${[...root, ...within, resource, name].map(encodeURIComponent).join('/')}`
}

/** Of a path the API server ignores slashes at both ends. */
function trimSlashes(path: string): string {
  let end = path.length
  while (path.endsWith('/', end)) end -= 1
  return path.slice(0, end).replace(/^\/+/, '')
}

function ambiguous(message: string): ApiPath {
  return { kind: 'ambiguous', message }
}

/** `deployments/scale`, as Kubernetes writes it in discovery and RBAC. */
export function resourceText({ resource, subresource }: ResourcePath): string {
  return subresource === null ? resource : `${resource}/${subresource}`
}
