/** The recipes of docs/reference/hashes.md, run as a reader saves them, give what the product computes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import {
  changeSetDigests,
  compare,
  compilePolicy,
  decisionBodyHash,
  EMPTY_CONTEXT,
  ruleTable,
  rulesetHash,
  type Artifact,
} from '../../engine/internal.ts'
import { Grouping } from '../../engine/rules/findings/grouping.ts'
import { RECEIPT_TYPE } from '../../engine/receipts/claims.ts'
import { approvalOpening } from '../../gateway/approvals/request.ts'
import { scopeKey } from '../../gateway/flow/history.ts'
import { audienceOfHash, hashApiKey } from '../../gateway/callers/api-keys.ts'
import { openKeyRing } from '../../gateway/keys/key-ring.ts'
import { changeSetCommitment } from '../../gateway/scm/commitment.ts'
import { createSelector } from '../../gateway/scm/selector.ts'
import { chainHash, GENESIS_HASH, entryHash, genesisOf } from '../../gateway/store/sql/chain.ts'
import { sinkName } from '../../gateway/telemetry/sinks/spooled.ts'
import { decideOn, digest, fakePolicy, issueOn } from '../fakes/decisions.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { sha256 } from '../fakes/keys.ts'
import { exported, sectionOf, saveFiles } from './page.ts'

const folder = saveFiles('hashes.md')
after(() => rmSync(folder, { recursive: true }))
const recipe = (file: string, name: string) => exported(folder, file, name)

const PLAIN: readonly Artifact[] = [
  { id: 'b', type: 'openapi', before: 'é\n', after: '' },
  { id: 'ä', type: 'protobuf', submittedType: 'grpc', before: '', after: '\u2028', path: 'a/b.proto' },
  { id: 'B', type: 'mcp_manifest', submittedType: 'mcp', before: '{}', after: '{"tools":[]}' },
  { id: 'a', type: 'openapi', before: '"', after: '\\' },
]
const WITH_FILES: readonly Artifact[] = [
  {
    id: 'x',
    type: 'openapi',
    before: 'one',
    after: 'two',
    files: { 'b.json': '{}', './a.json': { before: '1' }, '10.json': { after: '2' }, '9.json': '3' },
  },
]
/** As the request has them. */
const asSubmitted = (artifacts: readonly Artifact[]) =>
  artifacts.map(({ submittedType, ...artifact }) => ({ ...artifact, type: submittedType ?? artifact.type }))

suite('the recipes of a change set', () => {
  const plain = changeSetDigests(PLAIN, sha256)
  test('give the input_fingerprint', async () => {
    const compute = await recipe('input-fingerprint.mjs', 'inputFingerprint')
    assert.equal(compute(asSubmitted(PLAIN)), plain.inputFingerprint)
    assert.equal(compute(asSubmitted(WITH_FILES)), changeSetDigests(WITH_FILES, sha256).inputFingerprint)
  })
  test('give the artifact_digest', async () => {
    const compute = await recipe('artifact-digest.mjs', 'artifactDigest')
    assert.equal(compute(asSubmitted(PLAIN)), plain.artifactDigest)
  })
  test('give the submitted_set_digest', async () => {
    const compute = await recipe('submitted-set-digest.mjs', 'submittedSetDigest')
    assert.equal(compute(asSubmitted(PLAIN)), plain.submittedSetDigest)
  })
  test('give the hash of a side with files', async () => {
    const compute = await recipe('artifact-side.mjs', 'sideHash')
    const sides = ['before', 'after'].map((side) => compute(WITH_FILES[0], side))
    assert.equal(changeSetDigests(WITH_FILES, sha256).artifactDigest, digest(sides.join('')))
  })
  test('give the commitment to a list of files', async () => {
    const compute = await recipe('commitment.mjs', 'changeSetCommitment')
    const files = ['a', 'b', 'c', 'é'].map((path) => ({ path, change: 'modified', before: '', after: path }) as const)
    assert.equal(compute(files), changeSetCommitment(files))
  })
  test('give the hash of a contract selector', () => {
    const profile = { types: ['openapi'], globs: ['**/openapi*.yaml', '!vendor/**'] } as const
    const [, value = ''] = createSelector(profile).hash.split(':')
    assert.ok(sectionOf('hashes.md', 'contract_selector_hash').includes(value))
  })
})

