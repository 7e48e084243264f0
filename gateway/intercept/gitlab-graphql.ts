/** GitLab's GraphQL API: merges are read and judged; what else may land or publish something is refused. https://docs.gitlab.com/api/graphql/ */
import { createGitlabClient } from '../scm/gitlab.ts'
import type { Action, Call } from './action.ts'
import { passing, refused, ScmAction, type ScmDeps } from './scm-action.ts'
import { mutationsOf, type Called } from './scm-graphql.ts'
import { UnreadableIntent, type ScmIntent } from './scm-intent.ts'
import { parametersOf, requiredText, text } from './scm-request.ts'

const MERGE = 'mergeRequestAccept'
/** Mutations that land or publish something, by their names; queries and all others pass. */
const LANDING = /\b(?:mergeRequestAccept|commitCreate|createBranch|projectSyncFork|releaseCreate)\b/
const LANDING_WORDS = /\/(?:merge|rebase)(?![\w/-])/gi

/** @param segments of the path, which ends with that of the GraphQL API */
export async function recogniseGraphql(call: Call, segments: readonly string[], deps: ScmDeps): Promise<Action> {
  const path = `/${segments.join('/')}`
  if (!mayLand(call)) return passing(`POST ${path}`)
  try {
    const merges = await mergesIn(call)
    const unpinned = call.route.scm.require_head && merges.some(({ head }) => head === null)
    if (unpinned) throw new UnreadableIntent('it does not name the head commit that it means (sha).')
    const prefix = `/${[...segments.slice(0, -1), 'v4'].join('/')}`
    const name = `POST ${path} ${merges.map(() => MERGE).join(' ')}`
    const intents = (): Promise<readonly ScmIntent[]> => Promise.resolve(merges)
    return new ScmAction(call, { platform: 'scm_b', createClient: createGitlabClient, name, prefix, intents }, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent) return refused(call, `POST ${path}`, error.message)
    throw error
  }
}

/** Rails takes a list of requests from a member `_json`, and another document from the `operations` of a form: then `query` is not what is done. */
const MEMBERS: ReadonlySet<string> = new Set([
  'query',
  'variables',
  'operationName',
  'private_token',
  'job_token',
  'access_token',
])

/** At least one. @throws UnreadableIntent where the request is, or may be, anything but merges */
async function mergesIn(call: Call): Promise<readonly Extract<ScmIntent, { readonly kind: 'merge_request' }>[]> {
  const parameters = await parametersOf(call)
  const stray = Object.keys(parameters).find((name) => !MEMBERS.has(name))
  if (stray !== undefined) throw new UnreadableIntent(`"${stray}" beside a GraphQL document is not read here.`)
  const called = await mutationsOf(parameters)
  if (called.length === 0 || called.some(({ name }) => name !== MERGE))
    throw new UnreadableIntent(
      'of what lands by GraphQL only merges are read (mergeRequestAccept, alone in its request); use the REST API for commits, branches, releases and comments that merge.',
    )
  return called.map(mergeOf)
}

function mergeOf({ input }: Called): Extract<ScmIntent, { readonly kind: 'merge_request' }> {
  const id = requiredText(input, 'iid')
  if (!/^[1-9][0-9]{0,9}$/.test(id)) throw new UnreadableIntent(`"${id}" is no number of a merge request.`)
  const project = requiredText(input, 'projectPath')
  return {
    kind: 'merge_request',
    repository: `/projects/${encodeURIComponent(project)}`,
    id,
    head: text(input, 'sha'),
  }
}

/** Whatever form a GraphQL request has (JSON, a list of them, a form, the query of the address), its plain text tells. */
function mayLand({ upstreamPath, body, headers }: Call): boolean {
  if (headers['content-encoding'] !== undefined) return true
  const [, query = ''] = /\?(.*)$/s.exec(upstreamPath) ?? []
  const texts = [query, body?.toString('utf8') ?? '']
  return texts
    .flatMap((source) => [source, percentDecoded(source)])
    .map(unescaped)
    .some((plain) => LANDING.test(plain) || (/\bmutation\b/.test(plain) && landsByWord(plain)))
}

/** In the source of a string such a word stands behind its quote or a line break, however they are escaped, and blanks. */
function landsByWord(plain: string): boolean {
  for (const { index } of plain.matchAll(LANDING_WORDS)) if (beginsLine(plain, index)) return true
  return false
}

/** Looks back over blanks and backslashes only: one expression for all of it would go over long blanks again and again. */
function beginsLine(plain: string, index: number): boolean {
  let start = index
  while (start > 0 && /[\s\\]/.test(plain.charAt(start - 1))) {
    start -= 1
    if (/[\n\r]/.test(plain.charAt(start))) return true
  }
  return start === 0 || /(?:"|\\[nr])$/i.test(plain.slice(Math.max(0, start - 2), start))
}

function percentDecoded(source: string): string {
  return source
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'))
}

function unescaped(source: string): string {
  return source.replaceAll(/\\u(?:([0-9a-f]{4})|\{0*([0-9a-f]{1,5})\})/gi, (_, four?: string, braced?: string) =>
    String.fromCodePoint(Number.parseInt(four ?? braced ?? '', 16)),
  )
}
