/** Clients of GitHub, GitLab and Bitbucket that people merge with: what they do when a merge goes on, and what they show when it does not. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import { startBitbucket } from '../fakes/bitbucket-server.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { startGithub } from '../fakes/github-server.ts'
import { startGitlab } from '../fakes/gitlab-server.ts'
import { hasProgram, runProgram, type RanProgram } from '../fakes/programs.ts'
import { openapi } from '../fakes/scm-client.ts'
import { FakeRepository } from '../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../fakes/scm-server.ts'
import { at, listAt, textAt } from '../json.ts'

/** 1 breaks the contract, 2 adds to it. */
function repository(): FakeRepository {
  const made = new FakeRepository('acme/pets', { 'openapi.yaml': openapi('/pets', '/toys'), 'README.md': 'pets' })
  made.commit('breaking', { 'openapi.yaml': openapi('/pets') }, 'main')
  made.commit('adding', { 'openapi.yaml': openapi('/pets', '/toys', '/food') }, 'main')
  made.open(1, 'breaking')
  made.open(2, 'adding')
  return made
}

interface Scene {
  readonly server: ScmServer
  readonly gateway: TestGateway
}

async function scene(
  t: TestContext,
  start: (made: FakeRepository) => Promise<ScmServer>,
  route: object,
  config: object = {},
): Promise<Scene> {
  const server = await start(repository())
  t.after(() => server.close())
  const gateway = await startTestGateway(t, { routes: [{ name: 'scm', upstream: server.origin, ...route }], ...config })
  return { server, gateway }
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => assert.fail('the merge went through'),
    (error: unknown) => {
      assert.ok(error instanceof Error)
      return error
    },
  )
}

const STOPPED = /^Preflight stopped merge acme\/pets#1: BLOCK: 1 breaking: the path and its operation were removed/

test('gitbeaker merges what adds to a contract, and throws the code when a merge breaks one', async (t) => {
  const { server, gateway } = await scene(t, startGitlab, { match: { path: '/' }, protocol: 'gitlab' })
  const gitlab = new Gitlab({ host: gateway.addresses.proxy, token: SCM_TOKEN })
  assert.equal((await gitlab.MergeRequests.merge('acme/pets', 2)).state, 'merged')
  const { message } = await failureOf(gitlab.MergeRequests.merge('acme/pets', 1))
  assert.equal(message, 'PREFLIGHT_STOP')
  assert.deepEqual(server.effects, ['merge 2'])
})

/** The package brings its sources along, which our compiler options refuse; so what is used of it is said here. */
interface BitbucketClient {
  readonly pullrequests: {
    merge(params: {
      readonly workspace: string
      readonly repo_slug: string
      readonly pull_request_id: number
    }): Promise<{ readonly status: number }>
  }
}
interface BitbucketModule {
  readonly Bitbucket: new (options: {
    readonly baseUrl: string
    readonly auth: { readonly token: string }
    readonly notice: boolean
  }) => BitbucketClient
}

test('the Bitbucket client merges, and its error holds the code and the reason', async (t) => {
  const { server, gateway } = await scene(t, startBitbucket, { match: { path: '/' }, protocol: 'bitbucket' })
  const { Bitbucket }: BitbucketModule = createRequire(import.meta.url)('bitbucket')
  const baseUrl = `${gateway.addresses.proxy}/2.0`
  const { pullrequests } = new Bitbucket({ baseUrl, auth: { token: SCM_TOKEN }, notice: false })
  const place = { workspace: 'acme', repo_slug: 'pets' }
  assert.equal((await pullrequests.merge({ ...place, pull_request_id: 2 })).status, 200)
  const failure = await failureOf(pullrequests.merge({ ...place, pull_request_id: 1 }))
  assert.equal(at(failure, 'status'), 403)
  assert.match(textAt(failure, 'error', 'message'), STOPPED)
  assert.equal(at(failure, 'error', 'error'), 'PREFLIGHT_STOP')
  assert.deepEqual(server.effects, ['POST pullrequests/2/merge'])
})

