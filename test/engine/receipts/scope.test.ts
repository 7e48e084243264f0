/** Every member of an attempt against the claim that was signed for it: equal, another, or left out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { IntendedContext, ReceiptReason } from '../../../engine/internal.ts'
import type { ReceiptClaims } from '../../../engine/receipts/claims.ts'
import { compareScope } from '../../../engine/receipts/scope.ts'

const CLAIMS: ReceiptClaims = {
  iss: 'https://preflight.test',
  jti: 'dec_1',
  iat: 1,
  nbf: 1,
  exp: 2,
  fp: 'sha256:fp',
  ifp: 'sha256:ifp',
  bh: 'sha256:bh',
  act: 'CONTINUE',
  op: 'merge',
  env: 'prod',
  tgt: 'pets',
  repo: 'acme/pets',
  br: 'main',
  pr: '7',
  base: 'a1',
  head: 'b2',
  srcmode: 'declared',
  ad: 'sha256:ad',
  sub: 'v:0123456789ab',
  prev: null,
  ph: 'sha256:ph',
  tnt: 'local',
}

interface Row {
  readonly member: keyof IntendedContext
  readonly claim: keyof ReceiptClaims
  readonly other: ReceiptReason
  readonly leftOut: ReceiptReason | null
  /** The claim is null, and the attempt states a value. */
  readonly unsigned: ReceiptReason | null
}

const place = (member: keyof IntendedContext, claim: keyof ReceiptClaims, other: ReceiptReason): Row => ({
  member,
  claim,
  other,
  leftOut: 'context_incomplete',
  unsigned: other,
})
const compared = (member: keyof IntendedContext, claim: keyof ReceiptClaims, other: ReceiptReason): Row => ({
  ...place(member, claim, other),
  leftOut: null,
})

const ROWS: readonly Row[] = [
  compared('tenant', 'tnt', 'tenant_mismatch'),
  { ...compared('audience', 'sub', 'audience_mismatch'), unsigned: null },
  place('operation', 'op', 'operation_mismatch'),
  place('environment', 'env', 'environment_mismatch'),
  place('target_id', 'tgt', 'target_mismatch'),
  place('repository', 'repo', 'place_mismatch'),
  place('branch', 'br', 'place_mismatch'),
  place('pull_request', 'pr', 'place_mismatch'),
  compared('base', 'base', 'source_mismatch'),
  compared('head', 'head', 'source_mismatch'),
  compared('fingerprint', 'fp', 'fingerprint_mismatch'),
  compared('input_fingerprint', 'ifp', 'fingerprint_mismatch'),
  compared('artifact_digest', 'ad', 'fingerprint_mismatch'),
]

const signed = ({ claim }: Row): string => JSON.stringify(CLAIMS[claim]).replaceAll('"', '')
const WHOLE: IntendedContext = Object.fromEntries(ROWS.map((row) => [row.member, signed(row)]))

suite('an attempt against what was signed', () => {
  test('lies within it when every member is the signed one', () => {
    assert.deepEqual(compareScope(CLAIMS, WHOLE), { reason: null, mismatches: [] })
  })

  for (const row of ROWS) {
    const { member, claim, other, leftOut, unsigned } = row
    test(`${member}: another value is ${other}, none is ${leftOut ?? 'enough'}`, () => {
      const expected = signed(row)
      assert.deepEqual(compareScope(CLAIMS, { ...WHOLE, [member]: 'x' }), {
        reason: other,
        mismatches: [{ member, expected, stated: 'x' }],
      })
      const { [member]: _left, ...without } = WHOLE
      assert.deepEqual(compareScope(CLAIMS, without), {
        reason: leftOut,
        mismatches: leftOut === null ? [] : [{ member, expected, stated: null }],
      })
      const open = compareScope({ ...CLAIMS, [claim]: null }, { ...WHOLE, [member]: 'x' })
      assert.equal(open.reason, unsigned)
    })
  }

  test('a receipt that expects the fingerprint holds only for an attempt that states it, or that of the input', () => {
    const expecting = { ...CLAIMS, fbe: true } as const
    const { fingerprint: _fp, input_fingerprint: _ifp, ...silent } = WHOLE
    assert.deepEqual(compareScope(expecting, silent), {
      reason: 'context_incomplete',
      mismatches: [{ member: 'fingerprint', expected: 'sha256:fp', stated: null }],
    })
    assert.equal(compareScope(CLAIMS, silent).reason, null)
    for (const stated of [{ fingerprint: 'sha256:fp' }, { input_fingerprint: 'sha256:ifp' }])
      assert.equal(compareScope(expecting, { ...silent, ...stated }).reason, null)
    assert.equal(compareScope(expecting, { ...silent, fingerprint: 'x' }).reason, 'fingerprint_mismatch')
  })

  test('what is stated under a mistyped name is not left out of the comparison', () => {
    const unbound = { ...CLAIMS, env: null, tgt: null, repo: null, br: null, pr: null }
    const table: readonly (readonly [name: string, member: keyof IntendedContext | null])[] = [
      ['enviroment', 'environment'],
      ['Environment', 'environment'],
      ['targetId', 'target_id'],
      ['repositry', 'repository'],
      ['brnach', 'branch'],
      ['pullRequest', 'pull_request'],
      ['artifact_digset', 'artifact_digest'],
      ['operatoin', 'operation'],
      ['commit', null],
    ]
    for (const [name, member] of table) {
      const verdict = compareScope(unbound, { operation: 'merge', [name]: 'x' })
      assert.equal(verdict.reason, member === null ? null : 'context_incomplete', name)
      assert.deepEqual(
        verdict.mismatches.map((mismatch) => [mismatch.member, mismatch.stated]),
        member === null ? [] : [[member, null]],
      )
    }
    assert.deepEqual(
      compareScope(unbound, { ['operatoin' as string]: 'merge' }).mismatches.map(({ member }) => member),
      ['operation'],
    )
  })

  test('a place that was not signed may be left out, and the operation never', () => {
    const unbound = { ...CLAIMS, env: null, tgt: null, repo: null, br: null, pr: null, op: null }
    assert.equal(compareScope(unbound, { operation: 'merge' }).reason, 'operation_mismatch')
    assert.equal(compareScope({ ...unbound, op: 'merge' }, { operation: 'merge' }).reason, null)
    assert.equal(compareScope(unbound, {}).reason, 'context_incomplete')
  })

  test('the first difference in the order of the reasons is the reason, and all are reported', () => {
    const verdict = compareScope(CLAIMS, { ...WHOLE, head: 'x', operation: 'x', audience: 'x', branch: null })
    assert.equal(verdict.reason, 'audience_mismatch')
    assert.deepEqual(
      verdict.mismatches.map(({ member }) => member),
      ['audience', 'operation', 'branch', 'head'],
    )
  })
})
