/** Calls to GitLab through the proxy: calls that merge, release or publish a contract are judged; others are forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AFTER, asked, BEFORE, scmScene } from '../../fakes/scm-proxy.ts'
import { SCM_TOKEN } from '../../fakes/scm-server.ts'

const CHANGED = [['api/openapi.yaml', BEFORE, AFTER]]
const PROJECT = '/api/v4/projects/4711'
const MERGE = `${PROJECT}/merge_requests/7/merge`

const FORMS: readonly (readonly [
  name: string,
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['without a body', 'PUT', MERGE],
  ['by JSON', 'PUT', MERGE, { squash: true }],
  ['by form', 'PUT', MERGE, 'squash=true', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['by query', 'PUT', `${MERGE}?squash=true&merge_when_pipeline_succeeds=true`],
  ['with the path of the project', 'PUT', '/api/v4/projects/acme%2Fpets/merge_requests/7/merge'],
  ['with a format behind the path', 'PUT', `${MERGE}.json`],
  [
    'by POST with another method in the form',
    'POST',
    MERGE,
    '_method=PUT',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  ['by a merge train', 'POST', `${PROJECT}/merge_trains/merge_requests/7`, {}],
]

for (const [name, method, path, body, headers] of FORMS) {
  test(`a merge ${name} is judged by what it changes of contracts`, async (t) => {
    const scene = await scmScene(t, 'gitlab')
    await scene.send(method, path, body, headers)
    assert.deepEqual(asked(scene), [
      {
        operation: 'merge',
        target: 'gitlab:acme/pets#7',
        repository: 'acme/pets',
        branch: 'main',
        pull: '7',
        artifacts: CHANGED,
        derivation: {
          platform: 'scm_b',
          baseSha: scene.repository.tip('main'),
          headSha: scene.repository.tip('feature'),
        },
      },
    ])
  })
}

test('a stopped merge is not made', async (t) => {
  const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
  assert.equal((await scene.send('PUT', MERGE, {})).status, 403)
  assert.deepEqual(scene.server.effects, [])
})

test('a token in a header of its own, or in the query, asks the platform as it asks itself', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  const none = { authorization: '' }
  await scene.send('PUT', MERGE, {}, { ...none, 'private-token': SCM_TOKEN })
  await scene.send('PUT', `${MERGE}?private_token=${SCM_TOKEN}`, {}, none)
  assert.equal(asked(scene).length, 2)
})

test('commits and files on a protected branch are judged, on another one they pass', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  const file = `${PROJECT}/repository/files/api%2Fopenapi.yaml`
  const update = { action: 'update', file_path: 'api/openapi.yaml', content: AFTER }
  await scene.send('PUT', file, { branch: 'feature', content: AFTER, commit_message: 'x' })
  assert.deepEqual(asked(scene), [])
  await scene.send('PUT', file, { branch: 'main', content: AFTER, commit_message: 'x' })
  await scene.send('DELETE', file, { branch: 'main', commit_message: 'x' })
  await scene.send('POST', `${PROJECT}/repository/commits`, { branch: 'main', commit_message: 'x', actions: [update] })
  await scene.send('POST', `${PROJECT}/repository/commits`, {
    branch: 'main',
    commit_message: 'x',
    actions: [{ action: 'move', previous_path: 'api/openapi.yaml', file_path: 'v2.yaml' }],
  })
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    [
      ['gitlab:acme/pets@main', CHANGED],
      ['gitlab:acme/pets@main', [['api/openapi.yaml', BEFORE, '']]],
      ['gitlab:acme/pets@main', CHANGED],
      [
        'gitlab:acme/pets@main',
        [
          ['api/openapi.yaml', BEFORE, ''],
          ['v2.yaml', '', BEFORE],
        ],
      ],
    ],
  )
})

test('deployments and releases are judged from what came before', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  const { repository } = scene
  for (const tag of ['deployed', 'v1']) repository.tags.set(tag, repository.tip('main'))
  const sha = repository.tip('feature')
  await scene.send('POST', `${PROJECT}/deployments`, { environment: 'prod', sha, ref: 'feature', status: 'running' })
  await scene.send('POST', `${PROJECT}/releases`, { tag_name: 'v2', ref: 'feature' })
  assert.deepEqual(
    asked(scene).map(({ operation, target, artifacts }) => [operation, target, artifacts]),
    [
      ['deploy', 'gitlab:acme/pets/prod', CHANGED],
      ['publish', 'gitlab:acme/pets/v2', CHANGED],
    ],
  )
})

test('a new protected branch is judged by what it has beyond the default one', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  await scene.send('POST', `${PROJECT}/repository/branches?branch=feature2&ref=feature`)
  await scene.send('POST', `${PROJECT}/repository/branches?branch=release/2&ref=feature`)
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    [['gitlab:acme/pets@release/2', CHANGED]],
  )
})

const REFUSED: readonly (readonly [name: string, method: string, path: string, body: unknown])[] = [
  [
    'a cherry-pick onto a protected branch',
    'POST',
    `${PROJECT}/repository/commits/abc/cherry_pick`,
    { branch: 'main' },
  ],
  [
    'an unknown action',
    'POST',
    `${PROJECT}/repository/commits`,
    { branch: 'main', actions: [{ action: 'graft', file_path: 'a' }] },
  ],
  ['a merge by GraphQL', 'POST', '/api/graphql', { query: 'mutation { mergeRequestAccept(input: {}) { errors } }' }],
]

for (const [name, method, path, body] of REFUSED) {
  test(`${name} is refused`, async (t) => {
    const scene = await scmScene(t, 'gitlab')
    assert.equal((await scene.send(method, path, body)).status, 403)
    assert.deepEqual(scene.server.effects, [])
  })
}

const PASSING: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', `${PROJECT}/merge_requests/7`],
  ['POST', `${PROJECT}/merge_requests`, { title: 'x' }],
  ['PUT', `${PROJECT}/merge_requests/7`, { title: 'x' }],
  ['PUT', `${PROJECT}/merge_requests/7/rebase`, {}],
  ['POST', '/api/graphql', { query: '{ currentUser { name } }' }],
]

for (const [method, path, body] of PASSING) {
  test(`${method} ${path} passes unjudged`, async (t) => {
    const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
    assert.equal((await scene.send(method, path, body)).status, 200)
    assert.deepEqual(asked(scene), [])
  })
}

const MUTATION = `mutation Accept($project: ID!, $iid: String!, $sha: String!) {
  ...Merge
}
fragment Merge on Mutation {
  done: mergeRequestAccept(input: { projectPath: $project, iid: $iid, sha: $sha, commitMessage: "ends\\n/merge" }) { errors }
}`

test('a merge by GraphQL is judged as the merge that it is, and only for the head that it names', async (t) => {
  const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
  const sha = scene.repository.find('feature')?.id ?? ''
  const variables = { project: 'acme/pets', iid: '7', sha }
  const stopped = await scene.send('POST', '/api/graphql', { query: MUTATION, operationName: 'Accept', variables })
  assert.equal(stopped.status, 403)
  assert.match(await stopped.text(), /Preflight stopped merge acme\/pets#7/)
  assert.deepEqual(
    asked(scene).map(({ operation, target, pull }) => [operation, target, pull]),
    [['merge', 'gitlab:acme/pets#7', '7']],
  )
  const other = await scene.send('POST', '/api/graphql', {
    query: MUTATION,
    variables: { ...variables, sha: 'f'.repeat(40) },
  })
  assert.equal(other.status, 503)
  assert.deepEqual(scene.server.effects, [])
})

test('a merge by GraphQL that may go on goes on as it came; several are judged each', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  scene.repository.open(8, 'feature')
  const accept = (iid: number) =>
    `m${iid}: mergeRequestAccept(input: { projectPath: "acme/pets", iid: "${iid}", sha: "${scene.repository.find('feature')?.id}" }) { errors }`
  const answer = await scene.send('POST', '/api/graphql', { query: `mutation { ${accept(7)} ${accept(8)} }` })
  assert.equal(answer.status, 200)
  assert.deepEqual(
    asked(scene).map(({ target }) => target),
    ['gitlab:acme/pets#7', 'gitlab:acme/pets#8'],
  )
  assert.deepEqual(scene.server.effects, ['graphql mutation'])
})

test('a merge by GraphQL names its head where the route asks for it', async (t) => {
  const scene = await scmScene(t, 'gitlab', { scm: { require_head: true } })
  const query = 'mutation { mergeRequestAccept(input: { projectPath: "acme/pets", iid: "7" }) { errors } }'
  const refused = await scene.send('POST', '/api/graphql', { query })
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /does not name its head commit/)
})
