/**
 * What a request to an npm registry does, by its method and path alone: a table of the registry's endpoints. Nothing
 * unknown passes.
 */
import type { CallHead } from '../../calls/call.ts'
import { singleSegments, splitSegments } from '../../routing/path-reading.ts'
import { isRead, matchSegments, basePath } from '../common/request-line.ts'

export type NpmRequest =
  /** Reads, log-ins, credentials that are exchanged or given back, audits: nothing that others install changes. */
  | { readonly kind: 'pass' }
  /** The document of a package: a publication, or a change of existing versions. */
  | { readonly kind: 'document'; readonly name: string }
  /** A publication that somebody approves later. */
  | { readonly kind: 'stage'; readonly name: string }
  | { readonly kind: 'approval'; readonly id: string }
  /** `version` null: all of them. */
  | { readonly kind: 'removal'; readonly name: string; readonly version: string | null }
  | { readonly kind: 'tag'; readonly name: string; readonly tag: string }
  | { readonly kind: 'tags'; readonly name: string }
  | { readonly kind: 'tag_removal'; readonly name: string; readonly tag: string }
  /** `subject`: a package, or the path of a team, an organisation, or the account of the caller. */
  | { readonly kind: 'owners'; readonly subject: string }
  /** Like `owners`; the body holds a password, of which no digest goes into a ledger. */
  | { readonly kind: 'account'; readonly subject: string }
  | { readonly kind: 'unknown'; readonly why: string }

type PackageNames = Readonly<Record<string, string>>

interface NpmEndpoint {
  /** Methods, with spaces between; `*`: any but the reading ones. */
  readonly methods: string
  readonly path: string
  readonly make: (names: PackageNames, path: string) => NpmRequest
}

const PASS = (): NpmRequest => ({ kind: 'pass' })
const owners = ({ name = '' }: PackageNames): NpmRequest => ({ kind: 'owners', subject: name })
const ownersOfPath = (_names: PackageNames, path: string): NpmRequest => ({ kind: 'owners', subject: path })
const account = (_names: PackageNames, path: string): NpmRequest => ({ kind: 'account', subject: path })
const document = ({ name = '' }: PackageNames): NpmRequest => ({ kind: 'document', name })

/** The first that matches. */
const ROWS: readonly NpmEndpoint[] = [
  { methods: '*', path: '-/user/*rest', make: PASS },
  { methods: '*', path: '-/v1/login', make: PASS },
  { methods: '*', path: '-/v1/login/*rest', make: PASS },
  { methods: '*', path: '-/v1/done', make: PASS },
  { methods: 'DELETE', path: '-/npm/v1/tokens/*rest', make: PASS },
  // A new token publishes wherever its holder is, and a changed password or second factor lets others in.
  { methods: '*', path: '-/v1/tokens', make: account },
  { methods: '*', path: '-/npm/v1/user', make: account },
  { methods: '*', path: '-/npm/v1/tokens', make: account },
  { methods: '*', path: '-/npm/v1/tokens/*rest', make: account },
  { methods: '*', path: '-/npm/v1/security/*rest', make: PASS },
  { methods: '*', path: '-/npm/v1/oidc/token/exchange/*rest', make: PASS },
  {
    methods: 'PUT POST',
    path: '-/package/:name/dist-tags/:tag',
    make: ({ name = '', tag = '' }) => ({ kind: 'tag', name, tag }),
  },
  {
    methods: 'DELETE',
    path: '-/package/:name/dist-tags/:tag',
    make: ({ name = '', tag = '' }) => ({ kind: 'tag_removal', name, tag }),
  },
  { methods: 'POST', path: '-/package/:name/dist-tags', make: ({ name = '' }) => ({ kind: 'tags', name }) },
  { methods: '*', path: '-/package/:name/access', make: owners },
  { methods: '*', path: '-/package/:name/collaborators', make: owners },
  { methods: '*', path: '-/package/:name/trust', make: owners },
  { methods: '*', path: '-/package/:name/trust/*rest', make: owners },
  { methods: '*', path: '-/team/*rest', make: ownersOfPath },
  { methods: '*', path: '-/org/*rest', make: ownersOfPath },
  { methods: 'POST', path: '-/stage/package/:name', make: ({ name = '' }) => ({ kind: 'stage', name }) },
  { methods: '*', path: '-/stage/:id/approve', make: ({ id = '' }) => ({ kind: 'approval', id }) },
  // What is staged is installed by nobody yet.
  { methods: '*', path: '-/stage/:id/reject', make: PASS },
  { methods: 'DELETE', path: '-/stage/:id', make: PASS },
  { methods: 'DELETE', path: ':name/-rev/:rev', make: ({ name = '' }) => ({ kind: 'removal', name, version: null }) },
  { methods: 'DELETE', path: ':name', make: ({ name = '' }) => ({ kind: 'removal', name, version: null }) },
  { methods: 'DELETE', path: ':name/-/:file/-rev/:rev', make: tarballRemoval },
  { methods: 'DELETE', path: ':name/-/:file', make: tarballRemoval },
  { methods: 'PUT', path: ':name/-rev/:rev', make: document },
  { methods: 'PUT', path: ':name', make: document },
  { methods: 'PUT', path: ':name/:tag', make: ({ name = '', tag = '' }) => ({ kind: 'tag', name, tag }) },
]

