/** docs/reference/receipts.md against the engine: its tables are complete, and its verifier agrees with ours. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import {
  EMPTY_CONTEXT,
  RECEIPT_REASONS,
  verifyReceipt,
  type DecisionContext,
  type IntendedContext,
} from '../../engine/internal.ts'
import { signingInputOf } from '../../engine/receipts/token.ts'
import type { ReceiptClaims } from '../../engine/receipts/claims.ts'
import { parseKeySet } from '../../gateway/keys/jwks.ts'
import { decideOn, digest, fakePolicy, issueOn, NOW } from '../fakes/decisions.ts'
import { fakeKey, sha256 } from '../fakes/keys.ts'
import { exported, namesOf, rowsIn, saveFiles, sectionOf } from './page.ts'

const folder = saveFiles('receipts.md')
after(() => rmSync(folder, { recursive: true }))
const reasonAgainst = await exported(folder, 'verify.mjs', 'reasonAgainst')

const pins = readFileSync(join(import.meta.dirname, '../pins/claims.tsv'), 'utf8')
  .trim()
  .split('\n')

suite('the tables of receipts.md', () => {
  test('name every claim, and no other', () => {
    const claims = rowsIn(sectionOf('receipts.md', 'claims')).flatMap(([cell]) => namesOf(cell))
    assert.deepEqual(claims.toSorted(), pins.toSorted())
  })
  test('give every reason its status, in the order of precedence', () => {
    const rows = rowsIn(sectionOf('receipts.md', 'reasons-and-statuses'))
    assert.deepEqual(
      rows.map(([reason, status, valid]) => [...namesOf(reason), ...namesOf(status), valid]),
      Object.entries(RECEIPT_REASONS).map(([reason, row]) => [reason, row.status, String(row.isAuthentic)]),
    )
  })
  test('name every reason among the steps or the members of the binding', () => {
    const steps = sectionOf('receipts.md', 'verification-steps') + sectionOf('receipts.md', 'binding-to-an-operation')
    assert.deepEqual(
      Object.keys(RECEIPT_REASONS).filter((reason) => !steps.includes(`\`${reason}\``)),
      [],
    )
  })
})

const BOUND: DecisionContext = {
  operation: 'merge',
  environment: 'prod',
  repository: 'acme/pets',
  branch: 'größe',
  pull_request: '17',
  base: 'a1',
  head: 'b2',
  target_id: 'pets',
  target_uri: null,
}
const KEY = fakeKey('key-1')
const ISSUED = issueOn(decideOn([], { context: BOUND }), KEY)
const UNBOUND = issueOn(decideOn([], { context: { ...EMPTY_CONTEXT, operation: 'merge' } }), KEY)
const BLOCKED = issueOn(decideOn([{ rule: 'r', level: 'breaking' }], { context: BOUND }), KEY)
const FBE = issueOn(decideOn([], { context: BOUND, policy: fakePolicy({ fingerprint_binding: ['merge'] }) }), KEY)

const instant = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
const jwkOf = (changes: object = {}) => ({
  ...KEY.publicKey.export({ format: 'jwk' }),
  kid: 'key-1',
  status: 'active',
  valid_from: instant(NOW - 100),
  retired_at: null,
  revoked_at: null,
  ...changes,
})

interface Attempt {
  readonly token?: string
  readonly key?: object
  readonly now?: number
  readonly envelope?: unknown
  readonly context?: IntendedContext
}

const { base: _base, head: _head, target_uri: _uri, ...INTENDED } = BOUND
const [header = '', payload = '', signature = ''] = ISSUED.token.split('.')
const claims: ReceiptClaims = JSON.parse(Buffer.from(payload, 'base64url').toString())
const resigned = (changes: object, kid = 'key-1'): string => {
  const input = signingInputOf({ ...claims, ...changes }, kid)
  return `${input}.${KEY.signer.sign(input)}`
}
const segment = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const CASES: Readonly<Record<string, Attempt>> = {
  'as issued': {},
  'with its envelope': { envelope: ISSUED.envelope },
  'with another envelope': { envelope: BLOCKED.envelope },
  'two segments': { token: `${header}.${payload}` },
  'four segments': { token: `${ISSUED.token}.x` },
  'a claim that is not JSON': { token: `${header}.${Buffer.from('{').toString('base64url')}.${signature}` },
  'another algorithm': {
    token: `${segment({ alg: 'HS256', kid: 'key-1', typ: 'preflight-receipt+jwt' })}.${payload}.x`,
  },
  'a further header member': {
    token: `${segment({ alg: 'EdDSA', crit: [], kid: 'key-1', typ: 'preflight-receipt+jwt' })}.${payload}.${signature}`,
  },
  'claims with white space': {
    token: `${header}.${Buffer.from(JSON.stringify(claims, null, 1)).toString('base64url')}.${signature}`,
  },
  'a short signature': { token: `${header}.${payload}.${signature.slice(0, 80)}` },
  'an unknown key': { token: resigned({}, 'key-2') },
  'a key that did not exist yet': { key: { valid_from: instant(NOW + 31) } },
  'a key within the leeway': { key: { valid_from: instant(NOW + 30) } },
  'a revoked key': { key: { status: 'revoked' } },
  'a key that is revoked by its time': { key: { revoked_at: instant(NOW + 10) } },
  'a key that will be revoked': { key: { revoked_at: instant(NOW + 100) } },
  'a retired key': { key: { status: 'retired', retired_at: instant(NOW + 1) } },
  'a key retired before': { key: { status: 'retired', retired_at: instant(NOW - 1) } },
  'a key retired at an unknown time': { key: { status: 'retired' } },
  'another signature': { token: `${header}.${payload}.${'A'.repeat(86)}` },
  'not yet valid': { now: NOW - 31 },
  'not yet valid, within the leeway': { now: NOW - 30 },
  'in its last second': { now: claims.exp - 1 },
  expired: { now: claims.exp },
  'an unbound receipt for a stated place': { token: UNBOUND.token },
  'an unbound receipt': { token: UNBOUND.token, context: { operation: 'merge' } },
  'a decision that stops': { token: BLOCKED.token },
  'a fingerprint that is expected and left out': { token: FBE.token },
  'a fingerprint that is expected and stated': {
    token: FBE.token,
    context: { ...INTENDED, fingerprint: FBE.envelope.fingerprint },
  },
  'another audience for a receipt without one': {
    token: resigned({ sub: null }),
    context: { ...INTENDED, audience: 'v:1' },
  },
  'the tenant of a receipt without one': { token: resigned({ tnt: null }), context: { ...INTENDED, tenant: 'local' } },
}

/** Each member of the context: left out, and another value. */
const MEMBERS = rowsIn(sectionOf('receipts.md', 'binding-to-an-operation')).flatMap(([cell]) => namesOf(cell))
const SIGNED: Readonly<Record<string, string | null>> = {
  ...BOUND,
  tenant: 'local',
  audience: ISSUED.envelope.audience ?? null,
  fingerprint: ISSUED.envelope.fingerprint,
  input_fingerprint: ISSUED.envelope.input_fingerprint,
  artifact_digest: ISSUED.envelope.artifact_digest ?? null,
}
const OF_MEMBERS = MEMBERS.flatMap((member): [string, Attempt][] => [
  [`${member} left out`, { context: { ...INTENDED, [member]: null } }],
  [`another ${member}`, { context: { ...INTENDED, [member]: digest('other') } }],
  [`the signed ${member}`, { context: { ...INTENDED, [member]: SIGNED[member] ?? null } }],
  [`another ${member}, and no operation`, { context: { ...INTENDED, operation: null, [member]: digest('other') } }],
])

suite('the verifier of receipts.md', () => {
  const reasons = new Set<string>()
  for (const [what, attempt] of [...Object.entries(CASES), ...OF_MEMBERS])
    test(`agrees with the engine on: ${what}`, () => {
      const { token = ISSUED.token, key = {}, now = NOW + 60, envelope, context = INTENDED } = attempt
      const jwks = { keys: [jwkOf(key)] }
      const keys = parseKeySet(jwks)
      assert.ok(keys.ok)
      const held = envelope === undefined ? {} : { envelope }
      const input = { token, now, context, ...held }
      const answer = verifyReceipt({ ...input, keys: keys.value, state: 'unchecked', sha256 })
      assert.equal(reasonAgainst({ ...input, jwks }), answer.reason)
      reasons.add(String(answer.reason))
    })
  test('was asked for every reason that an offline verifier can give', () => {
    const online = ['state_unknown', 'revoked', 'superseded', 'consumed']
    const expected = ['null', ...Object.keys(RECEIPT_REASONS)].filter((reason) => !online.includes(reason))
    assert.deepEqual([...reasons].toSorted(), expected.toSorted())
  })
})
