/** `preflight ledger` on the file of a gateway: decisions, calls, and the chain. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import { run } from '../../fakes/command-io.ts'
import { decisionRow } from '../../fakes/decision-row.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-cli-ledger-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('the ledger is listed with filters and its chain is checked', async () => {
  const data = join(directory, 'ledger')
  const store = await openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
  await store.decisions.record(decisionRow({ decisionId: 'dec_a', operation: 'merge' }))
  await store.decisions.record(decisionRow({ decisionId: 'dec_b', operation: 'deploy' }))
  await store.close()
  const listed = await run(['ledger', 'list', '--data-dir', data, '--operation', 'deploy', '--format', 'json'])
  const rows: { decision_id: string; decision_result: object }[] = JSON.parse(listed.stdout)
  assert.deepEqual(
    rows.map((row) => row.decision_id),
    ['dec_b'],
  )
  assert.deepEqual(rows[0]?.decision_result, { decision: 'ALLOW' })
  assert.match((await run(['ledger', 'list', '--data-dir', data])).stdout, /dec_b\n.*dec_a\n$/)
  assert.equal((await run(['ledger', 'verify-chain', '--data-dir', data])).code, 0)
  assert.equal((await run(['ledger', 'list', '--data-dir', data, '--from', 'yesterday'])).code, 2)
})

test('calls are listed with what was done with them, and where they depart from their contract', async () => {
  const data = join(directory, 'calls')
  const store = await openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
  const call = {
    correlationId: 'c1',
    tenant: 'local',
    decisionId: 'dec_a',
    route: 'shop',
    protocol: 'http',
    action: 'GET /pets',
    executionAction: 'CONTINUE',
    enforced: true,
    effect: 'forwarded',
    breakGlassId: null,
    traceId: null,
    violations: null,
    at: 1_000,
  } as const
  await store.calls.record(call)
  const violations = [{ where: 'body#/id', message: 'must be integer' }]
  await store.calls.record({ ...call, effect: 'drifted', violations })
  await store.close()
  const listed = await run(['ledger', 'calls', '--data-dir', data, '--effect', 'drifted', '--format', 'json'])
  const rows: { pattern: string; violations: object }[] = JSON.parse(listed.stdout)
  assert.deepEqual(
    rows.map((row) => [row.pattern, row.violations]),
    [['TOOL_RESULT_SHAPE_DRIFT', violations]],
  )
  const table = await run(['ledger', 'calls', '--data-dir', data, '--route', 'shop'])
  assert.match(
    table.stdout,
    /CORRELATION_ID.*\n.* drifted .* c1 .* body#\/id must be integer\n.* forwarded .* c1 .*\n$/,
  )
  const found = await run(['ledger', 'calls', '--data-dir', data, '--correlation-id', 'c2'])
  assert.match(found.stdout, /^#  TIME[^\n]*\n\(none\)\n$/)
  assert.equal((await run(['ledger', 'calls', '--data-dir', data, '--effect', 'gone'])).code, 2)
})
