/**
 * Merges whose head or base moves after it was judged. A move between any two questions of the gateway, before the last look at
 * what moves, leads to no merge. A receipt for one change set, or for one commit, opens no merge or push of another one.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startBitbucket } from '../fakes/bitbucket-server.ts'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { startGithub } from '../fakes/github-server.ts'
import { startGitlab } from '../fakes/gitlab-server.ts'
import { openapi } from '../fakes/scm-client.ts'
import { FakeRepository } from '../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../fakes/scm-server.ts'
import { textAt } from '../json.ts'

const FILE = 'api/openapi.yaml'
const BEFORE = openapi('/pets', '/toys')
const GROWN = openapi('/pets', '/toys', '/more')
const BREAKING = openapi('/pets')

interface Platform {
  readonly start: (repository: FakeRepository) => Promise<ScmServer>
  readonly merge: readonly [method: string, path: string]
  /** Questions about the request itself, and about the tip of its base. */
  readonly looks: Readonly<Record<'head' | 'base', RegExp>>
  /** The platform takes no commit that the merge is meant for. */
  readonly takesNoHead?: true
}

const PLATFORMS = {
  github: {
    start: startGithub,
    merge: ['PUT', '/repos/acme/pets/pulls/7/merge'],
    looks: { head: /\/pulls\/7$/, base: /(?:branches|heads)\/main$/ },
  },
  gitlab: {
    start: startGitlab,
    merge: ['PUT', '/api/v4/projects/4711/merge_requests/7/merge'],
    looks: { head: /\/merge_requests\/7$/, base: /branches\/main$/ },
  },
  bitbucket: {
    start: startBitbucket,
    merge: ['POST', '/2.0/repositories/acme/pets/pullrequests/7/merge'],
    looks: { head: /\/pullrequests\/7$/, base: /branches\/main$/ },
    takesNoHead: true,
  },
} as const satisfies Readonly<Record<string, Platform>>
type PlatformName = keyof typeof PLATFORMS

interface Scene {
  readonly repository: FakeRepository
  readonly server: ScmServer
  /** Whether the platform was asked to merge. */
  readonly merges: (body?: object, headers?: Readonly<Record<string, string>>) => Promise<boolean>
  readonly receipt: (after: string, more?: Readonly<Record<string, string | null>>) => Promise<string>
  readonly post: (path: string, body: string, headers: Readonly<Record<string, string>>) => Promise<Response>
}

/** Platforms with a repository each, behind one gateway. */
async function scenes(
  t: TestContext,
  name: PlatformName,
  count: number,
  route: object = {},
): Promise<readonly Scene[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => startPlatform(t, name)))
  const gateway = await startTestGateway(t, {
    routes: servers.map(({ origin }, index) => ({
      name: `scm-${index}`,
      match: { path: `/${index}` },
      upstream: origin,
      protocol: name,
      ...route,
    })),
  })
  return servers.map((server, index) =>
    sceneAt(name, server, `${gateway.addresses.proxy}/${index}`, gateway.addresses.api),
  )
}

async function scene(t: TestContext, name: PlatformName, route: object = {}): Promise<Scene> {
  const [one] = await scenes(t, name, 1, route)
  assert.ok(one !== undefined)
  return one
}

async function startPlatform(t: TestContext, name: PlatformName): Promise<ScmServer> {
  const repository = new FakeRepository('acme/pets', { [FILE]: BEFORE, 'README.md': 'pets' })
  repository.commit('feature', { [FILE]: GROWN }, 'main')
  repository.commit('other', { 'README.md': 'other' }, 'main')
  repository.open(7, 'feature')
  const server = await PLATFORMS[name].start(repository)
  t.after(() => server.close())
  return server
}

function sceneAt(name: PlatformName, server: ScmServer, url: string, api: string): Scene {
  const [method, path] = PLATFORMS[name].merge
  return {
    repository: server.repository,
    server,
    async merges(body = {}, headers = {}) {
      const before = server.effects.length
      const answer = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${SCM_TOKEN}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      await answer.text()
      return server.effects.length > before
    },
    post: (to, body, headers) => fetch(url + to, { method: 'POST', headers, body }),
    async receipt(after, more = {}) {
      const answer = await fetch(`${api}/api/v1/preflight`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_KEY}` },
        body: JSON.stringify({
          preflight_mode: 'authorize',
          artifacts: [{ id: FILE, type: 'openapi', before: BEFORE, after }],
          context: {
            operation: 'merge',
            target_id: `${name}:acme/pets#7`,
            repository: 'acme/pets',
            branch: 'main',
            pull_request: '7',
            ...more,
          },
        }),
      })
      return textAt(await answer.json(), 'chain_receipt')
    },
  }
}

const NAMES: readonly PlatformName[] = ['github', 'gitlab', 'bitbucket']

/** What moves, and the question after which the gateway cannot see it any more. */
const MOVES: Readonly<Record<string, readonly [look: 'head' | 'base', move: (repository: FakeRepository) => void]>> = {
  'the head gets a break': ['head', (repository) => void repository.commit('feature', { [FILE]: BREAKING })],
  'the head gets another file': ['head', (repository) => void repository.commit('feature', { 'late.txt': 'x' })],
  'the base gets another contract': ['base', (repository) => void repository.commit('main', { [FILE]: BREAKING })],
}