function tarballRemoval({ name = '', file = '' }: PackageNames): NpmRequest {
  return { kind: 'removal', name, version: versionOfFile(name, file) }
}

/** `pets-1.2.3.tgz`, or with the scope before it. Null: the file says no version. */
function versionOfFile(name: string, file: string): string | null {
  const short = name.slice(name.indexOf('/') + 1)
  const plain = file.slice(file.indexOf('/') + 1)
  return plain.startsWith(`${short}-`) && plain.endsWith('.tgz') ? plain.slice(short.length + 1, -4) : null
}

/** As registries have them; what is none is read by no row. */
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i

function isPackageName(name: string): boolean {
  return PACKAGE_NAME.test(name) && name !== '-'
}

export function readNpmRequest({
  method,
  upstreamPath,
  route,
}: Pick<CallHead, 'method' | 'upstreamPath' | 'route'>): NpmRequest {
  if (isRead(method)) return { kind: 'pass' }
  const segments = withinRegistry(upstreamPath, basePath(route))
  if (segments === null)
    return { kind: 'unknown', why: 'the path is not one of the registry, or servers read it differently' }
  const request = npmRequest(method, scoped(segments))
  const split = npmRequest(method, scoped(splitSegments(segments)))
  // To a server that decodes first, an encoded slash parts two segments.
  if (split.kind === 'unknown' || JSON.stringify(split) === JSON.stringify(request)) return request
  return { kind: 'unknown', why: 'the path is another request where its encoded slash is taken for a slash' }
}

function npmRequest(method: string, segments: readonly string[]): NpmRequest {
  for (const row of ROWS) {
    if (row.methods !== '*' && !row.methods.split(' ').includes(method)) continue
    const names = matchSegments(row.path.split('/'), segments)
    if (names === null || (names['name'] !== undefined && !isPackageName(names['name']))) continue
    return row.make(names, segments.join('/'))
  }
  return { kind: 'unknown', why: 'no endpoint of a registry that is known here has this method and path' }
}

/** Segments behind the root. */
function withinRegistry(path: string, base: string): readonly string[] | null {
  if (base !== '' && !path.startsWith(`${base}/`)) return null
  return singleSegments(path.slice(base.length))
}

/** With `@scope/name` as one of them however its slash is written. */
function scoped(segments: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (last !== undefined && last.startsWith('@') && !last.includes('/'))
      joined[joined.length - 1] = `${last}/${segment}`
    else joined.push(segment)
  }
  return joined
}
