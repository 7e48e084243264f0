/** Calls to Bitbucket through the proxy: merges and commits by form are judged; other calls are forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AFTER, asked, BEFORE, scmScene } from '../../fakes/scm-proxy.ts'

const CHANGED = [['api/openapi.yaml', BEFORE, AFTER]]
const REPOSITORY = '/2.0/repositories/acme/pets'

test('a merge is judged by what it changes of contracts', async (t) => {
  const scene = await scmScene(t, 'bitbucket')
  const answer = await scene.send('POST', `${REPOSITORY}/pullrequests/7/merge`, { merge_strategy: 'squash' })
  assert.equal(answer.status, 200)
  assert.deepEqual(asked(scene), [
    {
      operation: 'merge',
      target: 'bitbucket:acme/pets#7',
      repository: 'acme/pets',
      branch: 'main',
      pull: '7',
      artifacts: CHANGED,
      derivation: {
        platform: 'scm_c',
        baseSha: scene.repository.tip('main'),
        headSha: scene.repository.tip('feature'),
      },
    },
  ])
  assert.deepEqual(scene.server.effects, ['POST pullrequests/7/merge'])
})

test('a stopped merge is not made', async (t) => {
  const scene = await scmScene(t, 'bitbucket', { decide: () => 'REQUIRE_APPROVAL' })
  assert.equal((await scene.send('POST', `${REPOSITORY}/pullrequests/7/merge`, {})).status, 428)
  assert.deepEqual(scene.server.effects, [])
})

test('a head that moves while its merge is judged is not merged: the platform takes no commit to hold it to', async (t) => {
  const scene = await scmScene(t, 'bitbucket', {
    decide: () => {
      scene.repository.commit('feature', { 'late.txt': 'x' })
      return 'ALLOW'
    },
  })
  assert.equal((await scene.send('POST', `${REPOSITORY}/pullrequests/7/merge`, {})).status, 503)
  assert.deepEqual(scene.server.effects, [])
})

function form(fields: Readonly<Record<string, string | Blob>>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  return data
}

test('a commit by form on a protected branch is judged, with files as fields, as uploads and as removals', async (t) => {
  const scene = await scmScene(t, 'bitbucket')
  const path = `${REPOSITORY}/src`
  await scene.send('POST', path, form({ message: 'x', branch: 'main', 'api/openapi.yaml': new Blob([AFTER]) }))
  await scene.send('POST', path, form({ message: 'x', '/api/openapi.yaml': new Blob([AFTER]) }))
  await scene.send('POST', path, form({ message: 'x', branch: 'main', files: 'api/openapi.yaml' }))
  const encoded = new URLSearchParams({ branch: 'main', 'api/openapi.yaml': AFTER }).toString()
  await scene.send('POST', path, encoded, { 'content-type': 'application/x-www-form-urlencoded' })
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    [CHANGED, CHANGED, [['api/openapi.yaml', BEFORE, '']], CHANGED].map((changes) => [
      'bitbucket:acme/pets@main',
      changes,
    ]),
  )
})

test('a commit by form on another branch passes', async (t) => {
  const scene = await scmScene(t, 'bitbucket', { decide: () => 'BLOCK' })
  const answer = await scene.send('POST', `${REPOSITORY}/src`, form({ branch: 'feature', 'api/openapi.yaml': AFTER }))
  assert.equal(answer.status, 200)
})

test('a new protected branch is judged by what it has beyond the default one', async (t) => {
  const scene = await scmScene(t, 'bitbucket')
  const target = { hash: scene.repository.tip('feature') }
  await scene.send('POST', `${REPOSITORY}/refs/branches`, { name: 'topic', target })
  await scene.send('POST', `${REPOSITORY}/refs/branches`, { name: 'release/2', target })
  assert.deepEqual(
    asked(scene).map(({ target: of, artifacts }) => [of, artifacts]),
    [['bitbucket:acme/pets@release/2', CHANGED]],
  )
})

const PASSING: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', `${REPOSITORY}/pullrequests/7`],
  ['DELETE', `${REPOSITORY}/pullrequests/7/approve`],
  ['POST', `${REPOSITORY}/pullrequests`, { title: 'x' }],
]

for (const [method, path, body] of PASSING) {
  test(`${method} ${path} passes unjudged`, async (t) => {
    const scene = await scmScene(t, 'bitbucket', { decide: () => 'BLOCK' })
    assert.equal((await scene.send(method, path, body)).status, 200)
    assert.deepEqual(asked(scene), [])
  })
}
