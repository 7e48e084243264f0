/**
 * `git push` over HTTP (gitprotocol-http, receive-pack): which branches it would move. A push to a protected branch goes around
 * every merge, so what becomes of it is the route's decision (`scm.push`); other branches are what merge requests are made from.
 */
import type { Action, Call, CallHead, JudgedAction, Question, Refusal } from './action.ts'
import { isProtected, passing } from './scm-action.ts'
import { refusalText } from './refusal.ts'
import { segmentsOf } from './request-line.ts'

/** Of the repository that is pushed to, however the path is spelt; null: no push. */
function pushedTo({ upstreamPath }: Pick<CallHead, 'upstreamPath'>): string | null {
  const segments = segmentsOf(upstreamPath) ?? []
  if (segments.at(-1)?.toLowerCase() !== 'git-receive-pack') return null
  return segments
    .slice(0, -1)
    .join('/')
    .replace(/\.git$/, '')
}

export function isPush(head: Pick<CallHead, 'upstreamPath'>): boolean {
  return pushedTo(head) !== null
}

/** @param host name of the platform in targets, e.g. `github` */
export function recognisePush(call: Call, host: string): Action {
  const repository = pushedTo(call) ?? ''
  const name = `push ${repository}`
  const { push } = call.route.scm
  if (push === 'pass') return passing(name)
  const branches = branchesOf(call)
  if (branches === null) return stopped(call, name, 'its commands cannot be read')
  const guarded = branches.filter((branch) => isProtected(call, branch))
  if (guarded.length === 0) return passing(name)
  if (push === 'deny')
    return stopped(call, name, `${guarded.join(', ')} is reached by a merge request only (routes[].scm.push)`)
  return receiptedPush(
    name,
    guarded.map((branch) => questionOn(`${host}:${repository}`, repository, branch)),
  )
}

function questionOn(target: string, repository: string, branch: string): Question {
  return {
    subject: {
      name: `push ${repository}@${branch}`,
      target: `${target}@${branch}`,
      scope: null,
      operation: 'push',
      place: { repository, branch },
    },
    ground: { kind: 'receipt' },
  }
}

function receiptedPush(name: string, questions: readonly Question[]): JudgedAction {
  return {
    kind: 'judge',
    name,
    gather: () => Promise.resolve(questions),
    watch: () => null,
    refuse: (refusal) => plainAnswer(refusal),
  }
}

function stopped(call: Call, name: string, why: string): Action {
  const { correlationId } = call
  const message = `Preflight stopped this push: ${why}.`
  return {
    kind: 'refuse',
    name,
    answer: plainAnswer({ code: 'PREFLIGHT_STOP', message, correlationId, envelope: null, subject: null }),
    why,
  }
}

/** git shows its user a refusal that is plain text, line by line. */
function plainAnswer(refusal: Refusal) {
  return {
    status: refusal.code === 'PREFLIGHT_UNDECIDED' ? 503 : 403,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'Preflight-Action': 'STOP' },
    body: `${refusalText(refusal)}\n`,
  }
}

const FLUSH = '0000'
const COMMAND = /^(?:[0-9a-f]{40}|[0-9a-f]{64}) (?:[0-9a-f]{40}|[0-9a-f]{64}) refs\/heads\/([^\0\n]+)/

/** Branches that the commands name, as pkt-lines before the pack (gitprotocol-pack). Null: they have no such form. */
function branchesOf({ body, headers }: Call): readonly string[] | null {
  if (body === null || headers['content-encoding'] !== undefined) return null
  const branches: string[] = []
  for (let at = 0; at < body.length;) {
    const size = body.toString('latin1', at, at + 4)
    if (size === FLUSH) return branches
    const length = /^[0-9a-f]{4}$/i.test(size) ? Number.parseInt(size, 16) : 0
    if (length < 5 || at + length > body.length) return null
    const line = body.toString('utf8', at + 4, at + length)
    const branch = COMMAND.exec(line)?.[1]
    if (branch !== undefined) branches.push(branch)
    else if (!/^(?:[0-9a-f]{40,64} [0-9a-f]{40,64} refs\/|shallow )/.test(line)) return null
    at += length
  }
  // Commands end with a flush; an empty body is the probe that clients send to learn who may.
  return body.length === 0 ? branches : null
}
