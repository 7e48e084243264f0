/**
 * Requests to a platform that do more than the member that would be judged says: to a protected branch, a release or a
 * deployment. Each is judged by all of it, or refused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AFTER, asked, BEFORE, scmScene, type ScmScene } from '../fakes/scm-proxy.ts'

const PROJECT = '/api/v4/projects/4711'
const COMMITS = `${PROJECT}/repository/commits`
const FILE = `${PROJECT}/repository/files`
const REPO = '/repos/acme/pets'
const SOURCE = '/2.0/repositories/acme/pets/src'
const CONTRACT = 'api/openapi.yaml'
const CHANGED = [[CONTRACT, BEFORE, AFTER]]
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const TEXT = { 'content-type': 'text/plain' }

type Headers = Readonly<Record<string, string>>
type Platform = Parameters<typeof scmScene>[1]
type Attempt = readonly [
  platform: Platform,
  what: string,
  method: string,
  path: string,
  body: unknown,
  headers?: Headers,
]

const commit = (actions: unknown, more: object = {}) => ({ branch: 'main', commit_message: 'm', actions, ...more })
const readme = [{ action: 'update', file_path: 'README.md', content: 'pets!' }]
const update = (path: string) => [{ action: 'update', file_path: path, content: AFTER }]
const encoded = (text: string) => Buffer.from(text).toString('base64')
const onBranch = (changes: string, variables = {}) => ({
  query: `mutation($f: FileChanges) { createCommitOnBranch(input: {branch: {repositoryNameWithOwner: "acme/pets", branchName: "main"}, fileChanges: ${changes}}) { clientMutationId } }`,
  variables,
})
const write = { branch: 'feature', commit_message: 'm', content: 'x' }

const REFUSED: readonly Attempt[] = [
  [
    'gitlab',
    'a commit on top of another branch',
    'POST',
    COMMITS,
    commit(readme, { start_branch: 'feature', force: true }),
  ],
  ['gitlab', 'a commit on top of another commit', 'POST', COMMITS, commit(readme, { start_sha: 'a'.repeat(40) })],
  ['gitlab', 'a commit on top of another project', 'POST', COMMITS, commit(readme, { start_project: 7 })],
  [
    'gitlab',
    'a file on top of another branch',
    'PUT',
    `${FILE}/README.md`,
    { ...write, branch: 'main', start_branch: 'feature' },
  ],
  ...[
    './api/openapi.yaml',
    'api//openapi.yaml',
    'api/./openapi.yaml',
    'x/../api/openapi.yaml',
    'api/openapi.yaml/',
  ].map((path): Attempt => ['gitlab', `an update of ${path}`, 'POST', COMMITS, commit(update(path))]),
  [
    'gitlab',
    'an update of a path with an empty name',
    'PUT',
    `${FILE}/api%2F%2Fopenapi.yaml`,
    { ...write, branch: 'main' },
  ],
  [
    'gitlab',
    'a move to a path with a dot',
    'POST',
    COMMITS,
    commit([{ action: 'move', previous_path: 'README.md', file_path: './api/openapi.yaml' }]),
  ],
  [
    'github',
    'a commit by GraphQL to a path with a dot',
    'POST',
    '/graphql',
    onBranch('{deletions: [{path: "./api/openapi.yaml"}]}'),
  ],
  ...['a'.repeat(40), `TIP,${'a'.repeat(40)}`, `TIP&parents=${'a'.repeat(40)}`, 'f'].map((parents): Attempt => [
    'bitbucket',
    `a commit by form with the parents ${parents}`,
    'POST',
    SOURCE,
    `branch=main&README.md=x&parents=${parents}`,
    FORM,
  ]),
  ['bitbucket', 'a commit by form to a path with a dot', 'POST', SOURCE, `branch=main&api/./openapi.yaml=x`, FORM],
  ['github', 'a deployment that merges before', 'POST', `${REPO}/deployments`, { ref: 'release/1' }],
  [
    'github',
    'a deployment that may merge before',
    'POST',
    `${REPO}/deployments`,
    { ref: 'heads/release/1', auto_merge: 'false' },
  ],
  [
    'github',
    'a deployment by GraphQL that merges before',
    'POST',
    '/graphql',
    {
      query:
        'mutation { createDeployment(input: {refId: "REF_release/1", repositoryId: "R_4711"}) { clientMutationId } }',
    },
  ],
  ...(['merges', 'deployments', 'releases'] as const).map((path): Attempt => [
    'github',
    `a branch that is a tag, too, in ${path}`,
    'POST',
    `${REPO}/${path}`,
    { base: 'main', head: 'both', ref: 'both', tag_name: 'v9', target_commitish: 'both' },
  ]),
  ['github', 'a release that becomes a draft', 'PATCH', `${REPO}/releases/2`, { draft: true }],
  ...['[branch]', 'branch]', '[[branch]]'].map((name): Attempt => [
    'gitlab',
    `a branch by the name ${name}`,
    'PUT',
    `${FILE}/a?branch=feature&${name}=main`,
    write,
  ]),
  ['gitlab', 'a branch behind a blank of a form', 'PUT', `${FILE}/a`, 'branch=feature& branch=main&content=a', FORM],
  ['gitlab', 'a branch that is taken away', 'POST', `${PROJECT}/repository/changelog?branch=feature;branch`, {}],
  [
    'gitlab',
    'a branch that is taken away in a form',
    'POST',
    `${PROJECT}/repository/changelog`,
    'branch=feature;branch',
    FORM,
  ],
  [
    'gitlab',
    'a branch in a body that is not read',
    'POST',
    `${PROJECT}/repository/changelog?version=1`,
    JSON.stringify({ branch: 'feature' }),
    TEXT,
  ],
]

async function sceneFor(t: Parameters<typeof scmScene>[0], platform: Platform): Promise<ScmScene> {
  const scene = await scmScene(t, platform)
  const { repository } = scene
  repository.commit('release/1', {}, 'main')
  for (const tag of ['deployed', 'v1']) repository.tags.set(tag, repository.tip('main'))
  repository.tags.set('next', repository.tip('feature'))
  repository.commit('both', { 'api/openapi.yaml': AFTER }, 'main')
  repository.tags.set('both', repository.tip('main'))
  repository.releases.set(2, { draft: false, target_commitish: 'main' })
  repository.releases.set(3, { draft: true, target_commitish: 'feature' })
  return scene
}

/** `TIP` stands for the commit that a protected branch is at. */
function atTip(body: unknown, { repository }: ScmScene): unknown {
  return typeof body === 'string' ? body.replace('TIP', repository.tip('main').slice(0, 12)) : body
}

