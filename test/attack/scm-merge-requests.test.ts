/**
 * Requests that change what a judged merge does: the branch that it deletes, the base that it has by then, and the method by which
 * it is made.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openapi } from '../fakes/scm-client.ts'
import { AFTER, asked, BEFORE, scmScene, type ScmScene } from '../fakes/scm-proxy.ts'
import type { FakeMergeRequest, FakeRepository } from '../fakes/scm-repository.ts'

const CONTRACT = 'api/openapi.yaml'
const REPO = '/repos/acme/pets'
const PROJECT = '/api/v4/projects/4711'
const CLOUD = '/2.0/repositories/acme/pets'

type Platform = Parameters<typeof scmScene>[1]
type Sent = readonly [method: string, path: string, body: unknown]

const MERGES: Readonly<Record<Platform, (id: number, more?: object) => Sent>> = {
  github: (id, more = {}) => ['PUT', `${REPO}/pulls/${id}/merge`, more],
  gitlab: (id, more = {}) => ['PUT', `${PROJECT}/merge_requests/${id}/merge`, more],
  bitbucket: (id, more = {}) => ['POST', `${CLOUD}/pullrequests/${id}/merge`, more],
}
const mutation = (fields: string) => ({ query: `mutation { ${fields} { clientMutationId } }` })

interface Removal {
  readonly platform: Platform
  readonly what: string
  readonly set?: (repository: FakeRepository, request: FakeMergeRequest) => void
  readonly sent: Sent
}

const HEAD = 'release/1'
const removesHead: Removal['set'] = (_repository, request) => {
  request.removesHead = true
}
const removesHeads: Removal['set'] = (repository) => {
  repository.removesHeads = true
}
const GITLAB_MERGE = 'mergeRequestAccept(input: {projectPath: "acme/pets", iid: "8", shouldRemoveSourceBranch: true})'

const REMOVALS: readonly Removal[] = [
  { platform: 'github', what: 'by the repository', set: removesHeads, sent: MERGES.github(8) },
  {
    platform: 'github',
    what: 'by the repository, over GraphQL',
    set: removesHeads,
    sent: ['POST', '/graphql', mutation('mergePullRequest(input: {pullRequestId: "PR_8"})')],
  },
  { platform: 'gitlab', what: 'by the merge', sent: MERGES.gitlab(8, { should_remove_source_branch: true }) },
  {
    platform: 'gitlab',
    what: 'by a text of the merge',
    sent: MERGES.gitlab(8, { should_remove_source_branch: 'yes' }),
  },
  { platform: 'gitlab', what: 'by the request', set: removesHead, sent: MERGES.gitlab(8) },
  { platform: 'gitlab', what: 'by the merge, over GraphQL', sent: ['POST', '/api/graphql', mutation(GITLAB_MERGE)] },
  {
    platform: 'gitlab',
    what: 'by a comment that merges',
    set: removesHead,
    sent: ['POST', `${PROJECT}/merge_requests/8/notes`, { body: '/merge' }],
  },
  {
    platform: 'gitlab',
    what: 'by what the request is set to later',
    sent: ['PUT', `${PROJECT}/merge_requests/8`, { remove_source_branch: true }],
  },
  {
    platform: 'gitlab',
    what: 'by what the request is set to later, over GraphQL',
    sent: [
      'POST',
      '/api/graphql',
      mutation('mergeRequestUpdate(input: {projectPath: "acme/pets", iid: "8", removeSourceBranch: true})'),
    ],
  },
  { platform: 'bitbucket', what: 'by the merge', sent: MERGES.bitbucket(8, { close_source_branch: true }) },
  { platform: 'bitbucket', what: 'by the request', set: removesHead, sent: MERGES.bitbucket(8) },
]

const KEPT: readonly Removal[] = [
  { platform: 'github', what: 'nothing removes', sent: MERGES.github(8) },
  {
    platform: 'github',
    what: 'the platform protects',
    set(repository) {
      repository.removesHeads = true
      repository.kept.add(HEAD)
    },
    sent: MERGES.github(8),
  },
  {
    platform: 'gitlab',
    what: 'the platform protects',
    set(repository, request) {
      request.removesHead = true
      repository.kept.add(HEAD)
    },
    sent: MERGES.gitlab(8),
  },
  { platform: 'gitlab', what: 'nothing removes', sent: MERGES.gitlab(8, { should_remove_source_branch: 'false' }) },
  {
    platform: 'bitbucket',
    what: 'the merge keeps',
    set: removesHead,
    sent: MERGES.bitbucket(8, { close_source_branch: false }),
  },
  { platform: 'github', what: 'the route does not protect', set: removesHeads, sent: MERGES.github(9) },
]

async function removing(t: Parameters<typeof scmScene>[0], { platform, set }: Removal): Promise<ScmScene> {
  const scene = await scmScene(t, platform)
  const { repository } = scene
  for (const [id, head] of [[8, HEAD] as const, [9, 'work'] as const]) {
    repository.commit(head, { 'NOTES.md': head }, 'main')
    const request = repository.open(id, head)
    set?.(repository, request)
  }
  return scene
}

for (const removal of REMOVALS)
  test(`${removal.platform}: a protected head is not deleted ${removal.what}`, async (t) => {
    const scene = await removing(t, removal)
    const answer = await scene.send(...removal.sent)
    const { message } = Object(await answer.json())
    assert.match(String(answer.status), /^(?:403|503)$/)
    assert.match(String(message), /release\/1|removal of the source branch/)
    assert.deepEqual(scene.server.effects, [])
  })

for (const kept of KEPT)
  test(`${kept.platform}: a head that ${kept.what} is merged`, async (t) => {
    const scene = await removing(t, kept)
    assert.equal((await scene.send(...kept.sent)).status, 200)
    assert.equal(scene.server.effects.length, 1)
  })

/** Request 9 goes to `work`, which has the contract of its head already; `main` has the former one. */
const RETARGETS: readonly (readonly [platform: Platform, what: string, sent: Sent])[] = [
  ['github', 'a parameter', ['PATCH', `${REPO}/pulls/9`, { base: 'main' }]],
  ['github', 'a parameter of a POST', ['POST', `${REPO}/pulls/9`, { title: 'x', base: 'refs/heads/main' }]],
  [
    'github',
    'a mutation',
    ['POST', '/graphql', mutation('updatePullRequest(input: {pullRequestId: "PR_9", baseRefName: "main"})')],
  ],
  ['gitlab', 'a parameter', ['PUT', `${PROJECT}/merge_requests/9`, { target_branch: 'main' }]],
  ['bitbucket', 'a parameter', ['PUT', `${CLOUD}/pullrequests/9`, { destination: { branch: { name: 'main' } } }]],
]

