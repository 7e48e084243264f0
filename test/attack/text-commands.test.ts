/** Bots beside GitHub merge and deploy by a comment, with their own rights: such a text is refused wherever GitHub takes one. */
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
