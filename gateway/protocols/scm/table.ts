/**
 * From a platform's table of paths to an action: one row for each kind of call that changes a protected branch, deploys
 * or publishes.
 */
import type { ScmRoute } from './settings.ts'
import type { Action } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import type { ScmClient } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import {
  isProtected,
  passingScmCall,
  refusedScmCall,
  ScmAction,
  transportFor,
  type ScmDeps,
  type ScmDialect,
} from './action.ts'
import type { Endpoint, EndpointTable, ReceiptOperation } from './endpoints.ts'
import { mayMutate } from './graphql.ts'
import { UnreadableIntent, type ScmIntent } from './intent.ts'
import { isGitService } from './git-push.ts'
import { singleSegments, splitSegments, withoutExtension } from '../../routing/path-reading.ts'
import { refuseOwnCheck } from './own-check.ts'
import { refuseCommands } from './text-commands.ts'
import { callName, isRead, matchSegments } from '../common/request-line.ts'
import { mayBeForm, overridesMethod } from '../common/method-override.ts'
import { refuseRemoval } from './removal.ts'
import { receipted } from './receipt.ts'
import { refuseWaitingHead } from './waiting-merge.ts'
import { branchOf, overridesMethodInBody, requestParameters, type Parameters } from './request.ts'

/** A call that fits the path of a row. */
export interface ScmCall {
  readonly call: Call<ScmRoute>
  /** Path of the repository at the API. */
  readonly repository: string
  /** What the names of the path stand for. */
  readonly names: Readonly<Record<string, string>>
  readonly parameters: Parameters
  /** The platform, asked as the caller: for facts that the request does not contain. */
  readonly client: () => ScmClient
  /** What the platform answers for a path behind the repository. */
  readonly ask: (path: string) => Promise<unknown>
}

export interface ScmRow {
  /** Behind the repository: literals, `:name` for one segment, `*name` for the rest. */
  readonly path: readonly string[]
  /** Why it is judged, for the list of all endpoints. */
  readonly because: string
  /** None: not judged after all. @throws UnreadableIntent */
  readonly intents: (call: ScmCall) => Intents | Promise<Intents>
}

/** What a call would do. An operation name: the call cannot be compared, and needs a receipt for this operation. */
export type Intents = readonly ScmIntent[] | ReceiptOperation

/** Writes that no row of a recogniser judges. */
export interface ScmEndpoints {
  /** Behind the repository. */
  readonly repository: EndpointTable
  /** From the root of the API. */
  readonly elsewhere: EndpointTable
}

/** Where in a path the repository stands. */
export interface LocatedRepository {
  /** Path of the API's root, before the repository. */
  readonly prefix: string
  /** Path of the repository at the API. */
  readonly repository: string
  /** Segments behind it. */
  readonly rest: readonly string[]
}

export interface ScmTable {
  /** As targets begin. */
  readonly name: string
  readonly dialect: Pick<ScmDialect, 'platform' | 'createClient'>
  readonly rows: readonly ScmRow[]
  readonly endpoints: ScmEndpoints
  /** Null: not about a repository. */
  readonly located: LocatedRepository | null
  /** Null: the path is about no repository. */
  readonly locate: (segments: readonly string[]) => LocatedRepository | null
  /** All segments of the path. */
  readonly path: readonly string[]
  /** Of the path, behind the root of the API. */
  readonly segments: readonly string[]
}

export async function recogniseCall(call: Call<ScmRoute>, table: ScmTable, deps: ScmDeps): Promise<Action> {
  const name = callName(call)
  if (overridesMethod(call)) return refusedScmCall(call, name, METHOD_STATED_TWICE)
  const hasReadings = singleSegments(call.upstreamPath) === null
  // One of them may be that of the GraphQL API, where some servers run a mutation whatever the method.
  if (isRead(call.method) && !(hasReadings && mayMutate(call))) return passingScmCall(name)
  if (hasReadings)
    return refusedScmCall(
      call,
      name,
      'servers read its path in different ways; write it without parameters (;), controls, escapes within escapes, and blanks or dots at the end of a name.',
    )
  if (isOtherCall(call, table))
    return refusedScmCall(
      call,
      name,
      'its path is another call where an encoded slash, ? or # is taken for the sign itself.',
    )
  try {
    const row = rowFor(call, table)
    return row === null
      ? unjudgedEndpoint(call, name, table, deps)
      : await judged(call, name, { ...table, ...row }, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent || error instanceof ScmError) return refusedScmCall(call, name, error.message)
    throw error
  }
}

