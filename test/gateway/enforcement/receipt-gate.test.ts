/** Every reason for which a receipt does not authorize (docs/reference/receipts.md#reasons-and-statuses), in the proxy: refused where a receipt is required, ignored where it is only accepted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  EMPTY_CONTEXT,
  RECEIPT_REASONS,
  type KeySet,
  type ReceiptReason,
  type ReceiptState,
} from '../../../engine/internal.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import type { ResourceCheck } from '../../../gateway/protocols/common/action.ts'
import type { Call } from '../../../gateway/calls/call.ts'
import { neverHeld } from '../../../gateway/listen/request-context.ts'
import {
  createReceiptGate,
  ReceiptOutage,
  type ReceiptGate,
  type ReceiptGateDeps,
} from '../../../gateway/enforce/receipt-check.ts'
import { Observation } from '../../../gateway/telemetry/observation.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { decideOn, digest, issueOn, NOW, type FakeIssue } from '../../fakes/decisions.ts'
import { fakeKey, keySet } from '../../fakes/keys.ts'

const PLACE = { repository: 'acme/pets', branch: 'main', pull_request: '17' }
const BOUND = { ...EMPTY_CONTEXT, ...PLACE, operation: 'merge', environment: 'prod', target_id: 'pets' }
const QUESTION: ResourceCheck = {
  resource: { name: 'merge 17', target: 'pets', scope: null, operation: 'merge', place: PLACE },
  basis: {
    kind: 'change_set',
    artifacts: [{ id: 'api', type: 'openapi', before: '{}', after: '{}' }],
    unreadable: [],
  },
}
const KEY = fakeKey()

interface Case {
  readonly issued?: FakeIssue
  readonly token?: string
  readonly envelope?: unknown
  readonly state?: ReceiptState | null
  /** What the store cannot do. */
  readonly isAway?: 'state' | 'consume'
  readonly keys?: KeySet
  /** Seconds. */
  readonly now?: number
  readonly audience?: string
  /** Of the caller. */
  readonly tenant?: string
  readonly fingerprint?: string
}

const issue = (context: object = {}, findings: Parameters<typeof decideOn>[0] = []): FakeIssue =>
  issueOn(decideOn(findings, { context: { ...BOUND, ...context } }), KEY)
const GOOD = issue()
const [HEAD = '', CLAIMS = '', SIGNATURE = ''] = GOOD.token.split('.')
const encode = (text: string): string => Buffer.from(text).toString('base64url')

/** Reason → what makes it so. Not among them: `source_mismatch` (the proxy has no base and head commit, it knows the content), and `context_incomplete`, which has a test of its own. */
const CASES: Readonly<Record<Exclude<ReceiptReason, 'source_mismatch' | 'context_incomplete'>, Case>> = {
  malformed_structure: { token: 'nothing' },
  bad_json: { token: `${HEAD}.${encode('{')}.${SIGNATURE}` },
  unsupported_version: { token: `${encode('{"alg":"none","typ":"preflight-receipt+jwt","kid":"key-1"}')}.${CLAIMS}.` },
  unknown_kid: { keys: keySet(fakeKey('another').published()) },
  revoked_key: { keys: keySet(KEY.published({ status: 'revoked', revokedAt: NOW })) },
  signature_mismatch: { keys: keySet(fakeKey().published()) },
  body_hash_mismatch: { envelope: { ...GOOD.envelope, summary: 'All is well.' } },
  retired_key_after_issue: { keys: keySet(KEY.published({ status: 'retired', retiredAt: NOW - 1 })) },
  not_yet_valid: { now: NOW - 31 },
  expired: { now: NOW + 14_400 },
  state_unknown: { state: null },
  revoked: { state: 'revoked' },
  superseded: { state: 'superseded' },
  consumed: { state: 'consumed' },
  tenant_mismatch: { issued: issueOn(decideOn([], { context: BOUND }), KEY, NOW, 'team-a') },
  audience_mismatch: { audience: 'v:ffffffffffff' },
  operation_mismatch: { issued: issue({ operation: 'deploy' }) },
  environment_mismatch: { issued: issue({ environment: 'test' }) },
  target_mismatch: { issued: issue({ target_id: 'owners' }) },
  place_mismatch: { issued: issue({ branch: 'next' }) },
  fingerprint_mismatch: { fingerprint: digest('other') },
  decision_not_allow: { issued: issue({}, [{ rule: 'api-removed', level: 'breaking' }]) },
}

const away = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'))

function gate(given: Case, receipts: object, question = QUESTION, tenants?: readonly string[]) {
  return openGate(given, receipts, tenants).verdictOn(question, changeIn(question))
}

const changeIn = ({ basis }: ResourceCheck) => (basis.kind === 'change_set' ? basis : null)

