/** What consumers of decisions and receipts match on, pinned by literals: only ever appended to (law 6 of CONTRIBUTING.md). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as whole from '../../engine/internal.ts'
import { DECISION_CLASSES, REASON_CODES, RECEIPT_REASONS } from '../../engine/internal.ts'
import { EnvelopeDocument } from '../../engine/decide/envelope-schema.ts'
import { ReceiptClaims } from '../../engine/receipts/claims.ts'
import { assertPinned, assertPinnedOrder } from '../pinned.ts'
import * as base from '../../engine/base.ts'

suite('pinned', () => {
  test('reason codes, in the order in which they came', () => {
    assertPinnedOrder(Object.keys(REASON_CODES), 'reason-codes')
    for (const code of Object.keys(REASON_CODES)) assert.match(code, /^[A-Z][A-Z0-9_]{2,63}$/)
  })

  test('claims of a receipt', () => assertPinnedOrder(Object.keys(ReceiptClaims.properties), 'claims'))

  test('reasons of a verification with their status, in the order of precedence', () => {
    const rows = Object.entries(RECEIPT_REASONS).map(([reason, { status }]) => `${reason}\t${status}`)
    assertPinnedOrder(rows, 'receipt-reasons')
  })

  test('decision classes with what each directs', () => {
    const rows = Object.entries(DECISION_CLASSES).map(
      ([name, { action, safeForAgent }]) => `${name}\t${action}\t${safeForAgent}`,
    )
    assertPinnedOrder(rows, 'decision-classes')
  })

  test('members of an envelope', () => {
    assertPinned(Object.keys(EnvelopeDocument.properties), 'envelope-members')
  })
})

test('whatever the small face of the engine offers, the whole offers too, and it is the same', () => {
  const known = new Map<string, unknown>(Object.entries(whole))
  const other = Object.entries(base).filter(([name, value]) => known.get(name) !== value)
  assert.ok(Object.keys(base).length > 10)
  assert.deepEqual(
    other.map(([name]) => name),
    [],
  )
})
