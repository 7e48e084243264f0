/**
 * Symbolic links in a repository at GitHub, whose API sends the file that a link leads to. A contract behind a link of
 * another name would change later without being listed, so it is stopped when the link comes.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { AFTER, BEFORE, scmScene } from '../fakes/scm-proxy.ts'

const CONTRACT = 'api/openapi.yaml'
const TARGET = 'api/store.txt'

/** A branch in which a path is a link; the platform sends the text of its target for it. */
async function linked(t: TestContext, path: string, sent: string, others: number) {
  const scene = await scmScene(t, 'github')
  const { repository, server } = scene
  const further = Object.fromEntries(Array.from({ length: others }, (_, index) => [`notes/${index}.txt`, 'x']))
  repository.commit('linking', { ...further, [path]: 'store.txt', [TARGET]: sent }, 'main')
  repository.open(8, 'linking')
  const head = repository.tip('linking')
  server.fault = ({ path: asked, query }) =>
    asked.endsWith(`/contents/${path}`) && query.get('ref') === head
      ? { headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' }, body: sent }
      : null
  const answer = await scene.send('PUT', '/repos/acme/pets/pulls/8/merge', {})
  await answer.arrayBuffer()
  return scene.proxy.flow.asked.map(({ artifacts, unreadable = [] }) => ({
    compared: artifacts.map(({ id, after }) => [id, after]),
    unread: unreadable.map(({ id, problem }) => [id, problem.code, problem.message.includes('symbolic link')]),
  }))
}

/** Changed files beside it: a comparison lists few, and many are found by the trees. */
for (const others of [0, 300]) {
  test(`a contract that becomes a link, or a new one, is not read through the link beside ${others} files`, async (t) => {
    for (const path of [CONTRACT, 'other/openapi.yaml'])
      for (const sent of [BEFORE, AFTER])
        assert.deepEqual(await linked(t, path, sent, others), [
          { compared: [], unread: [[path, 'DERIVATION_INCOMPLETE', true]] },
        ])
  })

  test(`a link to a file that is no contract is nothing to judge beside ${others} files`, async (t) => {
    assert.deepEqual(await linked(t, 'settings.yaml', 'colour: red\n', others), [{ compared: [], unread: [] }])
  })
}
