/** The pipeline that a command runs in, from its environment: which commits it compares, and where it may comment. */
import { recordIn, textIn } from '../json/unchecked-json.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { isJsonObject } from '../json/strict-json.ts'

type CommitState = 'success' | 'failure'

export interface PipelinePlace {
  readonly name: 'github' | 'gitlab' | 'bitbucket' | 'none'
  readonly repository: string | null
  readonly branch: string | null
  readonly pullRequest: string | null
  /** Null: it must be named. */
  readonly base: string | null
  readonly head: string
  /** Null: there is no pull request, or no token. */
  readonly forum: PipelineForum | null
}

/** What is written to the platform. */
interface PipelineForum {
  /** One comment of this command, made once and then updated. */
  comment(text: string): Promise<void>
  status(state: CommitState, description: string): Promise<void>
}

/** By this a later run finds its comment. */
export const MARKER = '<!-- preflight: contract changes -->'
const STATUS_NAME = 'preflight/contracts'

export function pipelinePlace(environment: Environment): PipelinePlace {
  const named = (name: string): string | null => variable(environment, name)
  if (named('GITHUB_ACTIONS') !== null) return githubPlace(named)
  if (named('GITLAB_CI') !== null) return gitlabPlace(named)
  if (named('BITBUCKET_BUILD_NUMBER') !== null) return bitbucketPlace(named)
  return { name: 'none', repository: null, branch: null, pullRequest: null, base: null, head: 'HEAD', forum: null }
}

type VariableReader = (name: string) => string | null

function githubPlace(named: VariableReader): PipelinePlace {
  const file = named('GITHUB_EVENT_PATH')
  const event: unknown = file === null ? null : JSON.parse(readRegularFile(file, 'utf8'))
  const pull = recordIn(recordIn(event)['pull_request'])
  const [base, head] = [pipelineSide(pull['base']), pipelineSide(pull['head'])]
  const repository = named('GITHUB_REPOSITORY')
  const number = typeof pull['number'] === 'number' ? String(pull['number']) : null
  const token = named('GITHUB_TOKEN')
  const api = `${named('GITHUB_API_URL') ?? 'https://api.github.com'}/repos/${repository ?? ''}`
  const commit = head.sha ?? named('GITHUB_SHA') ?? 'HEAD'
  return {
    name: 'github',
    repository,
    branch: head.ref ?? named('GITHUB_HEAD_REF') ?? named('GITHUB_REF_NAME'),
    pullRequest: number,
    base: base.sha ?? (named('GITHUB_BASE_REF') === null ? null : `origin/${named('GITHUB_BASE_REF') ?? ''}`),
    head: commit,
    forum:
      token === null || repository === null
        ? null
        : forumOf({
            headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
            comments: number === null ? null : `${api}/issues/${number}/comments`,
            one: (id) => `${api}/issues/comments/${id}`,
            updateBy: 'PATCH',
            body: (text) => ({ body: text }),
            textOf: (row) => row['body'],
            status: (state, description) => ({
              url: `${api}/statuses/${commit}`,
              body: { state, description, context: STATUS_NAME },
            }),
          }),
  }
}

function pipelineSide(value: unknown): { readonly sha: string | null; readonly ref: string | null } {
  const { sha, ref } = recordIn(value)
  return { sha: textIn(sha), ref: textIn(ref) }
}

function gitlabPlace(named: VariableReader): PipelinePlace {
  const iid = named('CI_MERGE_REQUEST_IID')
  const token = named('GITLAB_TOKEN')
  const project = `${named('CI_API_V4_URL') ?? 'https://gitlab.com/api/v4'}/projects/${named('CI_PROJECT_ID') ?? ''}`
  const notes = `${project}/merge_requests/${iid ?? ''}/notes`
  const commit = named('CI_MERGE_REQUEST_SOURCE_BRANCH_SHA') ?? named('CI_COMMIT_SHA') ?? 'HEAD'
  const target = named('CI_MERGE_REQUEST_TARGET_BRANCH_NAME')
  return {
    name: 'gitlab',
    repository: named('CI_PROJECT_PATH'),
    branch: named('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME') ?? named('CI_COMMIT_REF_NAME'),
    pullRequest: iid,
    base: named('CI_MERGE_REQUEST_DIFF_BASE_SHA') ?? (target === null ? null : `origin/${target}`),
    head: commit,
    forum:
      token === null
        ? null
        : forumOf({
            headers: { 'private-token': token },
            comments: iid === null ? null : notes,
            one: (id) => `${notes}/${id}`,
            updateBy: 'PUT',
            body: (text) => ({ body: text }),
            textOf: (row) => row['body'],
            status: (state, description) => ({
              url: `${project}/statuses/${commit}`,
              body: { state: state === 'failure' ? 'failed' : state, description, name: STATUS_NAME },
            }),
          }),
  }
}

