/** Texts and expressions that are made to be matched for ever: whoever sends them waits alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../fakes/api.ts'
import { excessiveGrowth } from '../fakes/growth.ts'
import { botCommandIn } from '../../gateway/protocols/scm/text-commands.ts'
import { quickActionsIn } from '../../gateway/protocols/scm/quick-actions.ts'
import { asked, scmScene } from '../fakes/scm-proxy.ts'

const ENDLESS = '^/(a+)+$'
const openapi = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  paths: { [`/${'a'.repeat(60)}!`]: { get: { responses: { 200: { description: 'ok' } } } } },
})

for (const option of ['match_path', 'unmatch_path'] as const) {
  test(`an expression in ${option} that holds other engines for ever is answered as any other`, async (t) => {
    const api = await startApi({ config: { limits: { analysis: 20 } } })
    t.after(() => api.close())
    const head = openapi.replace('"t"', '"u"')
    const answer = await api.post('/api/diff', { base: openapi, head, options: { [option]: ENDLESS } })
    assert.equal(answer.status, 200, answer.text)
  })
}

const REQUEST = '/api/v4/projects/4711/merge_requests/7'

test('comments of very many blanks, lines and quotes are read quickly', { timeout: 30_000 }, async (t) => {
  const scene = await scmScene(t, 'gitlab')
  for (const piece of ['\n', ' ', '\r\n ', '\t', '"', '\\n', '\u2028', '/merg', '\\']) {
    const body = piece.repeat(Math.floor(400_000 / piece.length))
    await scene.send('POST', `${REQUEST}/notes`, { body })
    await scene.send('POST', `${REQUEST}/draft_notes`, { note: body })
    const query = `mutation { createNote(input: {noteableId: "gid://7", body: ${JSON.stringify(body)}}) { errors } }`
    await scene.send('POST', '/api/graphql', { query })
  }
  assert.deepEqual(asked(scene), [])
})

const PIECES = [
  'a-',
  'merge-',
  '-',
  'a',
  ' ',
  '\t',
  '\n/',
  '\n/a',
  '/a-',
  'r=',
  '@bors ',
  '@bors',
  'bors ',
  '\\n',
  '\u00a0',
  '_',
  'é',
]
const STARTS = [
  '',
  '/',
  '!',
  '.',
  '/a ',
  '/merge-',
  '@bors ',
  '@dependabot[bot]',
  'atlantis ',
  'atlantis a ',
  '\\n',
  '  ',
]
const ENDS = ['', '(', ' (', '\n', ' merge(']

test('a text is searched for commands in time that grows with it', { timeout: 120_000 }, async () => {
  const slow: string[] = []
  for (const start of STARTS)
    for (const piece of PIECES)
      for (const end of ENDS) {
        const growth = await excessiveGrowth((length) => {
          const text = start + piece.repeat(length / piece.length) + end
          for (const platform of ['scm_a', 'scm_b', 'scm_c'] as const) botCommandIn(platform, text)
          quickActionsIn(text)
        }, 100_000)
        if (growth !== null) slow.push(`${JSON.stringify([start, piece, end])}: ${growth}`)
      }
  assert.deepEqual(slow, [])
})

test('a comment that begins like a command is read quickly at each platform', { timeout: 30_000 }, async (t) => {
  const places = {
    github: '/repos/acme/pets/issues/7/comments',
    bitbucket: '/2.0/repositories/acme/pets/pullrequests/7/comments',
    gitlab: `${REQUEST}/notes`,
  } as const
  for (const platform of ['github', 'bitbucket', 'gitlab'] as const) {
    const scene = await scmScene(t, platform)
    const body = `/${'a-'.repeat(200_000)}`
    await scene.send('POST', places[platform], platform === 'bitbucket' ? { content: { raw: body } } : { body })
    assert.deepEqual(asked(scene), [], platform)
  }
})

test('a command behind any of them is found all the same', async (t) => {
  const scene = await scmScene(t, 'gitlab', { decide: () => 'BLOCK' })
  for (const before of ['\n'.repeat(1000), ' '.repeat(1000), 'x\r\n\t ', '\n\u00a0', '\v\f'])
    assert.equal((await scene.send('POST', `${REQUEST}/notes`, { body: `${before}/merge` })).status, 403, before)
  assert.equal(asked(scene).length, 5)
  for (const before of ['', '\n', 'fine\n  ', '\r\n', '\\n '])
    for (const word of ['/merge', '/rebase', '/MERGE']) {
      const query = `mutation { createNote(input: {body: ${JSON.stringify(before + word)}}) { errors } }`
      assert.equal((await scene.send('POST', '/api/graphql', { query })).status, 403, before + word)
    }
})
