/** A receipt as an agent gets it: by an authorize preflight of a contract that does not change. */
import assert from 'node:assert/strict'
import { at, textAt } from '../json.ts'
import { TEST_KEY, type TestGateway } from './gateway.ts'

const SCHEMA = JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' })

/** @param context of the one operation that it is to authorize */
export async function issuedReceipt(
  gateway: Pick<TestGateway, 'addresses'>,
  context: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_KEY}` },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [{ id: 'values', type: 'json_schema', before: SCHEMA, after: SCHEMA }],
      context,
    }),
  })
  const body: unknown = await answer.json()
  assert.equal(at(body, 'execution_action'), 'CONTINUE')
  return textAt(body, 'chain_receipt')
}