async function retargeting(t: Parameters<typeof scmScene>[0], platform: Platform): Promise<ScmScene> {
  const scene = await scmScene(t, platform)
  scene.repository.commit('work', { [CONTRACT]: AFTER }, 'main')
  scene.repository.open(9, 'feature', 'work')
  return scene
}

for (const [platform, what, sent] of RETARGETS)
  test(`${platform}: a request that gets a protected base by ${what} is judged as its merge`, async (t) => {
    const scene = await retargeting(t, platform)
    await scene.send(...sent)
    assert.deepEqual(
      asked(scene).map(({ operation, branch, pull, artifacts }) => [operation, branch, pull, artifacts]),
      [['merge', 'main', '9', [[CONTRACT, BEFORE, AFTER]]]],
    )
  })

test('github: a request that retargets and merges together is judged by both', async (t) => {
  const scene = await retargeting(t, 'github')
  const both =
    'updatePullRequest(input: {pullRequestId: "PR_9", baseRefName: "main"}) { clientMutationId } mergePullRequest(input: {pullRequestId: "PR_9"})'
  await scene.send('POST', '/graphql', mutation(both))
  assert.deepEqual(
    asked(scene).map(({ branch, artifacts }) => [branch, artifacts]),
    [
      ['main', [[CONTRACT, BEFORE, AFTER]]],
      ['work', [[CONTRACT, AFTER, AFTER]]],
    ],
  )
})

test('github: a request that deletes a branch and merges together is refused', async (t) => {
  const scene = await retargeting(t, 'github')
  const both =
    'deleteRef(input: {refId: "REF_work"}) { clientMutationId } mergePullRequest(input: {pullRequestId: "PR_9"})'
  assert.equal((await scene.send('POST', '/graphql', mutation(both))).status, 403)
  assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
})

const REFUSED: readonly (readonly [what: string, sent: Sent])[] = [
  ['a comment', ['POST', `${PROJECT}/merge_requests/9/notes`, { body: 'fine\n/target_branch main' }]],
  ['a description', ['PUT', `${PROJECT}/merge_requests/9`, { description: '/target_branch main' }]],
  [
    'a mutation',
    [
      'POST',
      '/api/graphql',
      mutation('mergeRequestUpdate(input: {projectPath: "acme/pets", iid: "9", targetBranch: "main"})'),
    ],
  ],
  [
    'a comment by a mutation',
    ['POST', '/api/graphql', mutation('createNote(input: {noteableId: "x", body: "/target_branch main"})')],
  ],
]

for (const [what, sent] of REFUSED)
  test(`gitlab: a request that would get another target by ${what} is refused`, async (t) => {
    const scene = await retargeting(t, 'gitlab')
    assert.equal((await scene.send(...sent)).status, 403)
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })

