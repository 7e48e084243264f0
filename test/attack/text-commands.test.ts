/** Bots beside a platform merge and deploy by a comment, with their own rights: such a text is refused wherever the platform takes one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked, scmScene } from '../fakes/scm-proxy.ts'

const REPOSITORY = '/repos/acme/pets'

type Place = readonly [method: string, path: string, body: (text: string) => unknown]

const COMMENT: Place = ['POST', `${REPOSITORY}/issues/7/comments`, (body) => ({ body })]

/** Where GitHub takes texts of people: method and path, and the body around a text. */
const PLACES: readonly Place[] = [
  COMMENT,
  ['PATCH', `${REPOSITORY}/issues/comments/11`, (body) => ({ body })],
  ['POST', `${REPOSITORY}/issues`, (body) => ({ title: 'Pets', body })],
  ['PATCH', `${REPOSITORY}/issues/7`, (body) => ({ body })],
  ['POST', `${REPOSITORY}/pulls`, (body) => ({ title: 'Pets', head: 'feature', base: 'main', body })],
  ['PATCH', `${REPOSITORY}/pulls/7`, (body) => ({ body })],
  ['POST', `${REPOSITORY}/pulls/7/comments`, (body) => ({ body, path: 'a', line: 1 })],
  ['POST', `${REPOSITORY}/pulls/7/comments/3/replies`, (body) => ({ body })],
  ['PATCH', `${REPOSITORY}/pulls/comments/3`, (body) => ({ body })],
  ['POST', `${REPOSITORY}/pulls/7/reviews`, (body) => ({ event: 'COMMENT', body })],
  ['POST', `${REPOSITORY}/pulls/7/reviews`, (body) => ({ comments: [{ path: 'a', position: 1, body }] })],
  ['PUT', `${REPOSITORY}/pulls/7/reviews/5`, (body) => ({ body })],
  ['POST', `${REPOSITORY}/pulls/7/reviews/5/events`, (body) => ({ event: 'COMMENT', body })],
  ['POST', `${REPOSITORY}/commits/${'a'.repeat(40)}/comments`, (body) => ({ body })],
  [
    'POST',
    '/graphql',
    (body) => ({
      query: 'mutation ($body: String!) { addComment(input: {subjectId: "I", body: $body}) { clientMutationId } }',
      variables: { body },
    }),
  ],
]

const COMMANDS = [
  '@dependabot merge',
  'Thanks! @dependabot squash and merge',
  '@Dependabot[bot] merge',
  '@mergifyio queue',
  '@Mergifyio please merge',
  '@bors r+',
  'bors r+',
  'bors merge',
  'bors: r=alice',
  'Looks good.\r\n/lgtm\r\n/approve',
  '  /merge',
  '/merge squash',
  '/trunk merge',
  '/aviator merge',
  '/deploy production',
  '/deploy-prod',
  '/auto-merge',
  '.deploy',
  'atlantis apply -p prod',
  'atlantis approve_policies',
  'digger apply',
  '@rultor release, tag is `1.2`',
] as const

const HARMLESS = [
  '@alice please merge this when you have time',
  'We should merge and deploy this tomorrow.',
  'See /merge in the docs',
  '/deploy/api is the folder',
  '/etc/hosts is wrong',
  '/retest',
  '/cc @alice',
  '/approvers are in OWNERS',
  '@dependabot rebase',
  '@dependabot ignore this major version',
  'atlantis plan',
  'The bors queue is long.',
  '> /merge',
  '.deploy.yml holds the steps',
  '- [x] merged',
] as const

const [method, path, around] = COMMENT

for (const command of COMMANDS) {
  test(`a comment with ${JSON.stringify(command)} is refused`, async (t) => {
    const scene = await scmScene(t, 'github')
    const answer = await scene.send(method, path, around(command))
    assert.equal(answer.status, 403)
    assert.match(await answer.text(), /a command for a bot/)
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })
}

test('a command is refused wherever GitHub takes a text', async (t) => {
  const scene = await scmScene(t, 'github')
  for (const [verb, place, body] of PLACES) {
    const answer = await scene.send(verb, place, body('/merge'))
    assert.equal(answer.status, 403, `${verb} ${place}`)
  }
  assert.deepEqual(scene.server.effects, [])
})

test('texts of people pass', async (t) => {
  const scene = await scmScene(t, 'github')
  for (const text of HARMLESS) {
    const answer = await scene.send(method, path, around(text))
    assert.notEqual(answer.status, 403, text)
  }
  for (const [verb, place, body] of PLACES) {
    const answer = await scene.send(verb, place, body('Please look at this.'))
    assert.notEqual(answer.status, 403, `${verb} ${place}`)
  }
})

