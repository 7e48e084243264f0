/** Auto-merge that stays on when the head of its request moves: what moves it is refused, since it would be merged unjudged. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { AFTER, asked, scmScene, type SceneOptions } from '../../fakes/scm-proxy.ts'
import type { ScmRequest } from '../../fakes/scm-server.ts'

const REPO = '/repos/acme/pets'
const PUSH = '/acme/pets.git/git-receive-pack'
const ZERO = '0'.repeat(40)
const ONE = '1'.repeat(40)
const TWO = '2'.repeat(40)

type Attempt = readonly [what: string, method: string, path: string, body?: unknown]

const base64 = (text: string) => Buffer.from(text).toString('base64')
const mutation = (field: string, input: string) => ({
  query: `mutation { ${field}(input: ${input}) { clientMutationId } }`,
})

function push(...refs: readonly string[]): string {
  const lines = refs.map((ref, index) => `${ref}${index === 0 ? '\0report-status' : ''}`)
  return `${lines.map((text) => (text.length + 4).toString(16).padStart(4, '0') + text).join('')}0000PACK`
}

const FILE = { message: 'x', content: base64(AFTER) }
const FEATURE = '{repositoryNameWithOwner: "acme/pets", branchName: "feature"}'
const FILES = `{additions: [{path: "api/openapi.yaml", contents: "${base64(AFTER)}"}]}`

/** Everything that gives the branch `feature` other commits. Request 9 merges `other` into it. */
const MOVES: readonly Attempt[] = [
  ['a push', 'POST', PUSH, push(`${ONE} ${TWO} refs/heads/feature`)],
  ['a push among others', 'POST', PUSH, push(`${ZERO} ${TWO} refs/heads/new`, `${ONE} ${TWO} refs/heads/feature`)],
  ['a file', 'PUT', `${REPO}/contents/README.md`, { ...FILE, branch: 'feature' }],
  ['a file by the name of the ref', 'PUT', `${REPO}/contents/README.md`, { ...FILE, branch: 'refs/heads/feature' }],
  ['a file by another name of the ref', 'PUT', `${REPO}/contents/README.md`, { ...FILE, branch: 'heads/feature' }],
  ['a deleted file', 'DELETE', `${REPO}/contents/README.md`, { message: 'x', sha: ONE, branch: 'feature' }],
  ['a ref', 'PATCH', `${REPO}/git/refs/heads/feature`, { sha: ONE, force: true }],
  ['a ref by POST', 'POST', `${REPO}/git/refs/heads/feature`, { sha: ONE }],
  ['a merge into it', 'POST', `${REPO}/merges`, { base: 'feature', head: 'other' }],
  ['a request merged into it', 'PUT', `${REPO}/pulls/9/merge`, {}],
  ['a branch renamed to it', 'POST', `${REPO}/branches/other/rename`, { new_name: 'feature' }],
  ['the upstream of a fork', 'POST', `${REPO}/merge-upstream`, { branch: 'feature' }],
  ['a fix of an alert', 'POST', `${REPO}/code-scanning/alerts/1/autofix/commits`, { target_ref: 'refs/heads/feature' }],
  [
    'a commit by GraphQL',
    'POST',
    '/graphql',
    mutation('createCommitOnBranch', `{branch: ${FEATURE}, fileChanges: ${FILES}, message: {headline: "x"}}`),
  ],
  ['a ref by GraphQL', 'POST', '/graphql', mutation('updateRef', '{refId: "REF_feature", oid: "other"}')],
  [
    'a merge into it by GraphQL',
    'POST',
    '/graphql',
    mutation('mergeBranch', '{repositoryId: "R_4711", base: "feature", head: "other"}'),
  ],
  ['a request merged by GraphQL', 'POST', '/graphql', mutation('mergePullRequest', '{pullRequestId: "PR_9"}')],
  ['a request queued by GraphQL', 'POST', '/graphql', mutation('enqueuePullRequest', '{pullRequestId: "PR_9"}')],
]