export const METHOD_STATED_TWICE = 'its method is stated twice.'

/** Passes unless a form in its body names another method. */
function passingAsSent(call: Call<ScmRoute>, name: string): Action {
  return overridesMethodInBody(call) ? refusedScmCall(call, name, METHOD_STATED_TWICE) : passingScmCall(name)
}

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A form may name the method that the platform runs: its body is read where another method would be judged. */
export function mayOverrideInBody(head: Pick<Call<ScmRoute>, 'method' | 'headers'>, table: ScmTable): boolean {
  if (head.method !== 'POST' || !mayBeForm(head.headers['content-type'])) return false
  return METHODS.some((method) => {
    const endpoint = endpointFor({ method }, table)
    return rowFor({ method }, table) !== null || (endpoint !== null && endpoint.effect.kind !== 'passes')
  })
}

interface FoundRow {
  readonly row: ScmRow
  readonly names: ScmCall['names']
  readonly located: LocatedRepository
}

/** Whether a server that decodes the path before it takes it apart finds another row or endpoint that does more than pass. */
function isOtherCall(call: Call<ScmRoute>, table: ScmTable): boolean {
  return [splitTable(table), movedTable(table)].some((split) => {
    const row = rowFor(call, split)?.row ?? null
    if (row !== null) return row !== rowFor(call, table)?.row
    const endpoint = endpointFor(call, split)
    if (endpoint === null) return isUnknownInside(table, split)
    return endpoint.effect.kind !== 'passes' && endpoint !== endpointFor(call, table)
  })
}

/** The name of a repository holds no slash: behind one may stand an endpoint of the repository that is not known here. */
function isUnknownInside(table: ScmTable, split: ScmTable): boolean {
  const { located } = split
  return located !== null && located.rest.length > 0 && table.located?.rest.length === 0
}

/** The repository as it was found, and what is behind it taken apart. */
function splitTable(table: ScmTable): ScmTable {
  const { located, segments } = table
  const rest = located === null ? [] : splitSegments(located.rest)
  return {
    ...table,
    located: located === null ? null : { ...located, rest },
    segments: splitSegments(segments),
  }
}

/** All taken apart, so that the repository ends where the first slash does. */
function movedTable(table: ScmTable): ScmTable {
  const segments = splitSegments(table.segments)
  return { ...table, segments, located: table.locate(splitSegments(table.path)) }
}

/** The names of a call as its path has them, then as servers that decode first, or take a format off the last of them, do. */
function nameReadings(call: Call<ScmRoute>, { names, row }: FoundRow, table: ScmTable): readonly ScmCall['names'][] {
  const split = rowFor(call, splitTable(table))?.names ?? names
  const last = row.path.at(-1) ?? ''
  if (!/^[:*]/.test(last)) return [names, split]
  const key = last.slice(1)
  return [names, split, { ...names, [key]: withoutExtension(names[key] ?? '') }]
}

/** The row that judges a call; null: none does. */
export function rowFor(
  { method }: Pick<Call<ScmRoute>, 'method'>,
  { rows, located, segments, endpoints }: Pick<ScmTable, 'rows' | 'located' | 'segments' | 'endpoints'>,
): FoundRow | null {
  if (located === null || endpoints.elsewhere.find(method, segments) !== null) return null
  for (const row of rows) {
    const names = matchSegments(row.path, located.rest)
    if (names !== null) return { row, names, located }
  }
  return null
}

/** Null: unknown. */
export function endpointFor(
  { method }: Pick<Call<ScmRoute>, 'method'>,
  { located, segments, endpoints }: Pick<ScmTable, 'located' | 'segments' | 'endpoints'>,
): Endpoint | null {
  return (
    endpoints.elsewhere.find(method, segments) ??
    (located === null ? null : endpoints.repository.find(method, located.rest))
  )
}