const SLUG = '/2.0/repositories/acme/pets'
const PULL = `${SLUG}/pullrequests/7`
const PROJECT = '/api/v4/projects/4711'
const REQUEST = `${PROJECT}/merge_requests/7`
const raw = (body: string) => ({ content: { raw: body } })
const createNote = (body: string) => ({
  query:
    'mutation ($body: String!) { createNote(input: {noteableId: "gid://gitlab/MergeRequest/7", body: $body}) { errors } }',
  variables: { body },
})
const OTHERS: Readonly<Record<'gitlab' | 'bitbucket', readonly Place[]>> = {
  gitlab: [
    ['POST', `${REQUEST}/notes`, (body) => ({ body })],
    ['PUT', `${REQUEST}/notes/3`, (body) => ({ body })],
    ['POST', `${REQUEST}/discussions`, (body) => ({ body })],
    ['POST', `${REQUEST}/discussions/a/notes`, (body) => ({ body })],
    ['POST', `${REQUEST}/draft_notes`, (note) => ({ note })],
    ['POST', `${PROJECT}/issues/7/notes`, (body) => ({ body })],
    ['PUT', REQUEST, (description) => ({ description })],
    ['POST', '/api/graphql', createNote],
  ],
  bitbucket: [
    ['POST', `${PULL}/comments`, raw],
    ['PUT', `${PULL}/comments/3`, raw],
    ['POST', `${PULL}/tasks`, raw],
    ['PUT', PULL, (description) => ({ description })],
    ['POST', `${SLUG}/pullrequests`, (description) => ({ title: 'Pets', description })],
    ['POST', `${SLUG}/commit/${'a'.repeat(40)}/comments`, raw],
  ],
}

for (const platform of ['gitlab', 'bitbucket'] as const)
  test(`${platform}: a command for a bot is refused wherever the platform takes a text, and texts of people pass`, async (t) => {
    const scene = await scmScene(t, platform)
    let count = 0
    for (const [verb, place, body] of OTHERS[platform]) {
      for (const command of [
        'atlantis apply -p prod',
        'Fine.\n@atlantis approve_policies',
        'digger apply',
        '@renovate merge',
      ])
        assert.equal((await scene.send(verb, place, body(command))).status, 403, `${verb} ${place}: ${command}`)
      assert.equal(scene.server.requests.length, count)
      for (const text of ['atlantis plan', 'Please merge and deploy this tomorrow.', 'See docs/atlantis.md'])
        assert.notEqual((await scene.send(verb, place, body(text))).status, 403, `${verb} ${place}: ${text}`)
      assert.deepEqual(asked(scene), [])
      count = scene.server.requests.length
    }
  })

/** Texts that hold a command once carriage returns are removed, as GitLab does before it looks for commands. */
const SPLIT = [
  '/\rmerge',
  '/mer\rge',
  '\r/\r\rship',
  'Done.\n/\rapprove',
  'Done.\r\n\r/\rrebase',
  'Done.\\n/\rmerge',
  'Done.\\n/\\rmerge',
  '@depend\rabot merge',
  '@dependabot mer\rge',
  'atlan\rtis apply',
] as const

test('a command with carriage returns in it is refused', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  for (const text of SPLIT) {
    const [verb, place, body] = ['POST', `${PROJECT}/issues/7/notes`, { body: text }] as const
    assert.equal((await scene.send(verb, place, body)).status, 403, JSON.stringify(text))
    assert.equal((await scene.send('POST', `${REQUEST}/draft_notes`, { note: text })).status, 403, JSON.stringify(text))
  }
  for (const text of ['Done.\r\nThanks.\r\n', 'a\r/b/c', '\r\r'])
    assert.notEqual(
      (await scene.send('POST', `${PROJECT}/issues/7/notes`, { body: text })).status,
      403,
      JSON.stringify(text),
    )
  assert.equal(scene.server.effects.length, 3)
})

test('a comment that merges by a command with carriage returns in it is judged as the merge', async (t) => {
  const scene = await scmScene(t, 'gitlab')
  await scene.send('POST', `${REQUEST}/notes`, { body: '/\rmerge' })
  const [judged] = asked(scene)
  await scene.send('POST', `${REQUEST}/notes`, { body: '/merge' })
  assert.notEqual(judged, undefined)
  assert.deepEqual(judged, asked(scene)[1])
})
