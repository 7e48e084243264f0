/** Change sets as three platforms list them: the same questions to the gateway's clients over each platform's own wire. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { fail } from '../../../engine/internal.ts'
import type { Flow } from '../../../gateway/flow/flow.ts'
import { deriveChangeSet, type DerivationRequest } from '../../../gateway/scm/derivation.ts'
import type { DerivationTerms } from '../../../gateway/scm/selector.ts'
import { createGithubClient } from '../../../gateway/scm/github.ts'
import { ScmError } from '../../../gateway/scm/scm-error.ts'
import { startGithub } from '../../fakes/github-server.ts'
import { startGitlab } from '../../fakes/gitlab-server.ts'
import { derivationTerms, FAKE_PLATFORMS, openapi, transportTo, type FakePlatform } from '../../fakes/scm-client.ts'
import { FakeRepository, type Files } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../../fakes/scm-server.ts'

const [GITHUB, GITLAB] = FAKE_PLATFORMS
if (GITHUB === undefined || GITLAB === undefined) throw new Error('the platforms are missing')

async function started(t: TestContext, platform: FakePlatform, repository: FakeRepository): Promise<ScmServer> {
  const server = await platform.start(repository)
  t.after(() => server.close())
  return server
}

function derive(
  platform: FakePlatform,
  server: ScmServer,
  question: Partial<DerivationRequest> = {},
  terms: Partial<DerivationTerms> = {},
) {
  const { repository } = server
  const asked = {
    base: repository.tip('main'),
    head: repository.tip('feature'),
    kind: 'merge',
    trialMerge: null,
    ...question,
  } as const
  return deriveChangeSet(platform.client(server), asked, derivationTerms(terms))
}

function repositoryOf(files: Files, changes: Readonly<Record<string, string | Buffer | null>>): FakeRepository {
  const repository = new FakeRepository('acme/pets', files)
  repository.commit('feature', changes, 'main')
  return repository
}

const part = (description: string) => `get:\n  responses:\n    '200': { description: ${description} }\n`

const sidesOf = (artifacts: readonly { readonly id: string; readonly before: string; readonly after: string }[]) =>
  artifacts.map(({ id, before, after }) => [id, before, after])

for (const platform of FAKE_PLATFORMS) {
  test(`${platform.name}: contracts are picked out of what changed, with both sides`, async (t) => {
    const repository = repositoryOf(
      {
        'api/openapi.yaml': openapi('/pets', '/toys'),
        'old.proto': 'syntax = "proto3";\nmessage A {}\n',
        'src/main.ts': 'one',
      },
      {
        'api/openapi.yaml': openapi('/pets'),
        'old.proto': null,
        'src/main.ts': 'two',
        'schema.graphql': 'type Query { pet: String }',
        'values.yaml': 'a: 1',
      },
    )
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(sidesOf(derived.artifacts), [
      ['api/openapi.yaml', openapi('/pets', '/toys'), openapi('/pets')],
      ['old.proto', 'syntax = "proto3";\nmessage A {}\n', ''],
      ['schema.graphql', '', 'type Query { pet: String }'],
    ])
    assert.deepEqual([derived.commitment.count, derived.unreadable, derived.problem], [5, [], null])
  })

  test(`${platform.name}: a change without any contract is whole and has no artifacts`, async (t) => {
    const repository = repositoryOf({ 'README.md': 'one' }, { 'README.md': 'two', 'package.json': '{}' })
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual([derived.artifacts, derived.problem, derived.commitment.count], [[], null, 2])
  })

  test(`${platform.name}: a renamed contract is gone from its old path`, async (t) => {
    const repository = repositoryOf(
      { 'openapi.yaml': openapi('/pets') },
      { 'openapi.yaml': null, 'v2/openapi.yaml': openapi('/pets') },
    )
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(sidesOf(derived.artifacts), [
      ['openapi.yaml', openapi('/pets'), ''],
      ['v2/openapi.yaml', '', openapi('/pets')],
    ])
  })

  test(`${platform.name}: what the base changed meanwhile is on both sides, and no removal`, async (t) => {
    const repository = repositoryOf(
      { 'a/openapi.yaml': openapi('/a'), 'b/openapi.yaml': openapi('/b') },
      { 'a/openapi.yaml': openapi('/a', '/more') },
    )
    repository.commit('main', { 'b/openapi.yaml': openapi('/b', '/new') })
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(sidesOf(derived.artifacts), [['a/openapi.yaml', openapi('/a'), openapi('/a', '/more')]])
  })

  test(`${platform.name}: a contract that both branches changed cannot be derived, and is reported`, async (t) => {
    const repository = repositoryOf({ 'openapi.yaml': openapi('/a') }, { 'openapi.yaml': openapi('/a', '/b') })
    repository.commit('main', { 'openapi.yaml': openapi('/a', '/c') })
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(derived.artifacts, [])
    assert.deepEqual(
      derived.unreadable.map(({ id, type, problem }) => [id, type, problem.code]),
      [['openapi.yaml', 'openapi', 'MERGE_RESULT_UNKNOWN']],
    )
  })

  test(`${platform.name}: a head that replaces its base is compared with it as it is`, async (t) => {
    const repository = repositoryOf({ 'openapi.yaml': openapi('/a') }, { 'README.md': 'new' })
    repository.commit('main', { 'openapi.yaml': openapi('/a', '/c') })
    const derived = await derive(platform, await started(t, platform, repository), { kind: 'replace' })
    assert.deepEqual(sidesOf(derived.artifacts), [['openapi.yaml', openapi('/a', '/c'), openapi('/a')]])
  })

  test(`${platform.name}: a contract whose part changed is judged with the part, though its own file did not`, async (t) => {
    const root = `openapi: 3.0.3\ninfo: { title: pets, version: '1' }\npaths:\n  /pets:\n    $ref: paths/pets.yaml\n`
    const repository = repositoryOf(
      { 'api/openapi.yaml': root, 'api/paths/pets.yaml': part('one') },
      { 'api/paths/pets.yaml': part('two') },
    )
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(
      derived.artifacts.map(({ id }) => id),
      ['api/openapi.yaml'],
    )
    assert.match(derived.artifacts[0]?.before ?? '', /"description":"one"/)
    assert.match(derived.artifacts[0]?.after ?? '', /"description":"two"/)
    assert.match(derived.artifacts[0]?.after ?? '', /#\/x-preflight-files\/paths~1pets.yaml/)
  })

  test(`${platform.name}: a contract that becomes unreadable is no contract that went away`, async (t) => {
    const repository = repositoryOf(
      { 'api/v1.yaml': openapi('/a') },
      { 'api/v1.yaml': 'info: { title: "pets\npaths: {' },
    )
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(
      [derived.artifacts, derived.unreadable.map(({ id, type }) => [id, type])],
      [[], [['api/v1.yaml', 'openapi']]],
    )
  })

  test(`${platform.name}: bytes that are no text, in a file named as a contract, make the analysis incomplete`, async (t) => {
    const repository = repositoryOf(
      { 'README.md': '' },
      { 'openapi.json': Buffer.from([0xff, 0xfe, 0x00]), 'image.json': Buffer.from([0xff]) },
    )
    const derived = await derive(platform, await started(t, platform, repository))
    assert.deepEqual(
      derived.unreadable.map(({ id }) => id),
      ['openapi.json'],
    )
  })

  test(`${platform.name}: more contracts than are read make the list incomplete`, async (t) => {
    const files = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`s${index}.graphql`, 'type Query { a: Int }']),
    )
    const derived = await derive(
      platform,
      await started(t, platform, repositoryOf({ a: '' }, files)),
      {},
      { maxContracts: 3 },
    )
    assert.equal(derived.problem?.code, 'DERIVATION_INCOMPLETE')
  })

  test(`${platform.name}: a token that is not accepted is refused in the platform’s words, without the token`, async (t) => {
    const server = await started(t, platform, repositoryOf({ a: '' }, { a: '1' }))
    const secret = 'a-token-that-must-not-be-told'
    await assert.rejects(platform.client(server, secret).facts(), (error: unknown) => {
      assert.ok(error instanceof ScmError)
      assert.deepEqual([error.kind, error.status], ['refused', 401])
      assert.match(error.message, /Bad credentials/)
      assert.doesNotMatch(JSON.stringify([error.message, error.headers, error.stack]), new RegExp(secret))
      return true
    })
  })

  test(`${platform.name}: an allowance that is used up says when to come again`, async (t) => {
    const server = await started(t, platform, repositoryOf({ a: '' }, { a: '1' }))
    server.fault = () => ({ status: 429, headers: { 'retry-after': '17' }, body: { message: 'slow down' } })
    await assert.rejects(derive(platform, server), (error: unknown) => {
      assert.ok(error instanceof ScmError)
      assert.deepEqual([error.kind, error.headers['retry-after']], ['limited', '17'])
      return true
    })
  })

  test(`${platform.name}: names are resolved to whole commit ids, branches before tags`, async (t) => {
    const repository = repositoryOf({ a: '' }, { a: '1' })
    repository.commit('feature/x', { a: '2' }, 'main')
    repository.tags.set('v1', repository.tip('main'))
    const client = platform.client(await started(t, platform, repository))
    assert.equal(await client.branchTip('feature/x'), repository.tip('feature/x'))
    assert.equal(await client.commitOf('feature/x'), repository.tip('feature/x'))
    assert.equal(await client.commitOf('v1'), repository.tip('main'))
    await assert.rejects(client.branchTip('nowhere'), ScmError)
    const facts = await client.facts()
    assert.deepEqual([facts.name, facts.defaultBranch], ['acme/pets', 'main'])
  })

  test(`${platform.name}: a merge request names its branches and its head commit whole`, async (t) => {
    const repository = repositoryOf({ a: '' }, { a: '1' })
    repository.open(7, 'feature')
    const { base, head, headSha } = await platform.client(await started(t, platform, repository)).mergeRequest('7')
    assert.deepEqual([base, head, headSha], ['main', 'feature', repository.tip('feature')])
  })

  test(`${platform.name}: the same change has the same commitment, another one has not`, async (t) => {
    const one = await derive(
      platform,
      await started(t, platform, repositoryOf({ a: '' }, { 'openapi.yaml': openapi('/a') })),
    )
    const again = await derive(
      platform,
      await started(t, platform, repositoryOf({ a: '' }, { 'openapi.yaml': openapi('/a') })),
    )
    const other = await derive(
      platform,
      await started(t, platform, repositoryOf({ a: '' }, { 'openapi.yaml': openapi('/b') })),
    )
    assert.equal(one.commitment.root, again.commitment.root)
    assert.notEqual(one.commitment.root, other.commitment.root)
  })
}

test('GitHub: past the files that a comparison lists, the trees are compared', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}.txt`, 'x']))
  const repository = repositoryOf({ 'openapi.yaml': openapi('/a') }, { ...files, 'openapi.yaml': openapi('/b') })
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`a${String(index).padStart(3, '0')}.txt`, 'x']),
  )
  repository.commit('feature', many)
  const server = await started(t, { ...GITHUB, start: (one) => startGithub(one) }, repository)
  const derived = await derive(GITHUB, server)
  assert.deepEqual([derived.commitment.count, derived.problem], [313, null])
  assert.deepEqual(sidesOf(derived.artifacts), [['openapi.yaml', openapi('/a'), openapi('/b')]])
})

test('GitHub: a tree that is cut off too makes the list incomplete', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`a${index}.txt`, 'x']))
  const server = await startGithub(repositoryOf({ a: '' }, many), { maxTree: 100 })
  t.after(() => server.close())
  assert.equal((await derive(GITHUB, server)).problem?.code, 'DERIVATION_INCOMPLETE')
})

test('GitHub: the trial merge of exactly these commits tells what the merge makes of a file that both changed', async (t) => {
  const repository = repositoryOf({ 'openapi.yaml': openapi('/a') }, { 'openapi.yaml': openapi('/a', '/b') })
  repository.commit('main', { 'openapi.yaml': openapi('/c', '/a') })
  const merged = openapi('/c', '/a', '/b')
  const trialMerge = repository.mergeCommit(repository.tip('main'), repository.tip('feature'), {
    'openapi.yaml': merged,
  })
  const server = await started(t, GITHUB, repository)
  const derived = await derive(GITHUB, server, { trialMerge })
  assert.deepEqual(sidesOf(derived.artifacts), [['openapi.yaml', openapi('/c', '/a'), merged]])
  repository.commit('main', { 'other.txt': 'moved on' })
  const stale = await derive(GITHUB, server, { trialMerge })
  assert.equal(stale.unreadable[0]?.problem.code, 'MERGE_RESULT_UNKNOWN')
})

test('GitLab: past the files that a comparison lists, the trees are compared, page by page', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`a${index}.txt`, 'x']))
  const repository = repositoryOf({ a: '' }, { ...many, 'z.graphql': 'type Query { a: Int }' })
  const server = await startGitlab(repository, { maxCompared: 1000 })
  t.after(() => server.close())
  const derived = await derive(GITLAB, server)
  assert.deepEqual([derived.commitment.count, derived.artifacts.map(({ id }) => id)], [1002, ['z.graphql']])
})

test('a redirect to another origin is followed at the same origin only, so the token stays where it belongs', async (t) => {
  const repository = repositoryOf({ a: '' }, { a: '1' })
  const server = await started(t, GITHUB, repository)
  const thief = await started(t, GITHUB, repository)
  server.fault = ({ path }) =>
    path === '/repos/acme/pets'
      ? { status: 301, headers: { location: `${thief.origin}/repositories/4711` }, body: {} }
      : null
  assert.equal((await GITHUB.client(server).facts()).name, 'acme/pets')
  assert.equal(thief.requests.length, 0)
  assert.ok(server.requests.every(({ headers }) => headers.authorization === `Bearer ${SCM_TOKEN}`))
})

test('many files that are each within the bound are not more together than memory should hold', async (t) => {
  const large = `${openapi('/pets')}# ${'x'.repeat(60_000)}\n`
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`api/${index}.yaml`, large]))
  const server = await started(t, GITHUB, repositoryOf({ 'README.md': 'pets' }, files))
  const client = (maxBytes: number) =>
    createGithubClient(transportTo(server, '', SCM_TOKEN, { maxBytes }), `/repos/${server.repository.name}`)
  const derived = (maxBytes: number) => derive({ ...GITHUB, client: () => client(maxBytes) }, server)
  assert.equal((await derived(1_000_000)).artifacts.length, 20)
  await assert.rejects(
    derived(100_000),
    (error) => error instanceof ScmError && /too long together/.test(error.message),
  )
})

test('answers are read where a large one holds up nobody, and one that is not JSON is no answer', async (t) => {
  const server = await startGithub(new FakeRepository('acme/pets', { 'README.md': 'one' }))
  t.after(() => server.close())
  const asked: number[] = []
  const readJson: Flow['readJson'] = (bytes) => {
    asked.push(bytes.byteLength)
    return Promise.resolve(fail({ code: 'ARTIFACT_UNREADABLE', message: 'It is not JSON.' }))
  }
  const client = createGithubClient(transportTo(server, '', SCM_TOKEN, { readJson }), '/repos/acme/pets')
  await assert.rejects(client.facts(), /an answer of The platform has no single reading: It is not JSON\./)
  assert.equal(asked.length, 1)
})