suite('the recipes of a verdict', () => {
  test('give the policy_hash of the effective policy', async () => {
    const compute = await recipe('forms.mjs', 'digestJson')
    const policy = fakePolicy()
    assert.equal(compute(policy.document), policy.hash)
    const again = compilePolicy(policy.document, sha256)
    assert.equal(again.ok && again.value.hash, policy.hash)
  })
  test('give the ruleset_hash from the list of rules', async () => {
    const compute = await recipe('ruleset-hash.mjs', 'rulesetHash')
    assert.equal(compute(ruleTable().map(({ id, level }) => ({ rule: id, level }))), rulesetHash(sha256))
  })
  test('give the ids of a finding', async () => {
    const compute = await recipe('finding-fingerprint.mjs', 'findingIds')
    const grouping = new Grouping({ sha256, locate: { base: () => null, head: () => null } })
    const rule = ruleTable().find(({ id }) => id === 'endpoint-added')
    assert.ok(rule)
    const change = {
      rule,
      side: 'head',
      subject: 'GET /é',
      location: '',
      before: null,
      after: { b: 1, a: [] },
    } as const
    const place = { operation: { method: 'GET', path: '/é', operation_id: 'x' }, tool: null, detail: '200' }
    grouping.add({ ...change, message: 'm', advice: { explanation: 'e', fix: 'f' } }, { ...place, message: 'm' })
    const [group] = grouping.finish()
    assert.deepEqual(compute({ ...change, rule: rule.id }, { method: 'GET', path: '/é', tool: null, detail: '200' }), {
      group: group?.id,
      fingerprint: group?.occurrences[0]?.fingerprint,
    })
  })
  test('give the fingerprint of a verdict, and its body hash', async () => {
    const [fingerprint, bodyHash] = await Promise.all([
      recipe('fingerprint.mjs', 'verdictFingerprint'),
      recipe('body-hash.mjs', 'decisionBodyHash'),
    ])
    const findings = [
      { rule: 'z-first', level: 'breaking', places: ['GET /b', 'GET /a'] },
      { rule: 'a-second', level: 'info' },
    ] as const
    const context = { ...EMPTY_CONTEXT, operation: 'merge', branch: 'größe', target_uri: 'https://x.test' }
    const { envelope } = issueOn(decideOn(findings, { context }))
    const places = [
      'fp:z-first:/paths/~1pets:GET /b',
      'fp:z-first:/paths/~1pets:GET /a',
      'fp:a-second:/paths/~1pets:null',
    ]
    assert.equal(fingerprint(envelope, places), envelope.fingerprint)
    assert.equal(bodyHash(envelope), envelope.decision_body_hash)
    assert.equal(bodyHash({ ...envelope, added_later: 1 }), decisionBodyHash({ ...envelope, added_later: 1 }, sha256))
  })
  test('give the fingerprints of a real comparison', () => {
    const [before, after] = ['{"type":"string"}', '{"type":"integer"}']
    const compared = compare({ id: 'x', type: 'json_schema', before, after }, {}, sha256)
    assert.ok(compared.ok)
    for (const { id, rule, occurrences } of compared.value.groups) {
      assert.match(id, new RegExp(`^${rule}-[0-9a-f]{16}$`))
      for (const { fingerprint } of occurrences) assert.match(fingerprint, /^[0-9a-f]{64}$/)
    }
    assert.ok(compared.value.groups.length > 0)
  })
})

