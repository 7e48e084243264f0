/** What a refusal advises: whether to repeat the call, and what to send for a receipt. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS, type ErrorCode } from '../../gateway/errors/errors.ts'
import { refusalText, requiredReceiptText } from '../../gateway/protocols/common/refusal.ts'

const REFUSAL = { message: 'Stopped.', correlationId: 'c-1', envelope: null, resource: null } as const

const ADVICE: Readonly<Partial<Record<ErrorCode, RegExp>>> = {
  PREFLIGHT_APPROVAL_REQUIRED: /Do not repeat it before the approval is granted\./,
  PREFLIGHT_UNDECIDED: /You may retry it later\./,
  STORE_UNAVAILABLE: /You may retry it later\./,
  MONITORING_UNWIRED: /You may retry it later\./,
  PREFLIGHT_STOP: /Do not repeat it unchanged\./,
  PREFLIGHT_RECEIPT_REQUIRED: /Do not repeat it unchanged\./,
  CONTRACT_VIOLATION: /Do not repeat it unchanged\./,
  INVALID_INPUT: /Do not repeat it unchanged\./,
}

test('only a call that could not be decided may be retried as it is, with a decision or without', () => {
  for (const [code, advice] of Object.entries(ADVICE)) {
    assert.ok(isCode(code))
    assert.match(refusalText({ ...REFUSAL, code }), advice, code)
  }
})

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

test('a receipt for an operation without contracts names what to send in their place', () => {
  const required = { context: { operation: 'deploy' }, reason: null, note: 'No receipt came with the call.' }
  const none = requiredReceiptText('sync shop', { ...required, artifacts: [], mismatches: [] })
  assert.match(none, /on the contracts that change, or on any unchanged contract, and send/)
  const artifacts = [{ id: 'shop', type: 'openapi' }] as const
  assert.match(
    requiredReceiptText('call', { ...required, artifacts, mismatches: [] }),
    / on shop \(openapi\), and send/,
  )
})