function unjudgedEndpoint(
  call: Call<ScmRoute>,
  name: string,
  table: ScmTable,
  { config }: Pick<ScmDeps, 'config'>,
): Action {
  const endpoint = endpointFor(call, table)
  if (endpoint === null)
    return table.located === null && isGitService(call)
      ? passingScmCall(name)
      : receipted(call, { ...table, operation: 'administer', because: 'it is a write that is not known here' })
  const { effect, because } = endpoint
  if (effect.kind === 'receipt') return receipted(call, { ...table, operation: effect.operation, because })
  if (effect.kind === 'texts') refuseCommands(table.dialect.platform, requestParameters(call))
  if (effect.kind === 'results')
    refuseOwnCheck(config().scm.checks.name, [splitSegments(table.path), requestParameters(call)])
  return passingAsSent(call, name)
}

async function judged(call: Call<ScmRoute>, name: string, table: ScmTable & FoundRow, deps: ScmDeps): Promise<Action> {
  const { dialect, row, located } = table
  const { prefix, repository } = located
  const transport = () => transportFor(call, { platform: dialect.platform, prefix }, deps)
  const client = () => dialect.createClient(transport(), repository)
  const ask = async (path: string) => {
    const asker = transport()
    return asker.json(await asker.get(repository + path))
  }
  const parameters = requestParameters(call)
  const intents = await allIntents(nameReadings(call, table, table), (one) =>
    row.intents({ call, repository, names: one, parameters, client, ask }),
  )
  if (typeof intents === 'string') return receipted(call, { ...table, operation: intents, because: row.because })
  if (intents.length === 0) return passingAsSent(call, name)
  const unpinned =
    call.route.scm.require_head &&
    intents.some((intent) => intent.kind === 'merge_request' && intent.head === null && intent.onto === null)
  if (unpinned) return refusedScmCall(call, name, 'it does not name its head commit, and this route requires it (sha).')
  return new ScmAction(call, { ...dialect, name, prefix, intents: () => Promise.resolve(intents) }, deps)
}

/** What the call would do by any of its readings. */
async function allIntents(
  readings: readonly ScmCall['names'][],
  intentsOf: (names: ScmCall['names']) => Intents | Promise<Intents>,
): Promise<Intents> {
  const distinct = new Map(readings.map((names) => [JSON.stringify(names), names]))
  const found = new Map<string, ScmIntent>()
  for (const names of distinct.values()) {
    const intents = await intentsOf(names)
    if (typeof intents === 'string') return intents
    for (const intent of intents) found.set(JSON.stringify(intent), intent)
  }
  return [...found.values()]
}

/** `['branches', '*name']`: the paths of single refs, of which other methods change the rules. */
export function refRemoval(kind: 'heads' | 'tags', otherwise: Exclude<Intents, readonly unknown[]>) {
  return ({ call, names }: ScmCall): Intents => {
    if (call.method !== 'DELETE') return otherwise
    refuseRemoval(call, `refs/${kind}/${names['name'] ?? ''}`)
    return []
  }
}

/**
 * A request that gets a protected branch as its base is judged as its merge into that. Otherwise it could be judged for one base
 * and merged into another, which it gets in between: no platform lets a merge name its base.
 *
 * @param base null: it stays
 */
export async function retarget(
  { call, repository, client }: Pick<ScmCall, 'call' | 'repository' | 'client'>,
  id: string,
  base: string | null,
): Promise<readonly ScmIntent[]> {
  const onto = base === null ? null : branchOf(base)
  if (base === null || (onto !== null && !isProtected(call, onto))) return []
  if (onto === null) throw new UnreadableIntent(`"${base}" is no branch.`)
  if ((await client().mergeRequest(id)).base === onto) return []
  return [{ kind: 'merge_request', repository, id, head: null, onto, isRebase: null, removesHead: null }]
}

/**
 * A request whose source branch is brought up to date from its target: commits go the other way then, into the source, so a
 * protected branch must not be one. What names the request never comes to name another branch. The merge of this request
 * stays as it was judged, and that of another request from the same source does not.
 */
export async function sourceUpdate(call: Call<ScmRoute>, client: ScmClient, id: string): Promise<readonly ScmIntent[]> {
  const request = await client.mergeRequest(id)
  const { head, base } = request
  if (isProtected(call, head))
    throw new UnreadableIntent(
      `this brings commits to ${head} unjudged; a protected branch is reached by a merge only.`,
    )
  await refuseWaitingHead(client, head, base, request)
  return []
}
