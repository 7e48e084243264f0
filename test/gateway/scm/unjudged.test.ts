/** Writes that nothing can be compared for: they take a receipt, also where nobody knows them; and texts that are commands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked, scmScene } from '../../fakes/scm-proxy.ts'
import { at } from '../../json.ts'

type Platform = Parameters<typeof scmScene>[1]
type Attempt = readonly [method: string, path: string, body?: unknown]

const REPO = '/repos/acme/pets'
const PROJECT = '/api/v4/projects/4711'
const REQUEST = `${PROJECT}/merge_requests/7`
const SLUG = '/2.0/repositories/acme/pets'

const mutation = (name: string, input = '{}') => ({
  query: `mutation { ${name}(input: ${input}) { clientMutationId } }`,
})

const RECEIPTS: Readonly<Record<Platform, Readonly<Record<string, readonly Attempt[]>>>> = {
  github: {
    administer: [
      ['DELETE', `${REPO}/branches/main/protection`],
      ['PUT', `${REPO}/branches/feature/protection`, {}],
      ['DELETE', `${REPO}/branches/main/protection/required_status_checks`],
      ['DELETE', `${REPO}/rulesets/7`],
      ['POST', `${REPO}/rulesets`, {}],
      ['PUT', '/api/v3/repos/acme/pets/rulesets/7', {}],
      ['PUT', `${REPO}/import`, { vcs_url: 'https://elsewhere.example/x.git' }],
      ['PATCH', REPO, { allow_auto_merge: true }],
      ['DELETE', REPO],
      ['PUT', `${REPO}/collaborators/mallory`, {}],
      ['POST', `${REPO}/keys`, {}],
      ['DELETE', '/orgs/acme/rulesets/1'],
      ['PUT', '/orgs/acme/teams/t/repos/acme/pets', {}],
      ['POST', `${REPO}/never/heard/of`, {}],
      ['POST', '/never/heard/of', {}],
      ['PUT', '/acme/pets/settings', {}],
      ['POST', '/graphql', mutation('deleteBranchProtectionRule', '{ branchProtectionRuleId: "x" }')],
      ['POST', '/graphql', mutation('neverHeardOf')],
    ],
    deploy: [
      ['POST', `${REPO}/pages/deployments`, {}],
      ['POST', `${REPO}/pages/builds`],
      ['POST', `${REPO}/actions/runs/1/pending_deployments`, { state: 'approved' }],
      ['POST', '/graphql', mutation('approveDeployments')],
    ],
    publish: [
      ['DELETE', `${REPO}/releases/1`],
      ['POST', `${REPO}/releases/1/assets?name=x`, {}],
    ],
    approve: [
      ['POST', `${REPO}/pulls/7/reviews`, { event: 'APPROVE' }],
      ['POST', `${REPO}/pulls/7/reviews/1/events`, { event: 'approve' }],
      ['PUT', `${REPO}/pulls/7/reviews/1/dismissals`, { message: 'x' }],
      ['POST', '/graphql', mutation('addPullRequestReview', '{ pullRequestId: "x", event: APPROVE }')],
    ],
  },
  gitlab: {
    merge: [
      ['PUT', '/api/v4/suggestions/1/apply', {}],
      ['PUT', '/api/v4/suggestions/batch_apply', { ids: [1] }],
      ['POST', `${PROJECT}/merge_requests`, { source_branch: 'a', target_branch: 'main', auto_merge: true }],
    ],
    approve: [
      ['POST', `${REQUEST}/approve`, {}],
      ['POST', `${REQUEST}/notes`, { body: 'fine\n/approve' }],
      ['POST', `${REQUEST}/notes`, { body: '/submit_review approve' }],
      ['PUT', `${REQUEST}/draft_notes/1/publish`],
      ['POST', `${REQUEST}/draft_notes/bulk_publish`],
    ],
    deploy: [
      ['POST', `${PROJECT}/jobs/1/play`],
      ['POST', `${PROJECT}/pipeline`, { ref: 'main' }],
      ['DELETE', `${PROJECT}/pages`],
      ['POST', '/api/graphql', mutation('jobPlay', '{ id: "gid://gitlab/Ci::Build/1" }')],
    ],
    publish: [
      ['PUT', `${PROJECT}/packages/generic/a/1/b`, {}],
      ['DELETE', `${PROJECT}/releases/v1`],
    ],
    administer: [
      ['DELETE', `${PROJECT}/protected_branches/main`],
      ['POST', `${PROJECT}/protected_branches`, { name: 'x' }],
      ['PUT', PROJECT, { only_allow_merge_if_pipeline_succeeds: false }],
      ['POST', '/api/v4/import/github', {}],
      ['POST', '/api/v4/projects/import', {}],
      ['POST', '/api/v4/bulk_imports', {}],
      ['POST', '/api/v4/never/heard/of', {}],
      ['POST', '/acme/pets/-/merge_requests/7/merge', {}],
      ['POST', '/api/graphql', mutation('branchRuleDelete')],
      ['POST', '/api/graphql', mutation('neverHeardOf')],
      ['POST', '/api/graphql', [mutation('starProject'), mutation('neverHeardOf')]],
    ],
  },
  bitbucket: {
    administer: [
      ['DELETE', `${SLUG}/branch-restrictions/1`],
      ['PUT', SLUG, { is_private: false }],
      ['POST', `${SLUG}/never/heard/of`, {}],
    ],
    deploy: [['POST', `${SLUG}/pipelines`, {}]],
    approve: [['POST', `${SLUG}/pullrequests/7/approve`, {}]],
    publish: [['POST', `${SLUG}/downloads`, {}]],
  },
}

for (const platform of ['github', 'gitlab', 'bitbucket'] as const)
  for (const [operation, attempts] of Object.entries(RECEIPTS[platform]))
    test(`${platform}: what takes a receipt for ${operation} does not go on without one`, async (t) => {
      const scene = await scmScene(t, platform, { receipts: { accept: true } })
      for (const [method, path, body] of attempts) {
        const answer = await scene.send(method, path, body)
        const reported: unknown = await answer.json()
        const context = at(reported, 'receipt_required', 'context')
        assert.deepEqual([answer.status, at(context, 'operation')], [403, operation], `${method} ${path}`)
        assert.match(String(at(context, 'target_id')), new RegExp(`^${platform}:`))
      }
      assert.deepEqual(scene.server.effects, [])
    })

const REFUSED: Readonly<Record<string, Attempt>> = {
  'a new request that ships itself': ['POST', `${PROJECT}/merge_requests`, { description: 'x\n/ship' }],
  'a draft that ships': ['POST', `${REQUEST}/draft_notes`, { note: '/ship' }],
  'a merge that changes its target': ['POST', `${REQUEST}/notes`, { body: '/target_branch main\n/merge' }],
  'a command that nobody knows': ['POST', `${REQUEST}/notes`, { body: '/land now' }],
  'a merging comment on an issue': ['POST', `${PROJECT}/issues/1/notes`, { body: '/merge' }],
  'a merging comment on a commit': ['POST', `${PROJECT}/repository/commits/abc/comments`, { note: '/merge' }],
  'a merging comment in an epic': ['POST', '/api/v4/groups/1/epics/2/notes', { body: '/merge' }],
  'a merging work item': [
    'POST',
    '/api/graphql',
    mutation('workItemUpdate', '{ descriptionWidget: { description: "/ship" } }'),
  ],
  'a merging request by GraphQL': [
    'POST',
    '/api/graphql',
    mutation('mergeRequestCreate', '{ description: "a\\n/merge" }'),
  ],
}

for (const [what, [method, path, body]] of Object.entries(REFUSED))
  test(`gitlab: ${what} is refused`, async (t) => {
    const scene = await scmScene(t, 'gitlab')
    const answer = await scene.send(method, path, body)
    assert.equal(answer.status, 403, await answer.text())
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })

for (const word of ['/merge', '/MERGE', '/ship', ' /ship ', '/ship --squash', 'ok\r\n/ship'])
  test(`gitlab: ${JSON.stringify(word)} in a text is judged as a merge`, async (t) => {
    const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
    for (const [method, path, body] of [
      ['POST', `${REQUEST}/notes`, { body: word }],
      ['PUT', REQUEST, { description: word }],
      ['POST', `${REQUEST}/discussions/abc/notes`, { body: word }],
    ] as const)
      assert.equal((await scene.send(method, path, body)).status, 403)
    assert.deepEqual(
      asked(scene).map(({ target }) => target),
      Array(3).fill('gitlab:acme/pets#7'),
    )
  })

const PASSING: Readonly<Record<Platform, readonly Attempt[]>> = {
  github: [
    ['POST', `${REPO}/issues`, { title: 'x', body: 'see /merge' }],
    ['POST', `${REPO}/pulls/7/reviews`, { event: 'COMMENT', body: 'x' }],
    ['PATCH', REPO, { description: 'x' }],
    ['POST', '/login/oauth/access_token', {}],
    ['POST', '/acme/pets.git/info/lfs/objects/batch', {}],
    ['POST', '/graphql', mutation('addComment')],
  ],
  gitlab: [
    ['POST', `${REQUEST}/notes`, { body: '/label ~x\n/assign @me\n/usr/bin is a folder' }],
    ['POST', `${PROJECT}/merge_requests`, { title: 'x', description: '/assign me\n/target_branch x' }],
    ['POST', `${PROJECT}/issues`, { title: 'x', description: '/due tomorrow' }],
    ['POST', '/api/graphql', [{ query: '{ a }' }, { query: 'query { mutation }' }]],
    ['POST', '/api/graphql', mutation('createNote', '{ body: "fine" }')],
  ],
  bitbucket: [
    ['POST', `${SLUG}/pullrequests/7/comments`, {}],
    ['POST', `${SLUG}/commits`, {}],
  ],
}

for (const platform of ['github', 'gitlab', 'bitbucket'] as const)
  test(`${platform}: what is known to land nothing passes`, async (t) => {
    const scene = await scmScene(t, platform, { decide: () => 'BLOCK' })
    for (const [method, path, body] of PASSING[platform]) {
      const answer = await scene.send(method, path, body)
      assert.notEqual(answer.headers.get('preflight-action'), 'STOP', `${method} ${path}: ${await answer.text()}`)
    }
    assert.deepEqual(asked(scene), [])
    assert.equal(scene.server.requests.length, PASSING[platform].length)
  })

test('github: a pull request on top of another one is not merged with what is below it', async (t) => {
  const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
  scene.repository.commit('upper', { 'x.txt': 'x' }, 'feature')
  scene.repository.open(8, 'upper', 'feature')
  assert.equal((await scene.send('PUT', `${REPO}/pulls/8/merge-async`, {})).status, 403)
  assert.deepEqual(asked(scene), [])
  assert.equal((await scene.send('PUT', `${REPO}/pulls/7/merge-async`, {})).status, 403)
  assert.deepEqual(
    asked(scene).map(({ target }) => target),
    ['github:acme/pets#7'],
  )
})