for (const name of NAMES)
  for (const [what, [look, move]] of Object.entries(MOVES))
    test(`${name}: ${what} between any two questions`, async (t) => {
      const still = await scene(t, name)
      assert.ok(await still.merges(), 'it is merged while nothing moves')
      const last = still.server.requests.findLastIndex(({ path }) => PLATFORMS[name].looks[look].test(path))
      assert.ok(last > 1)
      const first = still.server.requests.findIndex(({ path }) => PLATFORMS[name].looks[look].test(path))
      const merged: number[] = []
      for (const [index, one] of (await scenes(t, name, last - first)).entries()) {
        const question = first + 1 + index
        one.server.fault = () => {
          if (one.server.requests.length - 1 === question) move(one.repository)
          return null
        }
        if (await one.merges()) merged.push(question)
      }
      assert.deepEqual(merged, [])
    })

type Move = readonly [move: (one: Scene) => unknown, isSame: boolean]
const NOTHING: Move = [() => null, true]

/** Moves between the receipt and the merge that it was asked for; whether the change set is still the one of the receipt. */
const AFTER_RECEIPT: Readonly<Record<string, Move>> = {
  nothing: NOTHING,
  'the head gets another file': [({ repository }) => repository.commit('feature', { 'late.txt': 'x' }), true],
  'the base gets another file': [({ repository }) => repository.commit('main', { 'late.txt': 'x' }), true],
  'the head gets a break': [({ repository }) => repository.commit('feature', { [FILE]: BREAKING }), false],
  'the head gets another addition': [
    ({ repository }) => repository.commit('feature', { [FILE]: openapi('/pets', '/toys', '/more', '/most') }),
    false,
  ],
  'the head gets another contract': [
    ({ repository }) => repository.commit('feature', { 'api/graph.graphql': 'type Query { a: Int }' }),
    false,
  ],
  'the head takes the change back': [({ repository }) => repository.commit('feature', { [FILE]: BEFORE }), false],
  'the base gets another contract': [
    ({ repository }) => repository.commit('main', { [FILE]: openapi('/pets', '/toys', '/base') }),
    false,
  ],
  'the request gets another base': [
    ({ repository }) => repository.mergeRequests.set(7, { ...repository.open(7, 'feature'), base: 'other' }),
    false,
  ],
  'the request gets another head': [
    ({ repository }) => {
      repository.commit('fork', { [FILE]: BREAKING }, 'main')
      repository.open(7, 'fork')
    },
    false,
  ],
}

/** What names the first head: the call, its receipt, or neither. */
type Naming = 'nothing names the head' | 'the call names the head' | 'the receipt names the head'
const NAMINGS: readonly Naming[] = ['nothing names the head', 'the call names the head', 'the receipt names the head']

for (const name of NAMES)
  for (const naming of NAMINGS)
    test(`${name}: a receipt opens the merge of its change set only, where ${naming}`, async (t) => {
      const wrong: string[] = []
      const counts = naming === 'the receipt names the head' || !('takesNoHead' in PLATFORMS[name])
      const all = await scenes(t, name, Object.keys(AFTER_RECEIPT).length, { receipts: { require: true } })
      for (const [index, one] of all.entries()) {
        const [what = '', [move, isSame] = NOTHING] = Object.entries(AFTER_RECEIPT)[index] ?? []
        const head = one.repository.tip('feature')
        const token = await one.receipt(GROWN, naming === 'the receipt names the head' ? { head } : {})
        move(one)
        const now = one.repository.tip(one.repository.mergeRequests.get(7)?.head ?? '')
        const isOpen = isSame && (naming === 'nothing names the head' || !counts || head === now)
        const body = naming === 'the call names the head' ? { sha: head } : {}
        if ((await one.merges(body, { 'preflight-receipt': token })) !== isOpen)
          wrong.push(`${what}: ${isOpen ? 'not merged' : 'merged'}`)
      }
      assert.deepEqual(wrong, [])
    })

const NO_COMMIT = '0'.repeat(40)

/** A push of one ref, as git writes it before the pack. */
function pushOf(commit: string, ref: string, before = NO_COMMIT): string {
  const line = `${before} ${commit} ${ref}\0report-status`
  return `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK`
}

test('a receipt for a push of one commit opens no push of another one', async (t) => {
  const one = await scene(t, 'github', { scm: { push: 'receipt' } })
  const [head, other] = [one.repository.tip('feature'), one.repository.tip('other')]
  const bound = { operation: 'push', target_id: 'github:acme/pets@main', pull_request: null, head }
  const tagged = { ...bound, target_id: 'github:acme/pets@tag:v1', branch: 'refs/tags/v1' }
  const pushes = async (body: string, context: typeof bound): Promise<boolean> => {
    const before = one.server.requests.length
    const answer = await one.post('/acme/pets.git/git-receive-pack', body, {
      'content-type': 'application/x-git-receive-pack-request',
      'preflight-receipt': await one.receipt(GROWN, context),
    })
    await answer.text()
    return one.server.requests.length > before
  }
  assert.ok(await pushes(pushOf(head, 'refs/heads/main'), bound))
  assert.ok(await pushes(pushOf(other, 'refs/heads/main'), { ...bound, head: 'feature' }), 'a name is no commit')
  assert.ok(!(await pushes(pushOf(other, 'refs/heads/main'), bound)))
  assert.ok(await pushes(pushOf(head, 'refs/tags/v1', other), tagged))
  assert.ok(!(await pushes(pushOf(other, 'refs/tags/v1', head), tagged)))
})

for (const name of NAMES)
  test(`${name}: a decision about one head is not used for another one`, async (t) => {
    const one = await scene(t, name)
    assert.ok(await one.merges())
    one.repository.open(7, 'feature')
    one.repository.commit('feature', { [FILE]: BREAKING })
    assert.ok(!(await one.merges()))
    one.repository.commit('feature', { [FILE]: GROWN })
    assert.ok(await one.merges())
    one.repository.open(7, 'feature')
    one.repository.commit('main', { [FILE]: openapi('/pets', '/toys', '/more', '/base') })
    assert.ok(!(await one.merges()), 'a merge into another base is another change')
  })