/** Brings commits of `main` to `feature`: what a request from `feature` into `main` merges stays the same. */
const UPDATES: readonly Attempt[] = [
  ['an update of the request', 'PUT', `${REPO}/pulls/7/update-branch`, {}],
  ['an update by GraphQL', 'POST', '/graphql', mutation('updatePullRequestBranch', '{pullRequestId: "PR_7"}')],
  ['a merge of the base into it', 'POST', `${REPO}/merges`, { base: 'feature', head: 'main' }],
  ['a merge before its deployment', 'POST', `${REPO}/deployments`, { ref: 'feature', environment: 'production' }],
]

async function scene(t: TestContext, options: SceneOptions = {}, bases: readonly string[] = ['main']) {
  const found = await scmScene(t, 'github', options)
  const { repository, server } = found
  repository.commit('other', { 'api/openapi.yaml': AFTER }, 'main')
  repository.commit('stable', { 'README.md': 'stable' }, 'main')
  repository.open(9, 'other', 'feature')
  repository.mergeRequests.delete(7)
  bases.forEach((base, index) => {
    repository.open(7 + index * 10, 'feature', base).waits = true
  })
  server.fault = serveGit(server.effects)
  return found
}

/** The API of the same host is that of an Enterprise Server; its answers are those of the root here. */
function serveGit(effects: string[]) {
  return ({ path, headers }: ScmRequest) => {
    if (path !== PUSH) return null
    effects.push(`push by ${String(headers.authorization)}`)
    return { body: 'pushed' }
  }
}

function serverOf(attempt: Attempt): SceneOptions {
  const [, , path] = attempt
  return path === PUSH ? { github: { prefix: '/api/v3' } } : {}
}

async function send(found: Awaited<ReturnType<typeof scene>>, [, method, path, body]: Attempt) {
  const answer = await found.send(method, path, body)
  return { status: answer.status, text: await answer.text() }
}

