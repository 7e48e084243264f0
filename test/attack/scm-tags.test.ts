/** The tag of a release: who moves it, or deletes it and makes it again, publishes another commit by its name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AFTER, asked, BEFORE, scmScene, type SceneOptions, type ScmScene } from '../fakes/scm-proxy.ts'
import { at } from '../json.ts'

type Platform = Parameters<typeof scmScene>[1]
type Attempt = readonly [platform: Platform, method: string, path: string, body?: unknown]

const REFS = '/repos/acme/pets/git/refs'
const PROJECT = '/api/v4/projects/4711'
const SLUG = '/2.0/repositories/acme/pets'
const CHANGED = [['api/openapi.yaml', BEFORE, AFTER]]
const ZERO = '0'.repeat(40)
const NEW = '2'.repeat(40)

async function taggedScene(
  t: Parameters<typeof scmScene>[0],
  platform: Platform,
  options: SceneOptions = {},
): Promise<ScmScene> {
  const scene = await scmScene(t, platform, { receipts: { accept: true }, ...options })
  for (const tag of ['v1', 'v1.2.3', 'rel/1']) scene.repository.tags.set(tag, scene.repository.tip('main'))
  return scene
}

const mutation = (name: string, input: string) => ({
  query: `mutation { ${name}(input: ${input}) { clientMutationId } }`,
})

/** `SHA` stands for the commit that changes the contract. */
const MOVES: readonly (readonly [...Attempt, tag: string])[] = [
  ['github', 'PATCH', `${REFS}/tags/v1`, { sha: 'SHA', force: true }, 'v1'],
  ['github', 'PATCH', `${REFS}/tags/v1.2.3`, { sha: 'SHA' }, 'v1.2.3'],
  ['github', 'POST', `${REFS}/tags/v1`, { sha: 'SHA' }, 'v1'],
  ['github', 'PATCH', `${REFS}/tags/rel/1`, { sha: 'SHA' }, 'rel/1'],
  ['github', 'PATCH', `${REFS}/tags%2Fv1`, { sha: 'SHA' }, 'v1'],
  ['github', 'PATCH', `${REFS}/Tags/v1`, { sha: 'SHA' }, 'v1'],
  ['github', 'PATCH', `${REFS}/refs/tags/v1`, { sha: 'SHA' }, 'v1'],
  ['github', 'PATCH', '/api/v3/repos/acme/pets/git/refs/tags/v1', { sha: 'SHA' }, 'v1'],
  ['github', 'POST', '/graphql', mutation('updateRef', '{refId: "TAG_v1", oid: "SHA", force: true}'), 'v1'],
]

for (const [platform, method, path, body, tag] of MOVES)
  test(`${platform}: ${method} ${path} is judged as a new commit of the release`, async (t) => {
    const isEnterprise = path.startsWith('/api/v3')
    const scene = await taggedScene(t, platform, isEnterprise ? { github: { prefix: '/api/v3' } } : {})
    const written = JSON.stringify(body).replace('SHA', scene.repository.tip('feature'))
    assert.equal((await scene.send(method, path, JSON.parse(written))).status, 200)
    assert.deepEqual(
      asked(scene).map(({ operation, target, branch, artifacts }) => [operation, target, branch, artifacts]),
      [['publish', `github:acme/pets@tag:${tag}`, `refs/tags/${tag}`, CHANGED]],
    )
    assert.equal(scene.server.effects.length, 1)
  })

test('github: a tag that moves meanwhile, or is not there, is not moved', async (t) => {
  const scene = await taggedScene(t, 'github')
  const { repository, server } = scene
  const move = (tag: string) => scene.send('PATCH', `${REFS}/tags/${tag}`, { sha: repository.tip('feature') })
  assert.equal((await move('v9')).status, 503)
  let asks = 0
  server.fault = ({ path }) => {
    if (path.endsWith('/git/ref/tags/v1') && ++asks === 2) repository.tags.set('v1', repository.tip('feature'))
    return null
  }
  const answer = await move('v1')
  assert.match(await answer.text(), /no longer what was judged: the tag v1 is at/)
  assert.deepEqual([answer.status, asks, server.effects], [503, 2, []])
})