function bitbucketPlace(named: VariableReader): PipelinePlace {
  const repository = named('BITBUCKET_REPO_FULL_NAME')
  const id = named('BITBUCKET_PR_ID')
  const token = named('BITBUCKET_TOKEN')
  const api = `${named('BITBUCKET_API_URL') ?? 'https://api.bitbucket.org/2.0'}/repositories/${repository ?? ''}`
  const comments = `${api}/pullrequests/${id ?? ''}/comments`
  const commit = named('BITBUCKET_COMMIT') ?? 'HEAD'
  const target = named('BITBUCKET_PR_DESTINATION_BRANCH')
  return {
    name: 'bitbucket',
    repository,
    branch: named('BITBUCKET_BRANCH'),
    pullRequest: id,
    base: named('BITBUCKET_PR_DESTINATION_COMMIT') ?? (target === null ? null : `origin/${target}`),
    head: commit,
    forum:
      token === null
        ? null
        : forumOf({
            headers: { authorization: `Bearer ${token}` },
            comments: id === null ? null : comments,
            one: (comment) => `${comments}/${comment}`,
            updateBy: 'PUT',
            body: (text) => ({ content: { raw: text } }),
            textOf: (row) => (isJsonObject(row['content']) ? row['content']['raw'] : undefined),
            status: (state, description) => ({
              url: `${api}/commit/${commit}/statuses/build`,
              body: {
                state: state === 'failure' ? 'FAILED' : 'SUCCESSFUL',
                description,
                key: STATUS_NAME,
                url: `https://bitbucket.org/${repository ?? ''}`,
              },
            }),
          }),
  }
}

/** How a platform takes comments and statuses. */
interface ForumForm {
  readonly headers: Readonly<Record<string, string>>
  /** Null: there is no pull request to comment on. */
  readonly comments: string | null
  readonly one: (id: string) => string
  readonly updateBy: 'PATCH' | 'PUT'
  readonly body: (text: string) => object
  readonly textOf: (row: Readonly<Record<string, unknown>>) => unknown
  readonly status: (state: CommitState, description: string) => { readonly url: string; readonly body: object }
}

const PAGE = 100
const MAX_PAGES = 20

function forumOf(form: ForumForm): PipelineForum {
  const { headers, comments, one, updateBy, body, textOf, status } = form
  const send = async (method: string, url: string, value?: object): Promise<unknown> => {
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'preflight-gateway' },
      ...(value !== undefined && { body: JSON.stringify(value) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}: ${text.slice(0, 200)}`)
    return text === '' ? null : JSON.parse(text)
  }
  const ownComment = async (list: string): Promise<string | null> => {
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const answer = await send('GET', `${list}?per_page=${PAGE}&pagelen=${PAGE}&page=${page}`)
      const listed: unknown = isJsonObject(answer) ? answer['values'] : answer
      const rows: readonly unknown[] = Array.isArray(listed) ? listed : []
      const own = rows.filter(isJsonObject).find((row) => String(textOf(row)).startsWith(MARKER))
      if (own !== undefined) return String(own['id'])
      if (rows.length < PAGE) return null
    }
    return null
  }
  return {
    async comment(text) {
      if (comments === null) return
      const id = await ownComment(comments)
      await (id === null ? send('POST', comments, body(text)) : send(updateBy, one(id), body(text)))
    },
    async status(state, description) {
      const { url, body: value } = status(state, description.slice(0, 140))
      await send('POST', url, value)
    },
  }
}