for (const [platform, what, method, path, body, headers] of REFUSED)
  test(`${platform}: ${what} is refused`, async (t) => {
    const scene = await sceneFor(t, platform)
    const answer = await scene.send(method, path, atTip(body, scene), headers)
    assert.match(String(answer.status), /^(?:403|503)$/)
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })

const JUDGED: readonly Attempt[] = [
  [
    'gitlab',
    'a file that is written and then moved',
    'POST',
    COMMITS,
    commit([
      { action: 'update', file_path: 'README.md', content: AFTER },
      { action: 'delete', file_path: CONTRACT },
      { action: 'move', previous_path: 'README.md', file_path: CONTRACT },
    ]),
  ],
  [
    'github',
    'a single file in place of a list',
    'POST',
    '/graphql',
    onBranch(`{additions: {path: "${CONTRACT}", contents: "${encoded(AFTER)}"}}`),
  ],
  [
    'github',
    'a single file in place of a list, in a variable',
    'POST',
    '/graphql',
    onBranch('$f', { f: { additions: { path: CONTRACT, contents: encoded(AFTER) } } }),
  ],
  [
    'github',
    'a release of a tag that is there, beside another commit',
    'POST',
    `${REPO}/releases`,
    { tag_name: 'next', target_commitish: 'main' },
  ],
  [
    'github',
    'a draft that is published from its own commit',
    'PATCH',
    `${REPO}/releases/3`,
    { tag_name: 'v2', draft: false },
  ],
  [
    'github',
    'a deployment to the same environment in other letters',
    'POST',
    `${REPO}/deployments`,
    { ref: 'feature', environment: 'PRODUCTION' },
  ],
  [
    'gitlab',
    'a release of a tag that is there, beside another commit',
    'POST',
    `${PROJECT}/releases`,
    { tag_name: 'next', ref: 'main' },
  ],
]

