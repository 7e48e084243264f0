/** A whole gateway with the real engine between a platform and the clients that people use for it: octokit and curl. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Octokit } from '@octokit/rest'
import { startGithub } from '../../fakes/github-server.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { FakeRepository } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../../fakes/scm-server.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly repository: FakeRepository
  readonly server: ScmServer
  readonly gateway: TestGateway
  readonly octokit: Octokit
}

const PULL = { owner: 'acme', repo: 'pets' }

async function scene(t: TestContext, scm: object = {}, rest: object = {}): Promise<Scene> {
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': openapi('/pets', '/toys'), 'README.md': 'pets' })
  repository.commit('breaking', { 'openapi.yaml': openapi('/pets') }, 'main')
  repository.commit('adding', { 'openapi.yaml': openapi('/pets', '/toys', '/food') }, 'main')
  repository.open(1, 'breaking')
  repository.open(2, 'adding')
  const server = await startGithub(repository)
  t.after(() => server.close())
  const route = { name: 'github', match: { path: '/' }, upstream: server.origin, protocol: 'github', scm, ...rest }
  const gateway = await startTestGateway(t, { routes: [route], scm: { github: { api: server.origin } } })
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const octokit = new Octokit({ auth: SCM_TOKEN, baseUrl: gateway.addresses.proxy, log: quiet })
  return { repository, server, gateway, octokit }
}

test('octokit merges additions to a contract, and gets the reason when a merge breaks one', async (t) => {
  const { octokit, server } = await scene(t)
  const merged = await octokit.pulls.merge({ ...PULL, pull_number: 2 })
  assert.equal(merged.data.merged, true)
  assert.equal(merged.headers['preflight-action'], 'CONTINUE')
  await assert.rejects(octokit.pulls.merge({ ...PULL, pull_number: 1 }), (error: unknown) => {
    assert.ok(error instanceof Error)
    assert.equal(at(error, 'status'), 403)
    assert.match(error.message, /Preflight stopped merge acme\/pets#1.*BLOCK: 1 breaking/)
    const envelope = at(error, 'response', 'data', 'decision_result')
    assert.equal(at(envelope, 'operation'), 'merge')
    assert.equal(at(envelope, 'pull_request'), '1')
    assert.equal(at(envelope, 'derivation', 'source'), 'scm_a_compare')
    assert.equal(at(envelope, 'completeness_mode'), 'UNBOUND')
    return true
  })
  assert.deepEqual(server.effects, ['merge 2'])
})

test('octokit reads, comments and asks by GraphQL as if there were no gateway', async (t) => {
  const { octokit } = await scene(t)
  assert.equal((await octokit.pulls.get({ ...PULL, pull_number: 1 })).data.number, 1)
  assert.equal((await octokit.issues.createComment({ ...PULL, issue_number: 1, body: 'looks good' })).status, 200)
  const asked = await octokit.graphql('query($id: ID!) { node(id: $id) { id } }', { id: 'PR_1' })
  assert.equal(at(asked, 'node', 'number'), 1)
})

test('a mutation by octokit is judged, and its refusal has the message', async (t) => {
  const { octokit, server } = await scene(t)
  const mutation = 'mutation($id: ID!) { mergePullRequest(input: {pullRequestId: $id}) { clientMutationId } }'
  await octokit.graphql(mutation, { id: 'PR_2' })
  await assert.rejects(octokit.graphql(mutation, { id: 'PR_1' }), /Preflight stopped merge acme\/pets#1/)
  assert.deepEqual(server.effects, ['graphql mutation'])
})

test('curl is answered JSON with a message', async (t) => {
  const { gateway } = await scene(t)
  const url = `${gateway.addresses.proxy}/repos/acme/pets/pulls/1/merge`
  const { stdout } = await promisify(execFile)('curl', [
    '-s',
    '-X',
    'PUT',
    '-H',
    `Authorization: token ${SCM_TOKEN}`,
    url,
  ])
  const body: unknown = JSON.parse(stdout)
  assert.deepEqual([at(body, 'error'), at(body, 'decision_result', 'decision')], ['PREFLIGHT_STOP', 'BLOCK'])
  assert.match(String(at(body, 'message')), /^Preflight stopped merge/)
})

function preflight(one: Scene, body: object): Promise<unknown> {
  return ask(one, '/api/v1/preflight', { preflight_mode: 'authorize', ...body })
}

async function ask({ gateway }: Scene, path: string, body: object): Promise<unknown> {
  const answer = await fetch(gateway.addresses.api + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', 'x-scm-token': SCM_TOKEN },
    body: JSON.stringify(body),
  })
  return answer.json()
}

test('a push to a protected branch goes on with a receipt for exactly that push', async (t) => {
  const one = await scene(t, { push: 'receipt' })
  const line = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main\0report-status`
  const body = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK`
  const artifacts = [{ id: 'openapi.yaml', type: 'openapi', before: openapi('/a'), after: openapi('/a', '/b') }]
  const place = { repository: 'acme/pets', branch: 'main' }
  const receiptFor = async (operation: string) => {
    const context = { operation, target_id: 'github:acme/pets@main', ...place }
    return String(at(await preflight(one, { artifacts, context }), 'chain_receipt'))
  }
  const push = (receipt: string) =>
    fetch(`${one.gateway.addresses.proxy}/acme/pets.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SCM_TOKEN}`, 'preflight-receipt': receipt },
      body,
    })
  const refused = await push(await receiptFor('merge'))
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /push/)
  // The fake platform has no git, and says so itself: the push got there.
  assert.equal((await push(await receiptFor('push'))).status, 404)
})

test('a receipt of a derived preflight stands for the merge that it is about, and for no other', async (t) => {
  const one = await scene(t, {}, { receipts: { accept: true } })
  const { octokit, repository, server } = one
  const address = { platform: 'scm_a', repository: 'acme/pets' }
  const challenge = await ask(one, '/api/v1/bindings/challenge', address)
  repository.commit('main', { '.preflight-bind': String(at(challenge, 'marker_content')) })
  await ask(one, '/api/v1/bindings/prove', { challenge_id: at(challenge, 'challenge_id') })
  const context = {
    operation: 'merge',
    target_id: 'github:acme/pets#2',
    repository: 'acme/pets',
    branch: 'main',
    pull_request: '2',
    base: 'main',
    head: 'adding',
  }
  const decision = await preflight(one, { derivation: 'server', context })
  assert.equal(at(decision, 'decision_result', 'completeness_mode'), 'SERVER_DERIVED')
  const headers = { 'preflight-receipt': String(at(decision, 'chain_receipt')) }
  await assert.rejects(octokit.pulls.merge({ ...PULL, pull_number: 1, headers }), /403|Preflight/)
  const merged = await octokit.pulls.merge({ ...PULL, pull_number: 2, headers })
  assert.equal(merged.headers['preflight-decision-id'], at(decision, 'decision_result', 'decision_id'))
  assert.deepEqual(server.effects, ['merge 2'])
})
