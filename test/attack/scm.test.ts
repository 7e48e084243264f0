/** An agent with push rights looks for a way to a protected branch that is no merge: every one that writes without saying what is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked, scmScene } from '../fakes/scm-proxy.ts'

const PROJECT = '/api/v4/projects/4711'
const REPOSITORY = '/repos/acme/pets'
const linked = (input: string) => ({ query: `mutation { createLinkedBranch(input: {${input}}) { clientMutationId } }` })
const SHA = 'a'.repeat(40)
const BUILDS = `/2.0/repositories/acme/pets/commit/${SHA}/statuses/build`
type ScmName = Parameters<typeof scmScene>[1]

type Attempt = readonly [platform: 'github' | 'gitlab', what: string, method: string, path: string, body: unknown]

const ATTEMPTS: readonly Attempt[] = [
  ['gitlab', 'another source to mirror', 'PUT', PROJECT, { import_url: 'https://evil.example/pets.git' }],
  ['gitlab', 'mirroring switched on', 'PUT', PROJECT, { mirror: true }],
  ['gitlab', 'mirroring switched on by a form’s word', 'PUT', `${PROJECT}?mirror=1`, {}],
  ['gitlab', 'a submodule', 'PUT', `${PROJECT}/repository/submodules/api`, { branch: 'main', commit_sha: SHA }],
  [
    'gitlab',
    'a submodule deeper',
    'PUT',
    `${PROJECT}/repository/submodules/a%2Fb`,
    { branch: 'main', commit_sha: SHA },
  ],
  ['gitlab', 'a changelog', 'POST', `${PROJECT}/repository/changelog`, { version: '1.0.0', file: 'api/openapi.yaml' }],
  ['gitlab', 'a changelog on a branch', 'POST', `${PROJECT}/repository/changelog`, { version: '1', branch: 'main' }],
  [
    'github',
    'the fix of an alert',
    'POST',
    `${REPOSITORY}/code-scanning/alerts/3/autofix/commits`,
    { target_ref: 'refs/heads/main' },
  ],
  ['github', 'the fix of an alert anywhere', 'POST', `${REPOSITORY}/code-scanning/alerts/3/autofix/commits`, {}],
  ['github', 'a branch for an issue', 'POST', '/graphql', linked(`issueId: "I", oid: "${SHA}", name: "main"`)],
  [
    'github',
    'a branch for an issue, whole',
    'POST',
    '/graphql',
    linked(`issueId: "I", oid: "${SHA}", name: "refs/heads/main"`),
  ],
  // The settings of a project hold its merge checks and its default branch: a change of any needs a receipt.
  ['gitlab', 'another description of a project', 'PUT', PROJECT, { description: 'Pets.', mirror: false }],
]

for (const [platform, what, method, path, body] of ATTEMPTS) {
  test(`${platform}: ${what} does not reach a protected branch`, async (t) => {
    const scene = await scmScene(t, platform)
    const answer = await scene.send(method, path, body)
    assert.equal(answer.status, 403)
    assert.equal(answer.headers.get('preflight-action'), 'STOP')
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })
}

/** Another name is a check of somebody else. */
const CHECKS: readonly (readonly [ScmName, string, string, string, (name: string) => unknown])[] = [
  ['github', 'a status', 'POST', `${REPOSITORY}/statuses/${SHA}`, (context) => ({ state: 'success', context })],
  [
    'github',
    'a check run',
    'POST',
    `${REPOSITORY}/check-runs`,
    (name) => ({ name, head_sha: SHA, conclusion: 'success' }),
  ],
  ['github', 'a renamed check run', 'PATCH', `${REPOSITORY}/check-runs/7`, (name) => ({ name, conclusion: 'success' })],
  [
    'github',
    'a check run by GraphQL',
    'POST',
    '/graphql',
    (name) => ({
      query: `mutation { createCheckRun(input: {repositoryId: "R", name: "${name}", headSha: "${SHA}"}) { clientMutationId } }`,
    }),
  ],
  ['gitlab', 'a status', 'POST', `${PROJECT}/statuses/${SHA}`, (name) => ({ state: 'success', name })],
  [
    'gitlab',
    'a status by its context',
    'POST',
    `${PROJECT}/statuses/${SHA}`,
    (context) => ({ state: 'success', context }),
  ],
  ['bitbucket', 'a status', 'POST', BUILDS, (key) => ({ key, state: 'SUCCESSFUL', url: 'https://ci.example' })],
]
for (const [platform, what, method, path, bodyOf] of CHECKS)
  test(`${platform}: ${what} in the name of the gateway is refused, and another one passes`, async (t) => {
    const scene = await scmScene(t, platform)
    for (const name of ['preflight/merge', 'Preflight/Merge', ' preflight/merge ', 'preflight-merge']) {
      const answer = await scene.send(method, path, bodyOf(name))
      assert.equal(answer.status, 403, name)
    }
    assert.deepEqual(scene.server.requests, [])
    await scene.send(method, path, bodyOf('preflight/merge-tests'))
    assert.equal(scene.server.requests.length, 1)
  })