for (const attempt of MOVES) {
  test(`${attempt[0]} is refused while a request with auto-merge has the branch as its head`, async (t) => {
    const found = await scene(t, serverOf(attempt))
    const { status, text } = await send(found, attempt)
    assert.ok([403, 503].includes(status), String(status))
    assert.match(text, /acme\/pets#7 has auto-merge on.*main unjudged.*Turn auto-merge off/)
    assert.deepEqual(found.server.effects, [])
  })

  test(`${attempt[0]} goes on where no request has auto-merge on`, async (t) => {
    const found = await scene(t, serverOf(attempt))
    for (const request of found.repository.mergeRequests.values()) request.waits = false
    const { status, text } = await send(found, attempt)
    assert.equal(status, 200, text)
    assert.equal(found.server.effects.length, 1)
  })

  test(`${attempt[0]} is refused where the requests cannot be read`, async (t) => {
    for (const answer of [
      { status: 403, body: { message: 'Resource not accessible by personal access token' } },
      { status: 404, body: { message: 'Not Found' } },
      { status: 500, body: {} },
      { status: 200, body: [{ number: 7, base: { ref: 'main' }, head: { ref: 'feature' } }] },
    ]) {
      const found = await scene(t, serverOf(attempt))
      const git = serveGit(found.server.effects)
      found.server.fault = (request) => (request.path.endsWith('/pulls') ? answer : git(request))
      const { status, text } = await send(found, attempt)
      assert.ok([403, 404, 503].includes(status), `${status} after ${answer.status}`)
      if (status !== 404 && answer.status !== 403)
        assert.match(
          text,
          /whether a pull request with auto-merge has (?:heads\/)?feature as its head could not be read/,
        )
      assert.deepEqual(found.server.effects, [])
    }
  })
}

for (const attempt of UPDATES) {
  test(`${attempt[0]} goes on, and not where its head also merges into another branch by itself`, async (t) => {
    const alone = await scene(t)
    const passed = await send(alone, attempt)
    assert.equal(passed.status, 200, passed.text)
    const shared = await scene(t, {}, ['main', 'stable'])
    const { status, text } = await send(shared, attempt)
    assert.ok([403, 503].includes(status), String(status))
    assert.match(text, /acme\/pets#17 has auto-merge on.*stable unjudged/)
    assert.deepEqual(shared.server.effects, [])
  })
}

test('auto-merge that is turned on while a change of its head is judged stops the change', async (t) => {
  const found = await scene(t, {
    decide: () => {
      found.repository.open(7, 'feature').waits = true
      return 'ALLOW'
    },
  })
  found.repository.mergeRequests.delete(7)
  const answer = await found.send('POST', `${REPO}/merges`, { base: 'feature', head: 'other' })
  assert.equal(answer.status, 503)
  assert.equal(asked(found).length, 1)
  assert.deepEqual(found.server.effects, [])
})

for (const [what, beside] of [
  ['a commit', `createCommitOnBranch(input: {branch: ${FEATURE}, fileChanges: ${FILES}}) { x }`],
  ['a ref', 'updateRef(input: {refId: "REF_feature", oid: "other"}) { x }'],
  ['a merge', 'mergePullRequest(input: {pullRequestId: "PR_9"}) { x }'],
] as const) {
  test(`auto-merge and ${what} in one request of GraphQL are refused`, async (t) => {
    const found = await scene(t, { scm: { auto_merge: 'judge' } })
    for (const request of found.repository.mergeRequests.values()) request.waits = false
    const enable = 'enablePullRequestAutoMerge(input: {pullRequestId: "PR_7"}) { x }'
    const answer = await found.send('POST', '/graphql', { query: `mutation { ${enable} ${beside} }` })
    assert.equal(answer.status, 403)
    assert.deepEqual(found.server.effects, [])
  })
}

test('a merge and a change of a branch in one request of GraphQL are refused', async (t) => {
  const found = await scene(t)
  for (const request of found.repository.mergeRequests.values()) request.waits = false
  const query = `mutation { createCommitOnBranch(input: {branch: ${FEATURE}, fileChanges: ${FILES}}) { x } mergePullRequest(input: {pullRequestId: "PR_7"}) { x } }`
  assert.equal((await found.send('POST', '/graphql', { query })).status, 403)
  assert.deepEqual(found.server.effects, [])
})

test('a branch of a fork is looked up at its parent too, unless its sender cannot read that', async (t) => {
  const found = await scmScene(t, 'github', { github: { prefix: '/api/v3' } })
  found.repository.parent = 'upstream/pets'
  const git = serveGit(found.server.effects)
  const attempt = push(`${ONE} ${TWO} refs/heads/feature`)
  let reply: object | null = null
  found.server.fault = (request) => {
    if (request.path !== '/api/v3/repos/upstream/pets/pulls') return git(request)
    const pull = {
      number: 3,
      head: { ref: 'feature', repo: { full_name: 'acme/pets' } },
      base: { ref: 'main', repo: { full_name: found.repository.parent } },
      auto_merge: { merge_method: 'merge' },
    }
    return reply === null ? { body: [pull] } : { status: 404, body: reply }
  }
  const refused = await found.send('POST', PUSH, attempt)
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /upstream\/pets#3 has auto-merge on/)
  reply = { message: 'Not Found' }
  assert.equal((await found.send('POST', PUSH, attempt)).status, 200)
})

const FORK = 'eve/pets'

/** What the platform answers about the fork: its pull requests, those of its source, and what the update then gets. */
const FORKS: readonly {
  readonly what: string
  readonly head?: object | null
  readonly pulls?: Readonly<Record<string, { readonly status?: number; readonly body: unknown }>>
  readonly refused: RegExp | null
}[] = [
  { what: 'goes on where none waits in the fork', refused: null },
  {
    what: 'goes on where the request itself waits',
    pulls: { 'acme/pets': { body: [waitingIn('acme/pets', 'main')] } },
    refused: null,
  },
  {
    what: 'is refused where one into another branch waits',
    pulls: { 'acme/pets': { body: [waitingIn('acme/pets', 'stable')] } },
    refused: /acme\/pets#3 has auto-merge on.*stable/,
  },
  {
    what: 'is refused where one in the fork waits',
    pulls: { [FORK]: { body: [waitingIn(FORK, 'main')] } },
    refused: /eve\/pets#3 has auto-merge on.*main/,
  },
  {
    what: 'is refused where one at the source of the fork waits',
    pulls: { 'root/pets': { body: [waitingIn('root/pets', 'main')] } },
    refused: /root\/pets#3 has auto-merge on/,
  },
  {
    what: 'goes on where nobody can read the source of the fork',
    pulls: { 'root/pets': { status: 404, body: { message: 'Not Found' } } },
    refused: null,
  },
  {
    what: 'is refused where the requests of the fork cannot be read',
    pulls: { [FORK]: { status: 404, body: { message: 'Not Found' } } },
    refused: /whether a pull request with auto-merge has (?:heads\/)?feature as its head could not be read/,
  },
  {
    what: 'is refused where the fork is not named',
    head: null,
    refused: /does not name the repository of the head/,
  },
]

function waitingIn(name: string, base: string): object {
  return {
    number: 3,
    head: { ref: 'feature', repo: { full_name: FORK } },
    base: { ref: base, repo: { full_name: name } },
    auto_merge: { merge_method: 'merge' },
  }
}

for (const { what, head = { full_name: FORK }, pulls = {}, refused } of FORKS)
  for (const attempt of UPDATES.slice(0, 2))
    test(`${attempt[0]} whose head is in a fork ${what}`, async (t) => {
      const found = await scmScene(t, 'github')
      const tip = found.repository.tip('feature')
      found.server.fault = ({ path }) => {
        if (path === `${REPO}/pulls/7`)
          return {
            body: {
              number: 7,
              state: 'open',
              head: { ref: 'feature', sha: tip, repo: head },
              base: { ref: 'main', sha: found.repository.tip('main'), repo: { full_name: 'acme/pets' } },
              merge_commit_sha: null,
            },
          }
        if (path === `/repos/${FORK}`)
          return { body: { full_name: FORK, parent: { full_name: 'acme/pets' }, source: { full_name: 'root/pets' } } }
        const name = /^\/repos\/(.+)\/pulls$/.exec(path)?.[1]
        return name === undefined ? null : (pulls[name] ?? { body: [] })
      }
      const { status, text } = await send(found, attempt)
      if (refused === null) return assert.equal(status, 200, text)
      assert.ok([403, 404, 503].includes(status), `${status}`)
      assert.match(text, refused)
      assert.deepEqual(found.server.effects, [])
    })

test('pushes that move no head ask nothing', async (t) => {
  const found = await scene(t)
  for (const ref of [
    `${ZERO} ${TWO} refs/heads/new`,
    `${ONE} ${ZERO} refs/heads/feature`,
    `${ZERO} ${TWO} refs/tags/v1`,
  ])
    assert.equal((await found.send('POST', PUSH, push(ref))).status, 200)
  assert.equal((await found.send('POST', PUSH, '0000')).status, 200)
  assert.deepEqual(new Set(found.server.requests.map(({ path }) => path)), new Set([PUSH]))
})

test('a push of many branches asks once for each', async (t) => {
  const found = await scene(t, { github: { prefix: '/api/v3' } })
  const refs = Array.from({ length: 40 }, (_, index) => `${ONE} ${TWO} refs/heads/topic-${index}`)
  assert.equal((await found.send('POST', PUSH, push(...refs))).status, 200)
  assert.equal(found.server.requests.length, 1 + refs.length + 1)
})

test('with push: pass a push is forwarded unjudged', async (t) => {
  const found = await scene(t, { scm: { push: 'pass' } })
  assert.equal((await found.send('POST', PUSH, push(`${ONE} ${TWO} refs/heads/feature`))).status, 200)
})