function openGate(given: Case, receipts: object, tenants?: readonly string[]): ReceiptGate {
  const {
    issued = GOOD,
    token = issued.token,
    now = NOW + 60,
    state = 'current',
    keys = keySet(KEY.published()),
  } = given
  const route = {
    name: 'pets',
    match: {},
    upstream: 'http://127.0.0.1:9',
    protocol: 'mcp',
    environment: 'prod',
    receipts,
    ...(tenants !== undefined && { tenants }),
  }
  const loaded = loadConfig({ environment: {}, value: { routes: [route] } })
  assert.ok(loaded.ok)
  const [config] = loaded.value.config.routes
  assert.ok(config)
  const envelope = given.envelope === undefined ? null : encode(JSON.stringify(given.envelope))
  const rawHeaders = ['Preflight-Receipt', token, ...(envelope === null ? [] : ['Preflight-Decision', envelope])]
  const call: Call = {
    correlationId: 'c',
    observation: new Observation({ correlationId: 'c', method: 'POST', trace: null }),
    caller: { tenant: given.tenant ?? 'local', audience: given.audience ?? null },
    route: config,
    trafficPath: 'reverse',
    origin: 'http://127.0.0.1:9',
    method: 'POST',
    headers: {},
    rawHeaders: [],
    received: {
      headers: { 'preflight-receipt': token, ...(envelope !== null && { 'preflight-decision': envelope }) },
      rawHeaders,
    },
    upstreamPath: '/',
    body: null,
  }
  const deps: ReceiptGateDeps = {
    keys: { keySet: () => keys },
    store: {
      receipts: {
        state: given.isAway === 'state' ? away : () => Promise.resolve(state),
        consume: given.isAway === 'consume' ? away : () => Promise.resolve(true),
      },
    },
    metrics: createMetrics(),
    logger: createLogger('silent'),
    now: () => now * 1000,
    receiptChanged: () => {},
    fingerprint: () => Promise.resolve(given.fingerprint ?? digest('input')),
  }
  return createReceiptGate(call, neverHeld(), deps)
}

test('every reason of the contract is among the cases', () => {
  const reported = Object.keys(RECEIPT_REASONS).filter(
    (reason) => reason !== 'source_mismatch' && reason !== 'context_incomplete',
  )
  assert.deepEqual(Object.keys(CASES).sort(), reported.sort())
})

test('a receipt that fits is taken, with the decision that it was issued for', async () => {
  for (const receipts of [{ require: true }, { accept: true }, { require: true, consume: true }]) {
    const verdict = await gate({ envelope: GOOD.envelope }, receipts)
    assert.equal(verdict?.basis, 'receipt')
    assert.deepEqual([verdict.action, verdict.decisionId, verdict.token], ['CONTINUE', 'dec_1', GOOD.token])
  }
  assert.equal(await gate({}, {}), null, 'nobody asked for it')
})

for (const [reason, given] of Object.entries(CASES)) {
  test(`${reason}: stopped where a receipt is required, judged anew where it is accepted`, async () => {
    const demanded = await gate(given, { require: true })
    assert.equal(demanded?.basis, 'missing_receipt')
    assert.equal(demanded.requiredReceipt.reason, reason)
    assert.equal(demanded.action, 'STOP')
    assert.equal(await gate(given, { accept: true }), null)
  })
}

const BY_RECEIPT: ResourceCheck = { resource: QUESTION.resource, basis: { kind: 'receipt' } }
/** Of its own class: a route with `failure: open` does not forward such a call. */
const isReceiptOutage = (error: unknown): boolean =>
  error instanceof ReceiptOutage && error.code === 'STORE_UNAVAILABLE' && error.headers['Retry-After'] === '5'

for (const [what, given, isOutage] of [
  ['a receipt that would authorize', {}, true],
  ['a receipt behind one that authorizes nothing', { token: `nothing, ${GOOD.token}` }, true],
  ['a receipt before one that authorizes nothing', { token: `${GOOD.token}, nothing` }, true],
  ['a receipt for another operation', CASES.operation_mismatch, false],
  ['a receipt for another change', CASES.fingerprint_mismatch, false],
  ['a receipt of another tenant', CASES.tenant_mismatch, false],
  ['an expired receipt', CASES.expired, false],
  ['a receipt that permits nothing', CASES.decision_not_allow, false],
  ['a forged receipt', CASES.signature_mismatch, false],
] as const satisfies readonly (readonly [string, Case, boolean])[])
  test(`a store that cannot be read, and ${what}: ${isOutage ? 'an outage' : 'a refusal'} where it is required`, async () => {
    const outage: Case = { ...given, isAway: 'state' }
    for (const [rules, question] of [[{ require: true }, QUESTION] as const, [{}, BY_RECEIPT] as const]) {
      // A check without a content to compare has no fingerprint that could differ.
      if (question === BY_RECEIPT && given === CASES.fingerprint_mismatch) continue
      const judging = async () => gate(outage, rules, question)
      if (isOutage) await assert.rejects(judging, isReceiptOutage)
      else assert.equal((await judging())?.basis, 'missing_receipt')
    }
    assert.equal(await gate(outage, { accept: true }), null, 'judged anew')
  })

