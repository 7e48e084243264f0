/** Calls to GitHub through the proxy: calls that merge, release or publish a contract are judged by their changes; others are forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at } from '../../json.ts'
import { AFTER, asked, BEFORE, scmScene } from '../../fakes/scm-proxy.ts'
import { SCM_TOKEN, type ScmReply } from '../../fakes/scm-server.ts'

const CHANGED = [['api/openapi.yaml', BEFORE, AFTER]]
const MERGE = '/repos/acme/pets/pulls/7/merge'
const mutation = (field: string, input: string) => `mutation { ${field}(input: ${input}) { clientMutationId } }`
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a merge is judged by what it changes of contracts, bound to its place, and then made', async (t) => {
  const scene = await scmScene(t, 'github')
  const { repository, server } = scene
  const answer = await scene.send('PUT', MERGE, { merge_method: 'squash' })
  assert.equal(answer.status, 200)
  assert.deepEqual(asked(scene), [
    {
      operation: 'merge',
      target: 'github:acme/pets#7',
      repository: 'acme/pets',
      branch: 'main',
      pull: '7',
      artifacts: CHANGED,
      derivation: { platform: 'scm_a', baseSha: repository.tip('main'), headSha: repository.tip('feature') },
    },
  ])
  assert.deepEqual(server.effects, ['merge 7'])
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE')
})

test('a stopped merge is not made, and its answer has the message where clients look for it', async (t) => {
  const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
  const answer = await scene.send('PUT', MERGE, {})
  const body: unknown = await answer.json()
  assert.equal(answer.status, 403)
  assert.match(String(at(body, 'message')), /^Preflight stopped merge acme\/pets#7/)
  assert.equal(at(body, 'error'), 'PREFLIGHT_STOP')
  assert.deepEqual(scene.server.effects, [])
})

test('the credentials of the call ask the platform, at its own origin, and are in no log', async (t) => {
  const scene = await scmScene(t, 'github')
  await scene.send('PUT', MERGE, {})
  const { requests } = scene.server
  assert.ok(requests.length > 4)
  assert.ok(requests.every(({ headers }) => headers.authorization === `Bearer ${SCM_TOKEN}`))
  assert.doesNotMatch(scene.proxy.log.join(''), new RegExp(SCM_TOKEN))
})

test('a merge of other files only is judged as a whole change set without a contract', async (t) => {
  const scene = await scmScene(t, 'github')
  scene.repository.commit('docs', { 'README.md': 'more' }, 'main')
  scene.repository.open(8, 'docs')
  assert.equal((await scene.send('PUT', '/repos/acme/pets/pulls/8/merge', {})).status, 200)
  assert.deepEqual(asked(scene)[0]?.artifacts, [])
})

const REACHED: readonly (readonly [method: string, path: string, body: unknown, target: string, operation: string])[] =
  [
    ['PUT', '/repositories/4711/pulls/7/merge', {}, 'github:acme/pets#7', 'merge'],
    ['PUT', '/repos/acme/pets/pulls/7/%6Derge', {}, 'github:acme/pets#7', 'merge'],
    ['PUT', '//repos/acme/pets/pulls/7/merge/'.slice(1), undefined, 'github:acme/pets#7', 'merge'],
    ['POST', '/repos/acme/pets/merges', { base: 'main', head: 'feature' }, 'github:acme/pets@main', 'merge'],
  ]

for (const [method, path, body, target, operation] of REACHED) {
  test(`${method} ${path} is a judged ${operation}`, async (t) => {
    const scene = await scmScene(t, 'github')
    await scene.send(method, path, body)
    assert.deepEqual(
      asked(scene).map((one) => [one.target, one.operation, one.artifacts]),
      [[target, operation, CHANGED]],
    )
  })
}

test('a branch that is set to a commit is judged by what it becomes, by PATCH and by POST', async (t) => {
  const scene = await scmScene(t, 'github')
  const sha = scene.repository.tip('feature')
  for (const method of ['PATCH', 'POST']) {
    await scene.send(method, '/repos/acme/pets/git/refs/heads/main', { sha, force: true })
  }
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    [
      ['github:acme/pets@main', CHANGED],
      ['github:acme/pets@main', CHANGED],
    ],
  )
})

test('a file written to a protected branch is judged, on another branch it passes', async (t) => {
  const scene = await scmScene(t, 'github')
  const path = '/repos/acme/pets/contents/api/openapi.yaml'
  await scene.send('PUT', path, { message: 'x', content: base64(AFTER), branch: 'feature' })
  assert.deepEqual(asked(scene), [])
  await scene.send('PUT', path, { message: 'x', content: base64(AFTER) })
  await scene.send('DELETE', path, { message: 'x', sha: 'y', branch: 'main' })
  assert.deepEqual(
    asked(scene).map(({ target, artifacts, derivation }) => [target, artifacts, derivation]),
    [
      ['github:acme/pets@main', CHANGED, null],
      ['github:acme/pets@main', [['api/openapi.yaml', BEFORE, '']], null],
    ],
  )
})

test('a deployment is judged from what is deployed now, a release from the last one, a first one as no change', async (t) => {
  const scene = await scmScene(t, 'github')
  const { repository } = scene
  await scene.send('POST', '/repos/acme/pets/deployments', { ref: 'feature', environment: 'production' })
  repository.tags.set('deployed', repository.tip('main'))
  await scene.send('POST', '/repos/acme/pets/deployments', { ref: 'feature', environment: 'production' })
  repository.tags.set('v1', repository.tip('main'))
  await scene.send('POST', '/repos/acme/pets/releases', { tag_name: 'v2', target_commitish: 'feature' })
  await scene.send('POST', '/repos/acme/pets/releases', { tag_name: 'v3', draft: true })
  assert.deepEqual(
    asked(scene).map(({ operation, target, artifacts }) => [operation, target, artifacts]),
    [
      ['deploy', 'github:acme/pets/production', []],
      ['deploy', 'github:acme/pets/production', CHANGED],
      ['publish', 'github:acme/pets/v2', CHANGED],
    ],
  )
})

test('the dispatch of a workflow is a deployment where the route says so', async (t) => {
  const scene = await scmScene(t, 'github', { scm: { workflows: ['deploy*.yml'] } })
  scene.repository.tags.set('deployed', scene.repository.tip('main'))
  const dispatch = (name: string) =>
    scene.send('POST', `/repos/acme/pets/actions/workflows/${name}/dispatches`, { ref: 'feature' })
  await dispatch('test.yml')
  await dispatch('deploy-eu.yml')
  assert.deepEqual(
    asked(scene).map(({ operation, target, artifacts }) => [operation, target, artifacts]),
    [['deploy', 'github:acme/pets/deploy-eu.yml', CHANGED]],
  )
})

test('a new protected branch is judged by what it has beyond the default one; from that itself it brings nothing', async (t) => {
  const scene = await scmScene(t, 'github')
  const { repository } = scene
  const make = (branch: string, sha: string) =>
    scene.send('POST', '/repos/acme/pets/git/refs', { ref: `refs/heads/${branch}`, sha })
  await make('release/1', repository.tip('main'))
  await make('release/2', repository.tip('feature'))
  const query = mutation(
    'createRef',
    `{repositoryId: "R_4711", name: "refs/heads/stable", oid: "${repository.tip('feature')}"}`,
  )
  await scene.send('POST', '/graphql', { query })
  assert.deepEqual(
    asked(scene).map(({ target, artifacts }) => [target, artifacts]),
    [
      ['github:acme/pets@release/1', []],
      ['github:acme/pets@release/2', CHANGED],
      ['github:acme/pets@stable', CHANGED],
    ],
  )
})

for (const [name, method, path, body] of [
  [
    'a branch that takes the name of a protected one',
    'POST',
    '/repos/acme/pets/branches/feature/rename',
    { new_name: 'main' },
  ],
  ['a protected branch that is renamed', 'POST', '/repos/acme/pets/branches/main/rename', { new_name: 'old' }],
  ['what comes from upstream to a protected branch', 'POST', '/repos/acme/pets/merge-upstream', { branch: 'main' }],
  ['another default branch', 'PATCH', '/repos/acme/pets', { default_branch: 'feature' }],
] as const) {
  test(`${name} is refused`, async (t) => {
    const scene = await scmScene(t, 'github')
    assert.equal((await scene.send(method, path, body)).status, 403)
    assert.deepEqual(scene.server.effects, [])
  })
}

const PASSING: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/repos/acme/pets/pulls/7'],
  ['POST', '/repos/acme/pets/pulls', { title: 'x' }],
  ['POST', '/repos/acme/pets/issues/7/comments', { body: 'x' }],
  ['PUT', '/repos/acme/pets/pulls/7/update-branch', {}],
  ['POST', '/repos/acme/pets/git/refs', { ref: 'refs/heads/new', sha: 'x' }],
  ['PATCH', '/repos/acme/pets/git/refs/heads/feature', { sha: 'x' }],
  ['POST', '/repos/acme/pets/branches/a/rename', { new_name: 'b' }],
  ['DELETE', '/repos/acme/pets/git/refs/heads/feature'],
]

for (const [method, path, body] of PASSING) {
  test(`${method} ${path} passes unjudged`, async (t) => {
    const scene = await scmScene(t, 'github', { decide: () => 'BLOCK' })
    assert.equal((await scene.send(method, path, body)).status, 200)
    assert.deepEqual(asked(scene), [])
  })
}

test('a head that moved while it was judged is not merged', async (t) => {
  const scene = await scmScene(t, 'github', {
    decide: () => {
      scene.repository.commit('feature', { 'late.txt': 'x' })
      return 'ALLOW'
    },
  })
  const answer = await scene.send('PUT', MERGE, {})
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), /no longer what was judged/)
  assert.deepEqual(scene.server.effects, [])
})

test('a base that moved while it was judged is not merged into', async (t) => {
  const scene = await scmScene(t, 'github', {
    decide: () => {
      scene.repository.commit('main', { 'late.txt': 'x' })
      return 'ALLOW'
    },
  })
  assert.equal((await scene.send('PUT', MERGE, {})).status, 503)
  assert.deepEqual(scene.server.effects, [])
})

test('a merge that names another head than there is is not judged', async (t) => {
  const scene = await scmScene(t, 'github')
  assert.equal((await scene.send('PUT', MERGE, { sha: 'f'.repeat(40) })).status, 503)
  assert.equal((await scene.send('PUT', MERGE, { sha: scene.repository.tip('feature') })).status, 200)
  assert.equal(asked(scene).length, 1)
})

test('a route that asks for the head commit refuses a merge without one', async (t) => {
  const scene = await scmScene(t, 'github', { scm: { require_head: true } })
  const answer = await scene.send('PUT', MERGE, {})
  assert.equal(answer.status, 403)
  assert.match(await answer.text(), /does not name its head commit/)
  assert.equal((await scene.send('PUT', MERGE, { sha: scene.repository.tip('feature') })).status, 200)
})

const UNREADABLE: readonly (readonly [
  name: string,
  method: string,
  path: string,
  body: string,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['a key that is there twice', 'PUT', MERGE, '{"sha":"a","sha":"b"}'],
  ['a body that is not an object', 'PUT', MERGE, '[]'],
  ['a method stated twice', 'POST', MERGE, '{}', { 'x-http-method-override': 'PUT' }],
  ['query and body that contradict each other', 'PUT', `${MERGE}?sha=a`, '{"sha":"b"}'],
  ['an encoded body', 'PUT', MERGE, '{}', { 'content-encoding': 'gzip' }],
  ['a number that is none', 'PUT', '/repos/acme/pets/pulls/7a/merge', '{}'],
]

for (const [name, method, path, body, headers] of UNREADABLE) {
  test(`a merge with ${name} is refused`, async (t) => {
    const scene = await scmScene(t, 'github')
    const answer = await scene.send(method, path, body, headers)
    assert.equal(answer.status, 403)
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })
}

test('a refusal of the platform reaches the caller with its status', async (t) => {
  const scene = await scmScene(t, 'github')
  assert.equal((await scene.send('PUT', '/repos/acme/pets/pulls/99/merge', {})).status, 404)
  assert.equal((await scene.send('PUT', MERGE, {}, { authorization: 'Bearer wrong' })).status, 401)
  scene.server.fault = () => ({ status: 403, headers: { 'x-ratelimit-remaining': '0', 'retry-after': '60' }, body: {} })
  const limited = await scene.send('PUT', MERGE, {})
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [403, '60'])
  assert.deepEqual(scene.server.effects, [])
})

test('a platform that fails is not a permission', async (t) => {
  const scene = await scmScene(t, 'github')
  scene.server.fault = ({ path }) => (path.includes('/compare/') ? { status: 502, body: {} } : null)
  assert.equal((await scene.send('PUT', MERGE, {})).status, 503)
  assert.deepEqual(scene.server.effects, [])
})

test('no receipt stands for a list of changes that was cut off', async (t) => {
  const scene = await scmScene(t, 'github', {
    github: { maxTree: 10 },
    receipts: { require: true },
    decide: () => 'ALLOW',
  })
  const many = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`a${index}.txt`, 'x']))
  scene.repository.commit('feature', many)
  const answer = await scene.send('PUT', MERGE, {}, { 'preflight-receipt': 'a.b.c' })
  assert.equal(answer.status, 403)
  assert.match(await answer.text(), /could not be read completely/)
})

const FAULTS: Readonly<Record<string, ScmReply>> = {
  'a fault of its own': { status: 500, body: { message: 'Server Error' } },
  'not found': { status: 404, body: { message: 'Not Found' } },
  'not allowed': { status: 403, body: { message: 'Resource not accessible' } },
  'an empty object': { body: {} },
  'no JSON': { body: Buffer.from('<html>') },
  'a redirect to itself': { status: 302, headers: { location: '/nowhere' }, body: {} },
}

for (const [name, fault] of Object.entries(FAULTS)) {
  test(`each question of a merge that is answered with ${name} stops it`, async (t) => {
    // As the flow does: what could not be read is no ALLOW.
    const scene = await scmScene(t, 'github', {
      decide: ({ unreadable = [] }) => (unreadable.length > 0 ? 'BLOCK' : 'ALLOW'),
    })
    const { server } = scene
    await scene.send('PUT', MERGE, {})
    const questions = server.requests.slice(0, -1).map(({ path }) => path)
    assert.ok(questions.length >= 8, 'there are questions before and after the verdict')
    server.effects.length = 0
    for (const [nth, question] of questions.entries()) {
      // The text of a file may be anything; that it is not there may not.
      if (fault.status === undefined && question.includes('/contents/')) continue
      let count = 0
      server.fault = () => (count++ === nth ? fault : null)
      const answer = await scene.send('PUT', MERGE, {})
      assert.notEqual(answer.status, 200, question)
    }
    assert.deepEqual(server.effects, [])
  })
}
