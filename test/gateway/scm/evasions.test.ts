/** Requests that are written so that the gateway might read them as one thing and a source-control platform as another: none lands unjudged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AFTER, asked, BEFORE, scmScene } from '../../fakes/scm-proxy.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

type Attempt = readonly [
  name: string,
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
]

function refusedOn(platform: Parameters<typeof scmScene>[1], attempts: readonly Attempt[]): void {
  for (const [name, method, path, body, headers] of attempts) {
    test(`${platform}: ${name} is refused`, async (t) => {
      const scene = await scmScene(t, platform)
      const answer = await scene.send(method, path, body, headers)
      assert.equal(answer.status, 403)
      assert.equal(answer.headers.get('preflight-action'), 'STOP')
      assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
    })

    test(`${platform}: ${name} goes on where the route observes, and is counted and told`, async (t) => {
      const scene = await scmScene(t, platform, { mode: 'observe' })
      const answer = await scene.send(method, path, body, headers)
      assert.notEqual(answer.headers.get('preflight-action'), 'STOP')
      assert.equal(scene.server.requests.at(-1)?.method, method)
      assert.match(await scene.proxy.metrics.text(), /preflight_observed_calls_total\{route="scm",would="stopped"\} 1/)
      assert.match(scene.proxy.log.join(''), /call.would_be_refused/)
    })
  }
}

const PROJECT = '/api/v4/projects/4711'
const REQUEST = `${PROJECT}/merge_requests/7`
const ACCEPT = 'mutation { mergeRequestAccept(input: {}) { errors } }'
const MERGE_7 = 'mutation { mergeRequestAccept(input: { projectPath: "acme/pets", iid: "7", sha: "x" }) { errors } }'
const noteOf = (body: string) =>
  JSON.stringify({
    query: `mutation { createNote(input: {noteableId: "gid://7", body: ${JSON.stringify(body)}}) { errors } }`,
  })

refusedOn('gitlab', [
  ['a mutation in the query of the address', 'POST', `/api/graphql?query=${encodeURIComponent(ACCEPT)}`, {}],
  [
    'a mutation in a form, letter by letter',
    'POST',
    '/api/graphql',
    'query=mutation{%6dergeRequestAccept(input:{}){errors}}',
    FORM,
  ],
  [
    'a mutation in a form, by plus signs',
    'POST',
    '/api/graphql',
    'query=mutation+{+commitCreate(input:{})+{+errors+}+}',
    FORM,
  ],
  ['one mutation of several requests', 'POST', '/api/graphql', JSON.stringify([{ query: '{ a }' }, { query: ACCEPT }])],
  ['a release by GraphQL', 'POST', '/api/graphql', { query: 'mutation { releaseCreate(input: {}) { errors } }' }],
  ['a comment by GraphQL that merges', 'POST', '/api/graphql', noteOf('fine\n/merge')],
  [
    'a comment by GraphQL that merges, escaped twice',
    'POST',
    '/api/graphql',
    noteOf('/merge').replace('/merge', '\\\\u002fmerge'),
  ],
  [
    'a list of requests beside the document that would be judged',
    'POST',
    '/api/graphql',
    { query: MERGE_7, _json: [{ query: MERGE_7.replace('iid: "7"', 'iid: "8"') }] },
  ],
  [
    'a document in the operations of a form, beside the one that would be judged',
    'POST',
    '/api/graphql',
    new URLSearchParams({ query: MERGE_7, operations: '{}' }).toString(),
    FORM,
  ],
  [
    'an input that is stated twice',
    'POST',
    '/api/graphql',
    { query: MERGE_7.replace('iid: "7"', 'iid: "7", iid: "8"') },
  ],
  [
    'a merge beside a commit',
    'POST',
    '/api/graphql',
    { query: MERGE_7.replace('{ mergeRequestAccept', '{ commitCreate(input: {}) { errors } mergeRequestAccept') },
  ],
  [
    'a merge beside a comment that merges',
    'POST',
    '/api/graphql',
    {
      query: MERGE_7.replace(
        '{ mergeRequestAccept',
        '{ createNote(input: { body: "/merge" }) { errors } mergeRequestAccept',
      ),
    },
  ],
  ['another default branch', 'PUT', PROJECT, { default_branch: 'feature' }],
  ['what a mirror brings', 'POST', `${PROJECT}/mirror/pull`, {}],
  [
    'a method in a header, whatever the request line says',
    'GET',
    `${REQUEST}/merge`,
    undefined,
    { 'x-http-method-override': 'PUT' },
  ],
  [
    'a file whose base64 two decoders read differently',
    'PUT',
    `${PROJECT}/repository/files/a.yaml`,
    { branch: 'main', encoding: 'base64', content: 'b3Bl-bmFwaQ' },
  ],
  [
    'a content that a DELETE in the form takes away',
    'POST',
    `${PROJECT}/repository/files/api%2Fopenapi.yaml`,
    new URLSearchParams({ _method: 'delete', branch: 'main', content: BEFORE }).toString(),
    FORM,
  ],
  [
    'an escape that stands for no text',
    'PUT',
    `${PROJECT}/repository/files/%ff.yaml`,
    { branch: 'main', content: AFTER },
  ],
])

test('gitlab: a comment that merges is judged as the merge that it is', async (t) => {
  const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
  const merging = 'Looks good.\r\n /merge\nthank you'
  for (const [method, path, body] of [
    ['POST', `${REQUEST}/notes`, { body: merging }],
    ['PUT', `${REQUEST}/notes/5`, { body: merging }],
    ['POST', `${REQUEST}/discussions`, { body: merging }],
    ['POST', `${REQUEST}/discussions/abc/notes`, { body: merging }],
    ['PUT', REQUEST, { description: '/merge' }],
  ] as const)
    assert.equal((await scene.send(method, path, body)).status, 403, `${method} ${path}`)
  assert.deepEqual(
    asked(scene).map(({ operation, target }) => `${operation} ${target}`),
    Array(5).fill('merge gitlab:acme/pets#7'),
  )
})

test('gitlab: other comments pass, such with a path or an address in them too', async (t) => {
  const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
  for (const body of ['see https://example.com/merge', 'docs/merge is gone', '/label ~x', 'merge?'])
    await scene.send('POST', `${REQUEST}/notes`, { body })
  await scene.send('POST', '/api/graphql', noteOf('see https://example.com/merge'))
  assert.deepEqual(asked(scene), [])
  assert.equal(scene.server.requests.length, 5)
})

test('gitlab: a protected branch is not a source that a rebase brings commits to', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  scene.repository.open(8, 'main', 'feature')
  assert.equal((await scene.send('PUT', `${PROJECT}/merge_requests/8/rebase`, {})).status, 403)
  assert.equal(
    (await scene.send('POST', `${PROJECT}/merge_requests/8/notes`, { body: 'thanks\n  /rebase' })).status,
    403,
  )
  assert.equal((await scene.send('PUT', `${REQUEST}/rebase`, {})).status, 200)
  assert.equal(scene.server.requests.filter(({ method }) => method === 'PUT').length, 1)
})

const PULL = '/repos/acme/pets/pulls'
const sourceUpdate = (id: string) => ({
  query: `mutation { updatePullRequestBranch(input: {pullRequestId: "${id}"}) { clientMutationId } }`,
})

refusedOn('github', [
  ['a file in the letters of another base64', 'PUT', '/repos/acme/pets/contents/a.yaml', { content: 'b3Bl_bmFwaQ==' }],
  [
    'a mutation whose input is stated twice',
    'POST',
    '/graphql',
    {
      query:
        'mutation { mergePullRequest(input: { pullRequestId: "PR_8" }, input: { pullRequestId: "PR_7" }) { clientMutationId } }',
    },
  ],
])

for (const branch of ['heads/main', 'refs/heads/main', 'HEAD', '@', 'main~0']) {
  test(`github: a file on ${branch} does not pass unjudged`, async (t) => {
    const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
    const content = Buffer.from(AFTER).toString('base64')
    const answer = await scene.send('PUT', '/repos/acme/pets/contents/api/openapi.yaml', {
      branch,
      content,
      message: 'x',
    })
    assert.ok(answer.status >= 400)
    assert.deepEqual(scene.server.effects, [])
    assert.equal(scene.server.requests.filter(({ method }) => method === 'PUT').length, 0)
  })
}

test('github: a protected branch that is the head of a pull request is not brought up to date from its base', async (t) => {
  const scene = await scmScene(t, 'github')
  scene.repository.open(8, 'main', 'feature')
  assert.equal((await scene.send('PUT', `${PULL}/8/update-branch`, {})).status, 403)
  assert.equal((await scene.send('POST', '/graphql', sourceUpdate('PR_8'))).status, 403)
  assert.deepEqual(scene.server.effects, [])
  await scene.send('PUT', `${PULL}/7/update-branch`, {})
  assert.equal((await scene.send('POST', '/graphql', sourceUpdate('PR_7'))).status, 200)
  assert.equal(scene.server.requests.at(-1)?.path, '/graphql')
})

test('github: a commit onto a branch that is named twice is not judged', async (t) => {
  const scene = await scmScene(t, 'github')
  const branch = '{id: "REF_main", repositoryNameWithOwner: "acme/pets", branchName: "x"}'
  const query = `mutation { createCommitOnBranch(input: {branch: ${branch}, fileChanges: {}}) { clientMutationId } }`
  assert.equal((await scene.send('POST', '/graphql', { query })).status, 503)
  assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
})

test('github: a release is published by whatever its platform takes for no draft, and by another tag', async (t) => {
  const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
  const edit = (body: object) => scene.send('PATCH', '/repos/acme/pets/releases/1', body)
  scene.repository.tags.set('v2', scene.repository.tip('feature'))
  for (const body of [{ draft: false }, { draft: 'false' }, { draft: 0 }, {}])
    assert.equal((await edit({ tag_name: 'v2', ...body })).status, 403, JSON.stringify(body))
  assert.deepEqual(
    asked(scene).map(({ operation, target }) => `${operation} ${target}`),
    Array(4).fill('publish github:acme/pets/v2'),
  )
  await edit({ name: 'Two', body: 'notes' })
  await edit({ draft: true, tag_name: 'v2' })
  assert.equal(scene.server.requests.filter(({ method }) => method === 'PATCH').length, 2)
})

const SOURCE = '/2.0/repositories/acme/pets/src'
const form = (members: Readonly<Record<string, string>>) => new URLSearchParams(members).toString()

refusedOn('bitbucket', [
  [
    'a branch that form and query state differently',
    'POST',
    `${SOURCE}?branch=main`,
    form({ branch: 'feature', 'a.yaml': AFTER }),
    FORM,
  ],
  ['a branch that a form states twice', 'POST', SOURCE, 'branch=main&branch=feature&a.yaml=x', FORM],
  ['another default branch', 'PUT', '/2.0/repositories/acme/pets', { mainbranch: { name: 'feature' } }],
])

test('bitbucket: what the query of a commit says counts as what its form says', async (t) => {
  const scene = await scmScene(t, 'bitbucket', { decide: () => 'BLOCK' })
  await scene.send('POST', `${SOURCE}?branch=main`, form({ 'api/openapi.yaml': AFTER }), FORM)
  await scene.send('POST', `${SOURCE}?files=api/openapi.yaml`, form({ branch: 'main' }), FORM)
  assert.deepEqual(
    asked(scene).map(({ artifacts }) => artifacts),
    [[['api/openapi.yaml', BEFORE, AFTER]], [['api/openapi.yaml', BEFORE, '']]],
  )
})
