/**
 * What is shown at commits of the fake platforms: check runs, statuses and reports. Bodies are compared with GitHub's own API
 * description, and against the states and lengths that GitLab and Bitbucket document.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { at } from '../json.ts'
import type { ScmReply, ScmRoute } from './scm-server.ts'

/** One write, in the order received. */
export interface ShownReport {
  /** `check-run 1`, `status`, `report`, `annotations`. */
  readonly kind: string
  readonly commit: string
  readonly body: unknown
}

const require = createRequire(import.meta.url)
let described: unknown = null

/** @param operation path below the repository, as GitHub's description has it */
function asDescribed(method: 'post' | 'patch', operation: string, body: unknown): void {
  described ??= JSON.parse(
    readFileSync(require.resolve('@octokit/openapi/generated/api.github.com.deref.json'), 'utf8'),
  )
  const schema = at(
    described,
    'paths',
    `/repos/{owner}/{repo}${operation}`,
    method,
    'requestBody',
    'content',
    'application/json',
    'schema',
  )
  assert.ok(typeof schema === 'object' && schema !== null, `${method} ${operation} is described`)
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
  assert.ok(check(body), JSON.stringify(check.errors))
}

export function githubReports(root: string, shown: ShownReport[]): readonly ScmRoute[] {
  const commits = new Map<string, string>()
  return [
    [
      'POST',
      new RegExp(`${root}/check-runs$`),
      ({ body: text }): ScmReply => {
        const body: unknown = JSON.parse(text)
        asDescribed('post', '/check-runs', body)
        const id = String(commits.size + 1)
        const commit = String(at(body, 'head_sha'))
        commits.set(id, commit)
        shown.push({ kind: `check-run ${id}`, commit, body })
        return { status: 201, body: { id: Number(id) } }
      },
    ],
    [
      'PATCH',
      new RegExp(`${root}/check-runs/(\\d+)$`),
      ({ body: text }, id = ''): ScmReply => {
        const body: unknown = JSON.parse(text)
        asDescribed('patch', '/check-runs/{check_run_id}', body)
        const commit = commits.get(id)
        if (commit === undefined) return { status: 404, body: { message: 'Not Found' } }
        shown.push({ kind: `check-run ${id}`, commit, body })
        return { body: { id: Number(id) } }
      },
    ],
    [
      'POST',
      new RegExp(`${root}/statuses/([0-9a-f]+)$`),
      ({ body: text }, commit = ''): ScmReply => {
        const body: unknown = JSON.parse(text)
        asDescribed('post', '/statuses/{sha}', body)
        assert.ok(String(at(body, 'description')).length <= 140)
        shown.push({ kind: 'status', commit, body })
        return { status: 201, body: { state: at(body, 'state') } }
      },
    ],
  ]
}

const GITLAB_STATES = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped']

export function gitlabReports(root: string, shown: ShownReport[]): readonly ScmRoute[] {
  return [
    [
      'POST',
      new RegExp(`${root}/statuses/([0-9a-f]+)$`),
      ({ body: text }, commit = ''): ScmReply => {
        const body: unknown = JSON.parse(text)
        assert.ok(GITLAB_STATES.includes(String(at(body, 'state'))) && String(at(body, 'description')).length <= 255)
        const last = shown.findLast((one) => one.commit === commit && at(one.body, 'name') === at(body, 'name'))
        const state = at(body, 'state')
        if (last !== undefined && at(last.body, 'state') === state)
          return {
            status: 400,
            body: {
              message: `Cannot transition status via :enqueue from :${String(state)} (Reason(s): Status cannot transition)`,
            },
          }
        shown.push({ kind: 'status', commit, body })
        return { status: 201, body: { id: shown.length, status: state } }
      },
    ],
  ]
}

const isStatus = (body: unknown) =>
  ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'].includes(String(at(body, 'state'))) &&
  String(at(body, 'key')).length <= 40 &&
  /^https?:/.test(String(at(body, 'url')))
const isReport = (body: unknown) =>
  ['PASSED', 'FAILED', 'PENDING'].includes(String(at(body, 'result'))) &&
  ['SECURITY', 'COVERAGE', 'TEST', 'BUG'].includes(String(at(body, 'report_type'))) &&
  String(at(body, 'details')).length <= 2000
const isList = (body: unknown) =>
  Array.isArray(body) &&
  body.length <= 100 &&
  body.every((row) => ['VULNERABILITY', 'CODE_SMELL', 'BUG'].includes(String(at(row, 'annotation_type'))))

export function bitbucketReports(root: string, shown: ShownReport[]): readonly ScmRoute[] {
  const keep =
    (kind: string, isGood: (body: unknown) => boolean): ScmRoute[2] =>
    ({ body: text }, commit = ''): ScmReply => {
      const body: unknown = JSON.parse(text)
      assert.ok(isGood(body), text)
      shown.push({ kind, commit, body })
      return { body: { type: kind } }
    }
  return [
    ['POST', new RegExp(`${root}/commit/([0-9a-f]+)/statuses/build$`), keep('status', isStatus)],
    ['PUT', new RegExp(`${root}/commit/([0-9a-f]+)/reports/[\\w-]+$`), keep('report', isReport)],
    ['POST', new RegExp(`${root}/commit/([0-9a-f]+)/reports/[\\w-]+/annotations$`), keep('annotations', isList)],
  ]
}