const REMOVALS: readonly Attempt[] = [
  ['github', 'DELETE', `${REFS}/tags/v1`],
  ['github', 'DELETE', `${REFS}/tags/rel/1`],
  ['github', 'DELETE', `${REFS}/TAGS/v1`],
  ['github', 'DELETE', `${REFS}/refs/tags/v1`],
  ['github', 'POST', '/graphql', mutation('deleteRef', '{refId: "TAG_v1"}')],
  ['github', 'POST', '/graphql', mutation('deleteRef', '{refId: "REF_main"}')],
  ['github', 'DELETE', `${REFS}/heads/main`],
  ['github', 'DELETE', `${REFS}/heads/release/1`],
  ['github', 'DELETE', `${REFS}/Heads/Main`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/tags/v1`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/tags/rel%2F1`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/tags/v1.json`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/branches/main`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/branches/release%2F1`],
  ['gitlab', 'DELETE', `${PROJECT}/repository/merged_branches`],
  ['gitlab', 'POST', '/api/graphql', mutation('branchDelete', '{projectPath: "acme/pets", name: "main"}')],
  ['gitlab', 'POST', '/api/graphql', mutation('tagDelete', '{projectPath: "acme/pets", tagName: "v1"}')],
  ['bitbucket', 'DELETE', `${SLUG}/refs/tags/v1`],
  ['bitbucket', 'DELETE', `${SLUG}/refs/tags/rel/1`],
  ['bitbucket', 'DELETE', `${SLUG}/refs/branches/main`],
  ['bitbucket', 'DELETE', `${SLUG}/refs/branches/release/1`],
]

// A receipt for it would free the name, and what is made by that name next has nothing to be compared with.
for (const [platform, method, path, body] of REMOVALS)
  test(`${platform}: ${method} ${path} ${JSON.stringify(body ?? '')} is refused`, async (t) => {
    const scene = await taggedScene(t, platform)
    const answer = await scene.send(method, path, body)
    const refusal: unknown = await answer.json()
    assert.equal(at(refusal, 'receipt_required'), undefined)
    assert.match(String(at(refusal, 'message')), /is not deleted here|which branches this deletes|use the REST API/)
    assert.deepEqual([answer.status, scene.server.effects], [403, []])
  })

const RECEIPTS: readonly (readonly [...Attempt, operation: string])[] = [
  ['gitlab', 'POST', `${PROJECT}/repository/tags/v1/release`, { description: 'x' }, 'publish'],
  ['gitlab', 'PUT', `${PROJECT}/repository/branches/main/unprotect`, undefined, 'administer'],
]

for (const [platform, method, path, body, operation] of RECEIPTS)
  test(`${platform}: ${method} ${path} takes a receipt for ${operation}`, async (t) => {
    const scene = await taggedScene(t, platform)
    const answer = await scene.send(method, path, body)
    const context = at(await answer.json(), 'receipt_required', 'context')
    assert.deepEqual([answer.status, at(context, 'operation'), scene.server.effects], [403, operation, []])
  })

test('gitlab: a receipt for a request does not cover another method that its form names', async (t) => {
  const scene = await taggedScene(t, 'gitlab')
  for (const path of ['repository/branches/main', 'repository/tags/v1', 'variables/TOKEN', 'hooks/1']) {
    const answer = await scene.send('POST', `${PROJECT}/${path}`, '_method=delete', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    assert.match(await answer.text(), /names another method/)
    assert.deepEqual([answer.status, scene.server.effects], [403, []])
  }
})

const PASSING: readonly Attempt[] = [
  ['github', 'POST', REFS, { ref: 'refs/tags/v2', sha: NEW }],
  ['github', 'DELETE', `${REFS}/heads/feature`],
  ['github', 'POST', '/graphql', mutation('deleteRef', '{refId: "REF_feature"}')],
  ['gitlab', 'POST', `${PROJECT}/repository/tags`, { tag_name: 'v2', ref: 'feature' }],
  ['gitlab', 'DELETE', `${PROJECT}/repository/branches/feature`],
  ['bitbucket', 'POST', `${SLUG}/refs/tags`, { name: 'v2', target: { hash: NEW } }],
]

for (const [platform, method, path, body] of PASSING)
  test(`${platform}: ${method} ${path} ${JSON.stringify(body ?? '')} passes`, async (t) => {
    const scene = await taggedScene(t, platform, { decide: () => 'BLOCK' })
    assert.equal((await scene.send(method, path, body)).status, 200)
    assert.deepEqual(asked(scene), [])
  })

test('tags that the route does not protect move and go', async (t) => {
  const scene = await taggedScene(t, 'github', { decide: () => 'BLOCK', scm: { protected_tags: ['v*'] } })
  for (const [method, status] of [
    ['PATCH', 200],
    ['DELETE', 200],
  ] as const)
    assert.equal((await scene.send(method, `${REFS}/tags/rel/1`, { sha: NEW })).status, status)
  assert.equal((await scene.send('DELETE', `${REFS}/tags/V1`)).status, 403)
})

const pktLine = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
const command = (from: string, to: string, ref: string) => `${pktLine(`${from} ${to} ${ref}\0report-status`)}0000PACK`

/** By `scm.push`: a pattern of the target that a receipt names; null: it passes; false: no receipt is taken. */
const PUSHES: readonly (readonly [what: string, body: string, receipt: string | null | false])[] = [
  ['a new tag', command(ZERO, NEW, 'refs/tags/v2'), null],
  ['a tag that moves', command(NEW, '3'.repeat(40), 'refs/tags/v1'), 'pets@tag:v1'],
  ['a tag in other letters', command(NEW, '3'.repeat(40), 'refs/Tags/v1'), 'pets@tag:v1'],
  ['a tag that goes', command(NEW, ZERO, 'refs/tags/v1'), false],
  ['a tag that goes, in other letters', command(NEW, ZERO, 'refs/Tags/v1'), false],
  ['a protected branch that goes', command(NEW, ZERO, 'refs/heads/release/1'), false],
  ['another branch that goes', command(NEW, ZERO, 'refs/heads/topic'), null],
  ['a branch with the name of a tag', command(NEW, ZERO, 'refs/heads/tags/v1'), null],
  ['a ref of another kind', command(NEW, ZERO, 'refs/notes/commits'), null],
]

for (const platform of ['github', 'gitlab', 'bitbucket'] as const)
  test(`git push at ${platform}: a protected branch or tag goes by no receipt`, async (t) => {
    const scene = await taggedScene(t, platform, { scm: { push: 'receipt' } })
    for (const ref of ['refs/tags/v1', 'refs/heads/main']) {
      const answer = await scene.send('POST', '/acme/pets.git/git-receive-pack', command(NEW, ZERO, ref), {
        'content-type': 'application/x-git-receive-pack-request',
      })
      assert.match(await answer.text(), /is not deleted here/)
      assert.equal(answer.status, 403)
    }
  })

for (const [what, body, receipt] of PUSHES)
  test(`git push: ${what} ${receipt === null ? 'passes' : receipt === false ? 'is refused' : 'is refused, or takes a receipt'}`, async (t) => {
    for (const push of ['deny', 'receipt', 'pass']) {
      const scene = await taggedScene(t, 'github', { scm: { push } })
      const answer = await scene.send('POST', '/acme/pets.git/git-receive-pack', body, {
        'content-type': 'application/x-git-receive-pack-request',
      })
      const text = await answer.text()
      const passes = receipt === null || push === 'pass'
      // The fake platform knows no pushes.
      assert.equal(answer.status, passes ? 404 : 403, `${push} ${text}`)
      if (passes) continue
      if (receipt === false) assert.match(text, /is not deleted here/)
      else assert.match(text, push === 'deny' ? /the tag v1/ : new RegExp(receipt))
    }
  })