test('a receipt that the store cannot mark as used is an outage', async () => {
  const receipts = openGate({ isAway: 'consume' }, { require: true, consume: true })
  assert.equal((await receipts.verdictOn(QUESTION, changeIn(QUESTION)))?.basis, 'receipt')
  await assert.rejects(async () => receipts.consume(), isReceiptOutage)
})

test('context_incomplete: a receipt bound to a place does not stand for a request that names none', async () => {
  const { place: _, ...resource } = QUESTION.resource
  const demanded = await gate({}, { require: true }, { ...QUESTION, resource })
  assert.equal(demanded?.basis === 'missing_receipt' && demanded.requiredReceipt.reason, 'context_incomplete')
})

test('what has nothing to compare goes on only with a receipt, whatever the route says', async () => {
  const question: ResourceCheck = { resource: QUESTION.resource, basis: { kind: 'receipt' } }
  assert.equal((await gate({}, {}, question))?.basis, 'receipt')
  const demanded = await gate({ token: 'nothing' }, {}, question)
  assert.equal(demanded?.basis === 'missing_receipt' && demanded.requiredReceipt.reason, 'malformed_structure')
})

test('a receipt that the protocol carries itself is as good as one of the header', async () => {
  const question: ResourceCheck = { ...QUESTION, receipts: [{ token: GOOD.token, envelope: GOOD.envelope }] }
  assert.equal((await gate({ token: 'nothing' }, { require: true }, question))?.basis, 'receipt')
})

test('a change that could not be read whole has no receipt', async () => {
  const unreadable = [
    { id: 'b', type: 'openapi', problem: { code: 'ARTIFACT_UNREADABLE', message: 'too large' } },
  ] as const
  const question: ResourceCheck = { ...QUESTION, basis: { kind: 'change_set', artifacts: [], unreadable } }
  const demanded = await gate({}, { require: true }, question)
  assert.equal(demanded?.basis, 'missing_receipt')
  assert.match(demanded.requiredReceipt.note, /could not be read completely/)
  assert.equal(await gate({}, { accept: true }, question), null)
})

test('of many receipts none is looked at, so that a call costs no more than a few look-ups', async () => {
  const demanded = await gate({ token: Array.from({ length: 17 }, () => GOOD.token).join(', ') }, { require: true })
  assert.equal(demanded?.basis, 'missing_receipt')
  assert.match(demanded.requiredReceipt.note, /More than 16/)
})

const SUB = 'v:0123456789ab'
const ofTenant = (tenant: string | null): FakeIssue => issueOn(decideOn([], { context: BOUND }), KEY, NOW, tenant)

/** Tenant of the receipt, tenants of the route, key of the caller (null: none) → may it stand for the call? */
const TENANTS: readonly (readonly [string | null, readonly string[], string | null, boolean])[] = [
  ['local', ['local'], null, true],
  ['local', ['local'], 'local', true],
  ['team-a', ['local'], null, false],
  ['team-a', ['local'], 'team-a', false],
  ['local', ['local'], 'team-a', false],
  ['team-a', ['local', 'team-a'], 'team-a', true],
  ['team-a', ['local', 'team-a'], 'local', false],
  ['local', ['local', 'team-a'], 'team-a', false],
  ['team-a', ['team-a'], null, true],
  ['local', ['team-a'], null, false],
  [null, ['local'], null, false],
]
for (const [receipt, route, caller, isTaken] of TENANTS)
  test(`tenants: a receipt of ${receipt} on a route for ${route.join(' and ')}, caller ${caller ?? 'without a key'}: ${isTaken ? 'taken' : 'refused'}`, async () => {
    const given: Case = { issued: ofTenant(receipt), ...(caller !== null && { tenant: caller, audience: SUB }) }
    for (const rules of [{ require: true }, { require: true, consume: true }]) {
      const verdict = await gate(given, rules, QUESTION, route)
      assert.equal(verdict?.basis, isTaken ? 'receipt' : 'missing_receipt')
      if (verdict.basis === 'missing_receipt') assert.equal(verdict.requiredReceipt.reason, 'tenant_mismatch')
    }
  })

test('the envelope goes with a receipt where the route says so, and costs nothing where not', async () => {
  const silent = await gate({ envelope: GOOD.envelope }, { accept: true })
  assert.equal(silent?.basis === 'receipt' && silent.envelopeHeader, null)
  const sending = await gate({ envelope: GOOD.envelope }, { accept: true, envelope: true })
  assert.ok(sending?.basis === 'receipt' && sending.envelopeHeader !== null)
  assert.deepEqual(JSON.parse(Buffer.from(sending.envelopeHeader, 'base64url').toString()), { ...GOOD.envelope })
})