interface GithubScene extends Scene {
  /** GitHub's command line, configured with proxy settings and the certificate of the gateway. */
  readonly gh: (...argv: readonly string[]) => Promise<RanProgram>
}

function startEnterprise(made: FakeRepository): Promise<ScmServer> {
  return startGithub(made, { prefix: '/api/v3' })
}

async function githubScene(t: TestContext, config: object = {}): Promise<GithubScene> {
  const made = await scene(t, startEnterprise, { match: { host: 'github.example' }, protocol: 'github' }, config)
  const { api, proxy } = made.gateway.addresses
  const directory = mkdtempSync(join(tmpdir(), 'preflight-gh-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const bundle = join(directory, 'ca.pem')
  writeFileSync(bundle, await (await fetch(`${api}/.well-known/preflight-ca.pem`)).text())
  const environment = {
    HOME: directory,
    // It keeps answers there from one run to the next.
    TMPDIR: directory,
    GH_HOST: 'github.example',
    GH_ENTERPRISE_TOKEN: SCM_TOKEN,
    HTTPS_PROXY: proxy,
    SSL_CERT_FILE: bundle,
  }
  return { ...made, gh: (...argv) => runProgram('gh', argv, environment) }
}

test('gh api reads and merges through CONNECT, and prints why a merge is stopped', async (t) => {
  if (!hasProgram(t, 'gh')) return
  const { gh, server } = await githubScene(t)
  const read = await gh('api', 'repos/acme/pets/pulls/1', '--jq', '.head.ref')
  assert.equal(read.stdout, 'breaking\n', read.stderr)
  const merged = await gh('api', '-X', 'PUT', 'repos/acme/pets/pulls/2/merge', '--jq', '.merged')
  assert.equal(merged.stdout, 'true\n', merged.stderr)
  const stopped = await gh('api', '-X', 'PUT', 'repos/acme/pets/pulls/1/merge')
  assert.equal(stopped.code, 1)
  assert.match(stopped.stderr, /^gh: Preflight stopped merge acme\/pets#1: BLOCK: 1 breaking: .* \(HTTP 403\)\n$/)
  assert.deepEqual(server.effects, ['merge 2'])
})

test('gh pr merge, which is a mutation of GraphQL, is judged on the same change, and told why it is stopped', async (t) => {
  if (!hasProgram(t, 'gh')) return
  const { gh, server } = await githubScene(t)
  const merge = (id: number) => gh('pr', 'merge', String(id), '--merge', '-R', 'github.example/acme/pets')
  const merged = await merge(2)
  assert.equal(merged.code, 0, merged.stderr)
  const stopped = await merge(1)
  assert.equal(stopped.code, 1)
  assert.match(stopped.stderr, /403 Forbidden.*Preflight stopped merge acme\/pets#1: BLOCK: 1 breaking/)
  assert.deepEqual(server.effects, ['graphql mutation'])
})

function policyRequest(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-policy-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'pack.yaml')
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  const pack = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'asks' }, rules }
  writeFileSync(file, JSON.stringify(pack))
  return file
}

test('a merge by gh that needs an approval says so, and goes on after it', async (t) => {
  if (!hasProgram(t, 'gh')) return
  const { gh, server, gateway } = await githubScene(t, {
    policy: policyRequest(t),
    monitoring: { sinks: [{ type: 'log' }] },
  })
  const merge = () => gh('api', '-X', 'PUT', 'repos/acme/pets/pulls/1/merge')
  const held = await merge()
  assert.match(held.stderr, /^gh: Preflight holds merge acme\/pets#1: REQUIRE_APPROVAL: .* \(HTTP 428\)\n$/)
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const approvals = `${gateway.addresses.api}/api/v1/approvals`
  const listed: unknown = await (await fetch(`${approvals}?state=pending`, { headers })).json()
  const id = textAt(listAt(listed, 'approvals')[0], 'id')
  const body = JSON.stringify({ comment: 'seen' })
  assert.equal((await fetch(`${approvals}/${id}/grant`, { method: 'POST', headers, body })).status, 200)
  const merged = await merge()
  assert.equal(merged.code, 0, merged.stderr)
  assert.deepEqual(server.effects, ['merge 1'])
})