for (const [platform, what, method, path, body, headers] of JUDGED)
  test(`${platform}: ${what} is judged as what it does`, async (t) => {
    const scene = await sceneFor(t, platform)
    await scene.send(method, path, body, headers)
    assert.deepEqual(
      asked(scene).map(({ artifacts }) => artifacts),
      [CHANGED],
    )
  })

test('gitlab: a move that empties its file is not a move of its content', async (t) => {
  const scene = await sceneFor(t, 'gitlab')
  const action = { action: 'move', previous_path: CONTRACT, file_path: 'api/openapi-2.yaml', content: '' }
  await scene.send('POST', COMMITS, commit([action]))
  assert.deepEqual(
    asked(scene).map(({ artifacts }) => artifacts),
    [[[CONTRACT, BEFORE, '']]],
  )
})

const ORDINARY: readonly Attempt[] = [
  ['gitlab', 'a commit that starts from its own branch', 'POST', COMMITS, commit(readme, { start_branch: 'main' })],
  ['github', 'a deployment of the default branch', 'POST', `${REPO}/deployments`, { ref: 'main' }],
  [
    'github',
    'a deployment that merges nothing',
    'POST',
    `${REPO}/deployments`,
    { ref: 'release/1', auto_merge: false },
  ],
  ['github', 'a draft that stays one', 'PATCH', `${REPO}/releases/1`, { draft: true, name: 'Two' }],
  ['gitlab', 'names with brackets', 'POST', `${PROJECT}/issues/7/notes?x[]=1&x[a][b]=2`, { body: 'fine' }],
  ['gitlab', 'a semicolon in a text', 'POST', `${PROJECT}/issues/7/notes`, 'body=Fix; done', FORM],
  [
    'github',
    'a comment as the text that fetch makes of it',
    'POST',
    `${REPO}/issues/7/comments`,
    '{"body":"fine"}',
    TEXT,
  ],
  ['bitbucket', 'a commit on the tip that it names', 'POST', SOURCE, 'branch=main&README.md=x&parents=TIP', FORM],
  ['github', 'notes for a release', 'POST', `${REPO}/releases/generate-notes`, { tag_name: 'v9' }],
  ['bitbucket', 'a file with brackets in its name', 'POST', SOURCE, 'branch=feature&a[1].txt=x', FORM],
]

for (const [platform, what, method, path, body, headers] of ORDINARY)
  test(`${platform}: ${what} goes on`, async (t) => {
    const scene = await sceneFor(t, platform)
    await scene.send(method, path, atTip(body, scene), headers)
    assert.equal(scene.server.requests.at(-1)?.method, method)
  })

const RERUNS: readonly Attempt[] = [
  ['github', 'a check run', 'POST', `${REPO}/check-runs/1/rerequest`, {}],
  ['github', 'a check suite', 'POST', `${REPO}/check-suites/1/rerequest`, {}],
  [
    'github',
    'a check suite by GraphQL',
    'POST',
    '/graphql',
    { query: 'mutation { rerequestCheckSuite(input: {repositoryId: "R", checkSuiteId: "C"}) { clientMutationId } }' },
  ],
]

for (const [platform, what, method, path, body] of RERUNS)
  test(`${platform}: ${what} is run again only where no workflow deploys`, async (t) => {
    const deploying = await scmScene(t, platform, { scm: { workflows: ['deploy.yml'] } })
    assert.equal((await deploying.send(method, path, body)).status, 403)
    assert.deepEqual(deploying.server.effects, [])
    const plain = await scmScene(t, platform)
    await plain.send(method, path, body)
    assert.equal(plain.server.effects.length, 1)
  })
