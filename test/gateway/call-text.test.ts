/** Call records cross between threads as one text: what is read from it is what was written, whatever the calls have in common. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InterceptionRow } from '../../gateway/store/calls.ts'
import { readCallText, writeCallText } from '../../gateway/store/sql/call-text.ts'

const CALL: InterceptionRow = {
  correlationId: 'a',
  traceId: null,
  isTraceSampled: false,
  tenant: 'local',
  decisionId: 'dec_1',
  route: 'tools',
  protocol: 'mcp',
  action: 'tools/call echo',
  executionAction: 'CONTINUE',
  enforced: true,
  effect: 'forwarded',
  breakGlassId: null,
  violations: null,
  at: 1,
}

/** Another value for each member: a member that is added to the record is missing here, and does not compile. */
const OTHER: Required<InterceptionRow> = {
  correlationId: 'b',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  isTraceSampled: true,
  tenant: 'other',
  decisionId: null,
  route: 'orders',
  protocol: 'http',
  action: 'tools/call drop',
  executionAction: 'STOP',
  enforced: false,
  effect: 'stopped',
  breakGlassId: 'bg_1',
  violations: [{ where: 'body#/text', message: 'not a text' }],
  at: 2,
}

function assertKept(rows: readonly InterceptionRow[]): void {
  assert.deepEqual(readCallText(writeCallText(rows)), rows)
}

describe('the text of call records', () => {
  for (const member of Object.keys(OTHER))
    it(`keeps a call that differs from its neighbours in ${member} only`, () => {
      const differing = { ...CALL, [member]: Reflect.get(OTHER, member) }
      assertKept([CALL, differing, CALL, differing, differing])
    })

  it('keeps a record that does not say whether its trace is sampled', () => {
    const { isTraceSampled: _, ...unsaid } = CALL
    assertKept([CALL, unsaid, CALL, unsaid, unsaid])
  })

  it('keeps no call as no call', () => assertKept([]))

  it('writes what calls have in common once', () => {
    const one = writeCallText([CALL]).length
    const many = writeCallText(Array.from({ length: 101 }, (_, at) => ({ ...CALL, at }))).length
    assert.ok(many - one < 101 * 40, String(many))
  })
})
