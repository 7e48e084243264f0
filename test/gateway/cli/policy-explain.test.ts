/** Why a stored decision was made: over the API, with --url, and on the data directory, the same words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { startConsoleScene } from '../../fakes/console-scene.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

test('a stored decision is explained alike over the API, remotely and on the data directory', async (t) => {
  const scene = await startConsoleScene(t)
  const asked = await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' })
  const id = textAt(asked, 'decision_result', 'decision_id')
  const explained = () => scene.api('GET', `/api/v1/decisions/${id}/explanation`)
  // Contracts are written a moment after the decision.
  await until(async () => at((await explained()).body, 'problem') === null, 'the input is kept')
  const answer = await explained()
  assert.equal(answer.status, 200)
  assert.deepEqual(
    ['decision_id', 'was', 'is_same_policy', 'problem'].map((name) => at(answer.body, name)),
    [id, 'REQUIRE_APPROVAL', true, null],
  )
  const first = listAt(answer.body, 'changes').find((change) => at(change, 'rule') === 'breaking-in-production-asks')
  const why = listAt(first, 'why').map(String)
  assert.equal(why[0], 'Rule breaking-in-production-asks decides REQUIRE_APPROVAL. Its condition is true:')
  assert.ok(why.includes('  - context.environment == \'production\' is true: context.environment is "production"'))
  assert.ok(
    why.includes('Without this rule, rule breaking-elsewhere-asks would decide REQUIRE_APPROVAL.'),
    why.join('\n'),
  )
  const viewer = await scene.newKey('Vi', 'viewer')
  const remote = await run(['policy', 'explain', id, '--url', scene.url], {
    environment: { PREFLIGHT_API_KEY: viewer },
  })
  assert.equal(remote.code, 0, remote.stderr)
  assert.match(
    remote.stdout,
    new RegExp(`^${id} was decided REQUIRE_APPROVAL\\.\nPolicy shop, which decided then\\.\n`),
  )
  assert.match(remote.stdout, /Rule breaking-in-production-asks decides REQUIRE_APPROVAL/)
  const agent = await scene.newKey('bot', 'agent')
  assert.equal((await scene.api('GET', `/api/v1/decisions/${id}/explanation`, undefined, agent)).status, 403)
  assert.equal((await scene.api('GET', '/api/v1/decisions/dec_0/explanation')).status, 404)
  const here = await run(['policy', 'explain', id, '--data-dir', scene.gateway.dataDir])
  assert.equal(here.code, 0, here.stderr)
  assert.match(here.stdout, /Another policy decided then\./)
  const unknown = await run(['policy', 'explain', 'dec_nothing', '--data-dir', scene.gateway.dataDir])
  assert.equal(unknown.code, 2)
})

test('an input that is not kept is said, not guessed', async (t) => {
  const scene = await startConsoleScene(t, { ledger: { inputs: 0 } })
  const asked = await scene.ask({ operation: 'merge', environment: 'production' })
  const id = textAt(asked, 'decision_result', 'decision_id')
  const { body } = await scene.api('GET', `/api/v1/decisions/${id}/explanation`)
  assert.match(textAt(body, 'problem'), /its input was not kept/)
  const { code, stdout } = await run(['policy', 'explain', id, '--url', scene.url], {
    environment: { PREFLIGHT_API_KEY: scene.admin },
  })
  assert.equal(code, 3)
  assert.match(stdout, /It cannot be explained: its input was not kept/)
})