const UNJUDGED: readonly (readonly [platform: Platform, what: string, sent: Sent])[] = [
  ['github', 'a new title', ['PATCH', `${REPO}/pulls/9`, { title: 'x' }]],
  ['github', 'the base that it has', ['PATCH', `${REPO}/pulls/7`, { title: 'x', base: 'main' }]],
  ['github', 'a base that is not protected', ['PATCH', `${REPO}/pulls/7`, { base: 'work' }]],
  ['gitlab', 'the target that it has', ['PUT', `${PROJECT}/merge_requests/7`, { target_branch: 'main' }]],
  [
    'gitlab',
    'a new request with a target in its text',
    ['POST', `${PROJECT}/merge_requests`, { description: '/target_branch main' }],
  ],
  [
    'bitbucket',
    'the destination that it has',
    ['PUT', `${CLOUD}/pullrequests/7`, { destination: { branch: { name: 'main' } } }],
  ],
]

for (const [platform, what, sent] of UNJUDGED)
  test(`${platform}: ${what} is no merge`, async (t) => {
    const scene = await retargeting(t, platform)
    await scene.send(...sent)
    assert.deepEqual([scene.server.effects.length, asked(scene)], [1, []])
  })

/** The base has a newer contract; the head changed it in the same way, and took that back. */
const REBASES: readonly (readonly [platform: Platform, sent: Sent, set?: (repository: FakeRepository) => void])[] = [
  ['github', MERGES.github(8, { merge_method: 'rebase' })],
  ['github', ['POST', '/graphql', mutation('mergePullRequest(input: {pullRequestId: "PR_8", mergeMethod: REBASE})')]],
  [
    'github',
    ['POST', '/graphql', mutation('enqueuePullRequest(input: {pullRequestId: "PR_8"})')],
    (repository) => {
      repository.strategy = 'rebase'
    },
  ],
  ['github', ['PUT', `${REPO}/pulls/8/merge-async`, { merge_method: 'merge', merge_action: 'merge_queue' }]],
  [
    'gitlab',
    MERGES.gitlab(8),
    (repository) => {
      repository.mergeMethod = 'ff'
    },
  ],
  ['bitbucket', MERGES.bitbucket(8, { merge_strategy: 'rebase_fast_forward' })],
  [
    'bitbucket',
    MERGES.bitbucket(8),
    (repository) => {
      repository.strategy = 'rebase_merge'
    },
  ],
]
const PLAIN: typeof REBASES = [
  ['github', MERGES.github(8)],
  ['github', MERGES.github(8, { merge_method: 'squash' })],
  ['github', ['POST', '/graphql', mutation('mergePullRequest(input: {pullRequestId: "PR_8", mergeMethod: SQUASH})')]],
  [
    'github',
    ['POST', '/graphql', mutation('enqueuePullRequest(input: {pullRequestId: "PR_8"})')],
    (repository) => {
      repository.strategy = 'merge'
    },
  ],
  ['gitlab', MERGES.gitlab(8)],
  ['bitbucket', MERGES.bitbucket(8, { merge_strategy: 'squash' })],
]

async function problemsOf(t: Parameters<typeof scmScene>[0], [platform, sent, set]: (typeof REBASES)[number]) {
  const scene = await scmScene(t, platform)
  const { repository } = scene
  const newer = openapi('/pets', '/toys', '/more')
  repository.commit('again', { [CONTRACT]: newer }, 'main')
  repository.commit('again', { [CONTRACT]: BEFORE, 'NOTES.md': 'x' })
  repository.commit('main', { [CONTRACT]: newer })
  repository.open(8, 'again')
  set?.(repository)
  await scene.send(...sent)
  return scene.proxy.flow.asked.map(({ artifacts, completeness }) => [
    artifacts,
    completeness?.origin.kind === 'derived' ? (completeness.origin.problem?.code ?? null) : 'not derived',
  ])
}

for (const row of REBASES)
  test(`${row[0]}: a rebase by ${JSON.stringify(row[1].slice(1))} that may undo a change of the base is not known`, async (t) => {
    assert.deepEqual(await problemsOf(t, row), [[[], 'MERGE_RESULT_UNKNOWN']])
  })

for (const row of PLAIN)
  test(`${row[0]}: a merge by ${JSON.stringify(row[1].slice(1))} leaves what the base changed`, async (t) => {
    assert.deepEqual(await problemsOf(t, row), [[[], null]])
  })

test('github: the trial merge shows a change that git brought to a contract by another name', async (t) => {
  const scene = await scmScene(t, 'github')
  const { repository } = scene
  repository.commit('main', { [CONTRACT]: null, 'v1/openapi.yaml': BEFORE })
  const request = repository.mergeRequests.get(7)
  assert.ok(request)
  request.trialMerge = repository.mergeCommit(repository.tip('main'), repository.tip('feature'), {
    'v1/openapi.yaml': AFTER,
  })
  await scene.send(...MERGES.github(7))
  assert.deepEqual(
    asked(scene).map(({ artifacts }) => artifacts),
    [[['v1/openapi.yaml', BEFORE, AFTER]]],
  )
})
