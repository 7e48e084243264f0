/** The key of what a caller is offered: another one for each field that counts, and never the text of a field that may hold a credential. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerKey, offerKey } from '../../../gateway/protocols/common/offer-key.ts'

const ANY = {}
const PLAIN = {
  host: 'tools.example',
  'user-agent': 'agent/1',
  'accept-language': 'en',
  'x-forwarded-for': '192.0.2.1',
  'x-forwarded-host': 'gateway.example',
  'x-forwarded-proto': 'http',
}
const SECRET = 'a-secret-of-the-caller'

test('every field that a listing may depend on makes another key', () => {
  const keys = new Set([offerKey({}, ANY), offerKey(PLAIN, ANY)])
  const others = [...Object.keys(PLAIN), 'authorization', 'cookie', 'x-api-key', 'x-mcp-toolsets', 'x-tenant']
  for (const name of others) keys.add(offerKey({ ...PLAIN, [name]: 'other' }, ANY))
  keys.add(offerKey({ ...PLAIN, 'user-agent': 'x'.repeat(600) }, ANY))
  keys.add(offerKey({ ...PLAIN, 'user-agent': 'x'.repeat(601) }, ANY))
  assert.equal(keys.size, others.length + 4)
})

test('the text of a field that may hold a credential is in no key', () => {
  for (const name of ['authorization', 'cookie', 'x-api-key', 'api-key', 'x-mcp-token', 'x-tenant', 'x-custom'])
    for (const fields of [{ [name]: SECRET }, { ...PLAIN, [name]: SECRET }, { [name]: SECRET, ...PLAIN }]) {
      assert.ok(!offerKey(fields, ANY).includes(SECRET), name)
      assert.ok(!callerKey(fields).includes(SECRET), name)
    }
})

test('fields of the message or of one request make no other key', () => {
  for (const name of [
    'content-length',
    'traceparent',
    'mcp-name',
    'mcp-param-x',
    'x-correlation-id',
    'preflight-receipt',
  ])
    assert.equal(offerKey({ ...PLAIN, [name]: 'any' }, ANY), offerKey(PLAIN, ANY))
})