suite('the recipes of a receipt', () => {
  test('give the signing input of an issued token', async () => {
    const compute = await recipe('signing-input.mjs', 'signingInput')
    const context = { ...EMPTY_CONTEXT, operation: 'merge', branch: 'größe 🦊' }
    const { token } = issueOn(decideOn([], { context }))
    const [header = '', payload = ''] = token.split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    assert.equal(compute(claims, 'key-1'), `${header}.${payload}`)
    assert.ok(sectionOf('hashes.md', 'receipt-signing-input').includes(RECEIPT_TYPE))
  })
  test('give the id of a key that the gateway makes', async () => {
    const compute = await recipe('key-id.mjs', 'keyId')
    const place = mkdtempSync(join(tmpdir(), 'preflight-key-id-'))
    const ring = await openKeyRing(place)
    for (const { x, kid } of ring.published().keys) assert.equal(compute(x), kid)
    rmSync(place, { recursive: true })
  })
})

suite('the recipes of callers and scopes', () => {
  test('give the audience of a key', () => {
    assert.ok(sectionOf('hashes.md', 'audience').includes(audienceOfHash(hashApiKey('pf_test_example'))))
  })
  test('give the key of an approval request', async () => {
    const compute = await recipe('approval-key.mjs', 'approvalKey')
    const context = { ...EMPTY_CONTEXT, operation: 'merge', repository: 'acme/pets' }
    const verdict = decideOn([{ rule: 'r', level: 'dangerous' }], { context })
    const caller = { tenant: 'acme', audience: null, groups: [] }
    const approvals = { pending: 1, validity: 1, four_eyes: true, needed: 1, needed_by_group: {}, remind: 0 }
    const { key } = approvalOpening(
      { caller, context, route: null },
      verdict,
      { approvals },
      {
        approvalId: 'apr_1',
        decisionId: 'dec_1',
        now: 0,
      },
    )
    assert.equal(compute('acme', issueOn(verdict).envelope), key)
  })
  test('give the scope key', async () => {
    const compute = await recipe('scope-key.mjs', 'scopeKey')
    const context = { ...EMPTY_CONTEXT, operation: 'merge', target_id: 'x' }
    const scope = { tool: 'search' }
    assert.equal(
      compute(context, asSubmitted(PLAIN), 'shop', scope),
      scopeKey({ context, artifacts: PLAIN, route: 'shop', scope }),
    )
  })
  test('give the name of a telemetry sink', () => {
    assert.ok(sectionOf('hashes.md', 'telemetry-sink-name').includes(sinkName('otlp', 'https://otel.example/v1/logs')))
  })
})

suite('the recipes of the ledger', () => {
  test('give the hash of a decision row', async () => {
    const compute = await recipe('row-hash.mjs', 'rowHash')
    const row = decisionRow({ route: 'shop', idempotency: { key: 'k', bodyDigest: 'd' }, response: '{"é":1}' })
    const stored = {
      decision_id: row.decisionId,
      tenant: row.tenant,
      route: row.route,
      decision: row.decision,
      execution_action: row.executionAction,
      operation: row.operation,
      environment: row.environment,
      repository: row.repository,
      fingerprint: row.fingerprint,
      input_fingerprint: row.inputFingerprint,
      evaluated_at: row.evaluatedAt,
      expires_at: row.expiresAt,
      supersession_key: row.supersessionKey,
      envelope: row.envelope,
      response: row.response,
      idempotency_key: 'k',
      body_digest: 'd',
    }
    assert.equal(compute(GENESIS_HASH, 7, stored), chainHash(GENESIS_HASH, 7, row))
  })
  test('give the hash of a journal entry', async () => {
    const [start, compute] = await Promise.all([
      recipe('entry-hash.mjs', 'chainStart'),
      recipe('entry-hash.mjs', 'entryHash'),
    ])
    const entry = { chain: 'chn_é', sequence: 2, kind: 'decision', key: '["dec_1"]', digest: 'a'.repeat(64) }
    assert.equal(start('chn_é'), genesisOf('chn_é'))
    assert.equal(compute(start('chn_é'), entry), entryHash(genesisOf('chn_é'), { ...entry, ordinal: null }))
  })
})
