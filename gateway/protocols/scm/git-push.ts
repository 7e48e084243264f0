/**
 * `git push` over HTTP (gitprotocol-http, receive-pack): which branches and tags it would move. A push to a protected branch
 * bypasses every merge, and a release hangs on its tag, so the route decides on them (`scm.push`). Merge requests are made from
 * other branches.
 */
import type { ScmRoute } from './settings.ts'
import { ERRORS } from '../../errors/errors.ts'
import type { Action, JudgedAction, ResourceCheck, Refusal } from '../common/action.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { isProtected, isProtectedTag, passingScmCall } from './action.ts'
import { tagTarget } from './checks.ts'
import { branchOf, tagOf } from './request.ts'
import { quickActionsIn } from './quick-actions.ts'
import { literalReadings, singleSegments, splitSegments } from '../../routing/path-reading.ts'
import { refusalText } from '../common/refusal.ts'
import { NAME_STAYS } from './name-stays.ts'
import { UnreadableIntent } from './intent.ts'
import { refuseWaitingHead } from './waiting-merge.ts'
import type { ScmClient } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import { splitNames } from './name-list.ts'
import { botCommandIn } from './text-commands.ts'

/** Of the repository that is pushed to, however the path is spelt; null: no push. */
function pushedTo({ upstreamPath }: Pick<CallHead<ScmRoute>, 'upstreamPath'>): string | null {
  const segments = splitSegments(singleSegments(upstreamPath) ?? [])
  if (!literalReadings(segments.at(-1) ?? '').includes('git-receive-pack')) return null
  return segments
    .slice(0, -1)
    .join('/')
    .replace(/\.git$/, '')
}

const GIT_SERVICE =
  /\/(?:git-upload-pack|info\/lfs\/(?:objects\/batch|locks(?:\/verify|\/[^/]+\/unlock)?)|gitlab-lfs\/objects\/[0-9a-f]{64}\/[0-9]+(?:\/authorize)?)$/

/** Fetches, and files of LFS: objects that no branch reaches until a push. */
export function isGitService({ upstreamPath }: Pick<CallHead<ScmRoute>, 'upstreamPath'>): boolean {
  return GIT_SERVICE.test(`/${singleSegments(upstreamPath)?.join('/') ?? ''}`)
}

export function isPush(head: Pick<CallHead<ScmRoute>, 'upstreamPath'>): boolean {
  return pushedTo(head) !== null
}

/**
 * @param host name of the platform in targets, e.g. `github`
 * @param clientFor asks the platform about the repository at a path; null: no request waits there after a push
 */
export async function recognisePush(
  call: Call<ScmRoute>,
  host: string,
  clientFor: ((path: string) => ScmClient) | null,
): Promise<Action> {
  const repository = pushedTo(call) ?? ''
  const name = `push ${repository}`
  const { push } = call.route.scm
  if (push === 'pass') return passingScmCall(name)
  const commands = commandsOf(call)
  if (commands === null) return stopped(call, name, 'its commands cannot be read')
  const { refs, options } = commands
  const moved = refs.filter((ref) => ref.kind === 'branch' && ref.isThere && !ref.isRemoved && !isGuarded(call, ref))
  const waiting = clientFor === null || moved.length === 0 ? null : await whyWaiting(clientFor, repository, moved)
  if (waiting !== null) return stopped(call, name, waiting)
  const landing = options.find((option) => !isHarmless(option))
  const guarded = landing === undefined ? refs.filter((ref) => isGuarded(call, ref)) : refs
  if (guarded.length === 0 && landing === undefined) return passingScmCall(name)
  const removed = guarded.find(({ isRemoved }) => isRemoved)
  if (removed !== undefined) return stopped(call, name, `${NAME_STAYS} (${removed.name})`)
  // A receipt names a branch.
  if (push === 'deny' || guarded.length === 0) return stopped(call, name, whyDenied(guarded, landing))
  return receiptedPush(
    name,
    guarded.map((ref) => pushCheck(`${host}:${repository}`, repository, ref)),
  )
}

/** What a pushed branch would be merged by; its commits are not at the platform yet, so they cannot be compared. Null: nothing. */
async function whyWaiting(
  clientFor: (path: string) => ScmClient,
  repository: string,
  branches: readonly PushedRef[],
): Promise<string | null> {
  try {
    const client = clientFor(repository)
    for (const { name } of branches) await refuseWaitingHead(client, name)
    return null
  } catch (error) {
    if (error instanceof UnreadableIntent) return error.message.replace(/\.$/, '')
    if (error instanceof ScmError) return `${error.message} (routes[].scm.push)`
    throw error
  }
}

function isGuarded(call: Call<ScmRoute>, { kind, name }: PushedRef): boolean {
  return kind === 'branch' ? isProtected(call, name) : isProtectedTag(call, name)
}

function whyDenied(guarded: readonly PushedRef[], landing: string | undefined): string {
  if (landing !== undefined)
    return `its push option ${JSON.stringify(landing)} may merge or is not known; leave it out and use the API (routes[].scm.push)`
  const [branches, tags] = (['branch', 'tag'] as const).map((kind) =>
    guarded.flatMap((ref) => (ref.kind === kind ? [ref.name] : [])).join(', '),
  )
  return branches === ''
    ? `it moves the tag ${tags}, which the API does (routes[].scm.push, routes[].scm.protected_tags)`
    : `${branches} is reached by a merge request only (routes[].scm.push)`
}