test('the check of the gateway is refused in addresses and forms too', async (t) => {
  const gitlab = await scmScene(t, 'gitlab')
  const path = `${PROJECT}/statuses/${SHA}?state=success&name=preflight%2Fmerge`
  assert.equal((await gitlab.send('POST', path, {})).status, 403)
  const bitbucket = await scmScene(t, 'bitbucket')
  assert.equal((await bitbucket.send('PUT', `${BUILDS}/preflight-merge`, { state: 'SUCCESSFUL' })).status, 403)
  const report = BUILDS.replace('statuses/build', 'reports/preflight-merge')
  assert.equal((await bitbucket.send('PUT', report, { title: 'x', result: 'PASSED' })).status, 403)
  assert.equal((await bitbucket.send('DELETE', report)).status, 403)
  assert.deepEqual([...gitlab.server.requests, ...bitbucket.server.requests], [])
})

const HARMLESS: readonly Attempt[] = [
  ['gitlab', 'a submodule', 'PUT', `${PROJECT}/repository/submodules/api`, { branch: 'feature', commit_sha: SHA }],
  ['gitlab', 'a changelog', 'POST', `${PROJECT}/repository/changelog`, { version: '1', branch: 'feature' }],
  [
    'github',
    'the fix of an alert',
    'POST',
    `${REPOSITORY}/code-scanning/alerts/3/autofix/commits`,
    { target_ref: 'refs/heads/feature' },
  ],
  ['github', 'a branch for an issue', 'POST', '/graphql', linked('issueId: "I", name: "fix-it"')],
]

for (const [platform, what, method, path, body] of HARMLESS) {
  test(`${platform}: ${what} elsewhere is not judged`, async (t) => {
    const scene = await scmScene(t, platform)
    await scene.send(method, path, body)
    assert.equal(scene.server.requests.at(-1)?.method, method)
    assert.deepEqual(asked(scene), [])
  })
}

const FLUSH = '0000'
const ZERO = '0'.repeat(40)
const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
const PUSH = '/acme/pets.git/git-receive-pack'

for (const [what, body] of [
  [
    'the branch behind another one',
    line(`${ZERO} ${SHA} refs/heads/feature\0 report-status`) + line(`${SHA} ${SHA} refs/heads/main`) + FLUSH,
  ],
  ['the branch with a slash before it', line(`${SHA} ${SHA} refs/heads//main`) + FLUSH],
  ['the branch with a blank behind it', line(`${SHA} ${SHA} refs/heads/main `) + FLUSH],
  ['the branch in capital hexadecimals', line(`${SHA.toUpperCase()} ${SHA} refs/heads/main`) + FLUSH],
  ['a signed push', line('push-cert\0 report-status\n') + line(`${SHA} ${SHA} refs/heads/main\n`) + FLUSH],
  ['no end of the commands', line(`${ZERO} ${SHA} refs/heads/feature`)],
  ['a length that goes too far', `ffff${ZERO} ${SHA} refs/heads/feature`],
  ['a length of nothing', `0004${FLUSH}`],
  ['a delimiter of another version', `0001${line(`${SHA} ${SHA} refs/heads/main`)}${FLUSH}`],
  ['a pack and no commands', 'PACK'],
] as const) {
  test(`a push with ${what} does not go by`, async (t) => {
    const scene = await scmScene(t, 'github')
    for (const path of [PUSH, `${PUSH}/`, '/acme/pets/Git-Receive-Pack', `${PUSH}?service=git-upload-pack`]) {
      const answer = await scene.send('POST', path, body, { 'content-type': 'application/x-git-receive-pack-request' })
      assert.equal(answer.status, 403, path)
    }
    assert.deepEqual(scene.server.requests, [])
  })
}
