/** From a platform's table of paths to an action: one row a kind of call that lands, ships or publishes something. */
import type { Action, Call } from './action.ts'
import type { ScmClient } from '../scm/platform.ts'
import { ScmError } from '../scm/scm-error.ts'
import { overridesMethod } from './method-override.ts'
import { isProtected, passing, refused, ScmAction, transportFor, type ScmDeps, type ScmDialect } from './scm-action.ts'
import { UnreadableIntent, type ScmIntent } from './scm-intent.ts'
import { isRead, matchSegments, segmentsOf } from './request-line.ts'
import { parametersOf, type Parameters } from './scm-request.ts'

/** A call that fits the path of a row. */
export interface ScmCall {
  readonly call: Call
  /** Path of the repository at the API. */
  readonly repository: string
  /** What the names of the path stand for. */
  readonly names: Readonly<Record<string, string>>
  readonly parameters: Parameters
  /** The platform, asked as the caller: for what the request alone does not tell. */
  readonly client: () => ScmClient
}

export interface ScmRow {
  /** Behind the repository: literals, `:name` for one segment, `*name` for the rest. */
  readonly path: readonly string[]
  /** None: not judged after all. @throws UnreadableIntent */
  readonly intents: (call: ScmCall) => readonly ScmIntent[] | Promise<readonly ScmIntent[]>
}

/** Where in a path the repository stands. */
export interface Located {
  /** Path of the API's root, before the repository. */
  readonly prefix: string
  /** Path of the repository at the API. */
  readonly repository: string
  /** Segments behind it. */
  readonly rest: readonly string[]
}

export interface ScmTable {
  readonly dialect: Pick<ScmDialect, 'platform' | 'createClient'>
  readonly rows: readonly ScmRow[]
  /** Null: not about a repository. */
  readonly located: Located | null
}

export async function recogniseCall(call: Call, { dialect, rows, located }: ScmTable, deps: ScmDeps): Promise<Action> {
  const name = `${call.method} ${call.upstreamPath.split('?', 1)[0] ?? ''}`
  if (overridesMethod(call)) return refused(call, name, 'its method is stated twice.')
  if (isRead(call.method)) return passing(name)
  if (segmentsOf(call.upstreamPath) === null)
    return refused(call, name, 'an escape in its path stands for no text, so it cannot be told what it is about.')
  if (located === null) return passing(name)
  try {
    const client = () =>
      dialect.createClient(
        transportFor(call, { platform: dialect.platform, prefix: located.prefix }, deps),
        located.repository,
      )
    const intents = await intentsOf(call, rows, { ...located, client })
    if (intents.length === 0) return passing(name)
    const unpinned =
      call.route.scm.require_head && intents.some((intent) => intent.kind === 'merge_request' && intent.head === null)
    if (unpinned)
      return refused(call, name, 'it does not name the head commit that it means, and this route asks for it (sha).')
    const { prefix } = located
    return new ScmAction(call, { ...dialect, name, prefix, intents: () => Promise.resolve(intents) }, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent || error instanceof ScmError) return refused(call, name, error.message)
    throw error
  }
}

/**
 * A request whose source branch is brought up to date from its target: commits go the other way then, into the source, so a
 * protected branch must not be one. What names the request never comes to name another branch.
 */
export async function sourceUpdate(call: Call, client: ScmClient, id: string): Promise<readonly ScmIntent[]> {
  const { head } = await client.mergeRequest(id)
  if (isProtected(call, head))
    throw new UnreadableIntent(
      `this brings commits to ${head} unjudged; a protected branch is reached by a merge only.`,
    )
  return []
}

async function intentsOf(
  call: Call,
  rows: readonly ScmRow[],
  { repository, rest, client }: NonNullable<ScmTable['located']> & Pick<ScmCall, 'client'>,
): Promise<readonly ScmIntent[]> {
  for (const { path, intents } of rows) {
    const names = matchSegments(path, rest)
    if (names !== null) return intents({ call, repository, names, parameters: await parametersOf(call), client })
  }
  return []
}
