/**
 * The common part of the recognisers of source-control platforms: pushes, requests outside the table of paths (GraphQL,
 * forms), and the tables. The platform's own files define their meaning.
 */
import type { ScmRoute } from './settings.ts'
import type { Action, Recogniser } from '../common/action.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { isGitService, isPush, recognisePush } from './git-push.ts'
import type { Endpoint } from './endpoints.ts'
import { isJsonType } from '../../network/json-type.ts'
import { mayBeForm } from '../common/method-override.ts'
import { fold, singleSegments } from '../../routing/path-reading.ts'
import { isRead, basePath } from '../common/request-line.ts'
import { mayMutate } from './graphql.ts'
import { isGraphqlPath, overridesMethodInBody } from './request.ts'
import { refusedScmCall, transportFor, type ScmDeps } from './action.ts'
import type { ScmClient } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import type { ScmConfig } from '../../scm/settings.ts'
import {
  endpointFor,
  mayOverrideInBody,
  METHOD_STATED_TWICE,
  recogniseCall,
  rowFor,
  type ScmRow,
  type ScmTable,
} from './table.ts'

/** A repository that is pushed to, at the platform's API. */
export interface PushedRepository {
  /** Path of the repository at the API. */
  readonly repository: string
  readonly origin: string
  readonly prefix: string
}

interface ScmPlatform extends Pick<ScmTable, 'dialect' | 'endpoints' | 'locate'> {
  /** As targets begin: `github:owner/name#7`. */
  readonly name: 'github' | 'gitlab' | 'bitbucket'
  readonly rows: readonly ScmRow[]
  /** Where the API begins, where it does not begin at the root: `api/v3`. */
  readonly roots: readonly string[]
  /** Recognises requests that are not rows of the table, by their path; null: it may be a row. */
  readonly beside: (
    segments: readonly string[],
  ) => ((call: Call<ScmRoute>, deps: ScmDeps) => Action | Promise<Action>) | null
  /**
   * Where a push can be looked up, by the origin and path of its repository. Absent: no request goes on to merge by itself
   * when its head moves.
   */
  readonly pushedTo?: (origin: string, path: string, config: ScmConfig) => PushedRepository | null
}

export function createScmRecogniser(platform: ScmPlatform, deps: ScmDeps): Recogniser<ScmRoute> {
  const { beside, locate } = platform
  const tableFor = (call: CallHead<ScmRoute>, segments: readonly string[] | null): ScmTable => ({
    ...platform,
    located: segments === null ? null : locate(segments),
    path: segments ?? [],
    segments: behindRoot(segments ?? [], [basePath(call.route), ...platform.roots]),
  })
  const isOfInterest = (head: CallHead<ScmRoute>): boolean => {
    const segments = singleSegments(head.upstreamPath)
    if (segments === null || beside(segments) !== null) return true
    const table = tableFor(head, segments)
    if (rowFor(head, table) !== null) return true
    const endpoint = endpointFor(head, table)
    // The receipt of a write that is not known here names its content.
    if (endpoint === null) return table.located !== null || !isGitService(head)
    return READ.has(endpoint.effect.kind) && !isUpload(head, endpoint)
  }
  return {
    needsBody(head) {
      if (isRead(head.method)) return mayBeGraphql(singleSegments(head.upstreamPath))
      if (isPush(head)) return head.route.scm.push !== 'pass'
      return isOfInterest(head) || mayOverrideInBody(head, tableFor(head, singleSegments(head.upstreamPath)))
    },
    async recognise(call) {
      if (isPush(call)) return recognisePush(call, platform.name, pushedClient(platform, call, deps))
      const segments = singleSegments(call.upstreamPath)
      const isPlainRead = isRead(call.method) && !(mayBeGraphql(segments) && mayMutate(call))
      const recognise = segments === null || isPlainRead ? null : beside(segments)
      if (recognise !== null)
        return overridesMethodInBody(call)
          ? refusedScmCall(call, `${call.method} ${call.upstreamPath}`, METHOD_STATED_TWICE)
          : recognise(call, deps)
      return recogniseCall(call, tableFor(call, segments), deps)
    },
  }
}

/** Null: no request needs to be looked up. */
function pushedClient(
  { pushedTo, dialect }: Pick<ScmPlatform, 'pushedTo' | 'dialect'>,
  call: Call<ScmRoute>,
  deps: ScmDeps,
): ((path: string) => ScmClient) | null {
  if (pushedTo === undefined) return null
  return (path) => {
    const place = pushedTo(call.origin, path, deps.config())
    if (place === null) throw new ScmError('unexpected', `the path ${path} names no repository`)
    const { origin, prefix, repository } = place
    const { upstream } = call.route
    const route = upstream === undefined ? call.route : { ...call.route, upstream: origin }
    const transport = transportFor({ ...call, origin, route }, { platform: dialect.platform, prefix }, deps)
    return dialect.createClient(transport, repository)
  }
}

/** Effects that depend on the body, and those of which a receipt names it. */
const READ: ReadonlySet<Endpoint['effect']['kind']> = new Set(['texts', 'results', 'receipt'])

/** Whether a request publishes the file that is its body, which may be too large to hold. Its receipt names the place. */
function isUpload({ method, headers }: CallHead<ScmRoute>, { effect }: Endpoint): boolean {
  const type = headers['content-type'] ?? ''
  if (method !== 'POST' && method !== 'PUT') return false
  return effect.kind === 'receipt' && effect.operation === 'publish' && !isJsonType(type) && !mayBeForm(type)
}

/** Some servers run a mutation whatever the method, and a path with several readings may be that of the GraphQL API. */
function mayBeGraphql(segments: readonly string[] | null): boolean {
  return segments === null || isGraphqlPath(segments)
}

/** What is left of a path behind each of the roots that it begins with, one after the other. */
function behindRoot(segments: readonly string[], roots: readonly string[]): readonly string[] {
  return roots.reduce((rest, root) => {
    const parts = root.split('/').filter(Boolean)
    return parts.every((part, index) => fold(rest[index] ?? '') === fold(part)) ? rest.slice(parts.length) : rest
  }, segments)
}
