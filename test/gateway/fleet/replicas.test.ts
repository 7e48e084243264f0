/**
 * Gateways as replicas of one Deployment: processes with one PostgreSQL, no shared disk and no external signer. Each makes its
 * own receipt key. What one of them signs is good at all of them, and stays good when its pod and key are gone.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGatewayProcess, type GatewayProcess } from '../../../bench/gateway.ts'
import { at, listAt, textAt } from '../../json.ts'
import { postgresMissing, startPostgres } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'

const SCHEMA = JSON.stringify({ type: 'object' })

async function ask({ addresses, apiKey }: GatewayProcess, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${addresses.api}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  return answer.json()
}

interface Signed {
  readonly token: string
  /** The one operation that it authorizes. */
  readonly context: object
}

async function authorized(gateway: GatewayProcess, name: string): Promise<Signed> {
  const context = { operation: 'deploy', target_id: `k8s:Deployment:shop/${name}` }
  const artifacts = [{ id: 'values', type: 'json_schema', before: SCHEMA, after: SCHEMA }]
  const answer = await ask(gateway, '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
  return { token: textAt(answer, 'chain_receipt'), context }
}

const verified = (gateway: GatewayProcess, { token, context }: Signed, consume = false): Promise<unknown> =>
  ask(gateway, '/api/v1/verify-receipt', { token, context, consume })

const keyIdsOf = async (gateway: GatewayProcess): Promise<readonly string[]> =>
  listAt(await ask(gateway, '/.well-known/jwks.json'), 'keys').map((key) => textAt(key, 'kid'))

/** Key ids of the file that only this gateway has. */
function ownKeyIds({ folder }: GatewayProcess): readonly string[] {
  const file: unknown = JSON.parse(readFileSync(join(folder, 'state/receipt-keys.json'), 'utf8'))
  return listAt(file, 'keys').map((key) => textAt(key, 'kid'))
}

const kidOf = ({ token }: Signed): string =>
  textAt(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8')), 'kid')

test(
  'replicas without an external signer verify and consume each other’s receipts, also of one that is gone',
  {
    skip: postgresMissing(),
  },
  async (t) => {
    const postgres = await startPostgres()
    t.after(() => postgres.stop())
    const config = { log: { level: 'warn' }, store: { url: await postgres.database() } }
    const running: GatewayProcess[] = []
    t.after(() => Promise.all(running.map((gateway) => gateway.stop())))
    const start = async (): Promise<GatewayProcess> => {
      const gateway = await startGatewayProcess(config)
      running.push(gateway)
      return gateway
    }
    const one = await start()
    const two = await start()
    const [keysOfOne, keysOfTwo] = [ownKeyIds(one), ownKeyIds(two)]
    assert.deepEqual(
      keysOfOne.filter((kid) => keysOfTwo.includes(kid)),
      [],
      'each has its own',
    )
    const receipts = [await authorized(one, 'a'), await authorized(one, 'b')] as const
    assert.ok(receipts.every((receipt) => keysOfOne.includes(kidOf(receipt))))
    assert.ok(keysOfTwo.includes(kidOf(await authorized(two, 'c'))))
    for (const gateway of [one, two])
      await until(
        async () => (await keyIdsOf(gateway)).length === keysOfOne.length + keysOfTwo.length,
        'both publish all',
      )

    assert.equal(at(await verified(two, receipts[0], true), 'currently_authorized'), true)
    const again = await verified(one, receipts[0], true)
    assert.equal(at(again, 'currently_authorized'), false, 'used at the other: single use holds among replicas')
    assert.equal(at(again, 'valid'), true)

    running.splice(running.indexOf(one), 1)
    assert.equal(await one.stop(), 0)
    const three = await start()
    for (const gateway of [two, three]) {
      assert.equal(at(await verified(gateway, receipts[1]), 'currently_authorized'), true, 'its key is in the store')
    }
    const ledger = await ask(three, '/api/v1/ledger')
    assert.ok(listAt(ledger, 'entries').length >= 3, 'one ledger')
  },
)
