/** GitHub's GraphQL API through the proxy: mutations that merge, deploy or set something are judged; all others are forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at } from '../../json.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { AFTER, asked, BEFORE, scmScene } from '../../fakes/scm-proxy.ts'

const CHANGED = [['api/openapi.yaml', BEFORE, AFTER]]
const MERGE = '/repos/acme/pets/pulls/7/merge'
const mutation = (field: string, input: string) => `mutation { ${field}(input: ${input}) { clientMutationId } }`
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a merge by GraphQL is judged, by literals, variables, aliases and fragments alike', async (t) => {
  const scene = await scmScene(t, 'github')
  const forms = [
    { query: mutation('mergePullRequest', '{pullRequestId: "PR_7"}') },
    {
      query: 'mutation M($i: MergePullRequestInput!) { a: mergePullRequest(input: $i) { clientMutationId } }',
      variables: { i: { pullRequestId: 'PR_7' } },
    },
    {
      query:
        'mutation M($id: ID = "PR_7") { ...F } fragment F on Mutation { mergePullRequest(input: {pullRequestId: $id}) { clientMutationId } }',
    },
    {
      query:
        'query Q { viewer { login } } mutation M { enqueuePullRequest(input: {pullRequestId: "PR_7"}) { clientMutationId } }',
      operationName: 'M',
    },
  ]
  for (const form of forms) assert.equal((await scene.send('POST', '/graphql', form)).status, 200)
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    forms.map(() => ['github:acme/pets#7', CHANGED]),
  )
  assert.equal(scene.server.effects.length, forms.length)
})

test('other mutations by GraphQL that land something are judged too', async (t) => {
  const scene = await scmScene(t, 'github')
  scene.repository.tags.set('deployed', scene.repository.tip('main'))
  const branch = '{repositoryNameWithOwner: "acme/pets", branchName: "main"}'
  const changes = `{additions: [{path: "api/openapi.yaml", contents: "${base64(AFTER)}"}]}`
  for (const query of [
    mutation('mergeBranch', '{repositoryId: "R_4711", base: "main", head: "feature"}'),
    mutation('updateRef', `{refId: "REF_main", oid: "${scene.repository.tip('feature')}"}`),
    mutation(
      'createCommitOnBranch',
      `{branch: ${branch}, fileChanges: ${changes}, message: {headline: "x"}, expectedHeadOid: "x"}`,
    ),
    mutation('createDeployment', '{repositoryId: "R_4711", refId: "REF_feature"}'),
  ])
    assert.equal((await scene.send('POST', '/graphql', { query })).status, 200)
  assert.deepEqual(
    asked(scene).map(({ operation, target, artifacts }) => [operation, target, artifacts]),
    [
      ['merge', 'github:acme/pets@main', CHANGED],
      ['merge', 'github:acme/pets@main', CHANGED],
      ['merge', 'github:acme/pets@main', CHANGED],
      ['deploy', 'github:acme/pets/production', CHANGED],
    ],
  )
})

test('queries and other mutations by GraphQL pass', async (t) => {
  const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
  for (const query of ['{ viewer { login } }', mutation('addComment', '{subjectId: "x", body: "mergePullRequest"}')])
    assert.equal((await scene.send('POST', '/graphql', { query })).status, 200)
  assert.deepEqual(asked(scene), [])
})

for (const [name, body] of [
  ['a document that cannot be read', { query: 'mutation { mergePullRequest(' }],
  [
    'two operations of which none is named',
    { query: 'mutation A { a } mutation B { mergePullRequest(input: {}) { x } }' },
  ],
  ['a fragment that is not there', { query: 'mutation { ...F }' }],
  ['no document at all', { id: 'persisted' }],
  ['a mutation that is not read', { query: mutation('updateRefs', '{repositoryId: "x"}') }],
  ['auto-merge, by default', { query: mutation('enablePullRequestAutoMerge', '{pullRequestId: "PR_7"}') }],
] as const) {
  test(`GraphQL: ${name} is refused`, async (t) => {
    const scene = await scmScene(t, 'github')
    const answer = await scene.send('POST', '/graphql', body)
    assert.equal(answer.status, 403)
    assert.equal(typeof at(await answer.json(), 'message'), 'string')
    assert.deepEqual(scene.server.effects, [])
  })
}

test('auto-merge is judged where the route says so', async (t) => {
  const scene = await scmScene(t, 'github', { scm: { auto_merge: 'judge' } })
  await scene.send('POST', '/graphql', { query: mutation('enablePullRequestAutoMerge', '{pullRequestId: "PR_7"}') })
  assert.deepEqual(
    asked(scene).map(({ target }) => target),
    ['github:acme/pets#7'],
  )
})

test('an Enterprise Server is asked under its own prefix', async (t) => {
  const scene = await scmScene(t, 'github', { github: { prefix: '/api/v3' } })
  await scene.send('PUT', `/api/v3${MERGE}`, {})
  await scene.send('POST', '/api/graphql', { query: mutation('mergePullRequest', '{pullRequestId: "PR_7"}') })
  assert.deepEqual(
    asked(scene).map(({ artifacts }) => artifacts),
    [CHANGED, CHANGED],
  )
})

test('several merges in one request are judged each, and the strictest decides', async (t) => {
  const scene = await scmScene(t, 'github', {
    decide: ({ context }) => (context.pull_request === '8' ? 'BLOCK' : 'ALLOW'),
  })
  scene.repository.commit('worse', { 'api/openapi.yaml': openapi() }, 'main')
  scene.repository.open(8, 'worse')
  const query =
    'mutation { a: mergePullRequest(input: {pullRequestId: "PR_7"}) { x } b: mergePullRequest(input: {pullRequestId: "PR_8"}) { x } }'
  assert.equal((await scene.send('POST', '/graphql', { query })).status, 403)
  assert.deepEqual(
    asked(scene).map(({ pull }) => pull),
    ['7', '8'],
  )
  assert.deepEqual(scene.server.effects, [])
})