function pushCheck(target: string, repository: string, { kind, name, commit }: PushedRef): ResourceCheck {
  const rest = kind === 'branch' ? `@${name}` : tagTarget(name)
  const branch = kind === 'branch' ? name : `refs/tags/${name}`
  return {
    resource: {
      name: `push ${repository}${rest}`,
      target: target + rest,
      scope: null,
      operation: 'push',
      place: { repository, branch },
      commit,
    },
    basis: { kind: 'receipt' },
  }
}

function receiptedPush(name: string, checks: readonly ResourceCheck[]): JudgedAction {
  return {
    kind: 'judge',
    name,
    gather: () => Promise.resolve(checks),
    watch: () => null,
    refuse: (refusal) => plainAnswer(refusal),
  }
}

function stopped(call: Call<ScmRoute>, name: string, why: string): Action {
  const { correlationId } = call
  const message = `Preflight stopped this push: ${why}.`
  return {
    kind: 'refuse',
    name,
    answer: plainAnswer({ code: 'PREFLIGHT_STOP', message, correlationId, envelope: null, resource: null }),
    why,
  }
}

/** git shows its user a refusal that is plain text, line by line. */
function plainAnswer(refusal: Refusal) {
  return {
    status: ERRORS[refusal.code].status >= 500 ? 503 : 403,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'Preflight-Action': 'STOP' },
    body: `${refusalText(refusal)}\n`,
  }
}

/**
 * Push options that open or mark a request, and those for its pipeline:
 * https://docs.gitlab.com/topics/git/commit/#push-options
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...splitNames('ci.skip ci.no_pipeline ci.variable ci.input integrations.skip_ci'),
  ...splitNames(
    'create target target_project title description draft remove_source_branch squash milestone',
    'label unlabel assign unassign',
  ).flatMap((name) => [`merge_request.${name}`, `mr.${name}`]),
])

/** In the description of a request that is not there yet. */
const HARMLESS_OF_NEW: ReadonlySet<string> = new Set(['harmless', 'retargets', 'marks'])

/** A description may hold commands of its own; `\n` in it stands for a line break. */
function isHarmless(option: string): boolean {
  const [name = '', ...value] = option.split('=')
  if (!HARMLESS.has(name.trim())) return false
  const text = value
    .join('=')
    .replaceAll('\\n', '\n')
    .replaceAll(/(^|\n)["']/g, '$1')
  return (
    [...quickActionsIn(text)].every((action) => HARMLESS_OF_NEW.has(action)) && botCommandIn('scm_b', text) === null
  )
}

/** Letters of any case: `refs/Heads/main` is `refs/heads/main` on a file system that ignores case. */
const COMMAND = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[^\0\n]*)/i

interface PushedRef {
  readonly kind: 'branch' | 'tag'
  readonly name: string
  /** What it is set to. */
  readonly commit: string
  readonly isRemoved: boolean
  /** As the push states. */
  readonly isThere: boolean
}

interface PushCommands {
  /** Branches that the push would move or delete, and tags that are there already. */
  readonly refs: readonly PushedRef[]
  readonly options: readonly string[]
}

/** What stands before the pack (gitprotocol-pack): commands, and options behind their flush. Null: they have no such form. */
function commandsOf({ body, headers }: Call<ScmRoute>): PushCommands | null {
  if (body === null || headers['content-encoding'] !== undefined) return null
  // An empty body is the probe by which clients check their access.
  if (body.length === 0) return { refs: [], options: [] }
  const commands = linesFrom(body, 0)
  if (commands === null) return null
  const refs: PushedRef[] = []
  for (const line of commands.lines) {
    const found = COMMAND.exec(line)
    if (found !== null) refs.push(...pushedRefs(found))
    else if (!line.startsWith('shallow ')) return null
  }
  const options = isPackOrEnd(body, commands.end) ? { lines: [], end: commands.end } : linesFrom(body, commands.end)
  if (options === null || !isPackOrEnd(body, options.end)) return null
  return { refs, options: options.lines.map((line) => line.replace(/\n$/, '')) }
}

/** Whether a ref is new is what the push states: the server refuses that where the ref is there (gitprotocol-pack, old-id). */
function pushedRefs([, before = '', after = '', ref = '']: RegExpExecArray): readonly PushedRef[] {
  const isRemoved = NO_COMMIT.test(after)
  const isThere = !NO_COMMIT.test(before)
  const commit = after.toLowerCase()
  const branch = branchOf(ref)
  if (branch !== null) return [{ kind: 'branch', name: branch, commit, isRemoved, isThere }]
  const tag = tagOf(ref)
  return tag === null || !isThere ? [] : [{ kind: 'tag', name: tag, commit, isRemoved, isThere }]
}

const NO_COMMIT = /^0+$/

function isPackOrEnd(body: Buffer, at: number): boolean {
  return at === body.length || body.toString('latin1', at, at + 4) === 'PACK'
}

/** Lines up to a flush, and where that ends. Null: there is none. */
function linesFrom(body: Buffer, start: number): { readonly lines: readonly string[]; readonly end: number } | null {
  const lines: string[] = []
  for (let at = start; at < body.length;) {
    const size = body.toString('latin1', at, at + 4)
    if (size === '0000') return { lines, end: at + 4 }
    const length = /^[0-9a-f]{4}$/i.test(size) ? Number.parseInt(size, 16) : 0
    if (length < 5 || at + length > body.length) return null
    lines.push(body.toString('utf8', at + 4, at + length))
    at += length
  }
  return null
}
