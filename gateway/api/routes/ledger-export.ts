/** GET /api/v1/ledger/export: the whole ledger as lines that verify without the store (docs/reference/api.md). For administrators. */
import { Type } from '../../../engine/base.ts'
import { isOperatorTenant } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { exportLines } from '../../store/ledger-export.ts'
import { callerOf, defineRoute } from '../route.ts'

const NDJSON = 'application/x-ndjson'

export const exportWholeLedger = defineRoute({
  method: 'GET',
  paths: ['/api/v1/ledger/export'],
  operationId: 'exportLedger',
  tag: 'decisions',
  summary: 'The whole ledger of this gateway, of all tenants, as lines of JSON that verify without the store',
  access: 'administer',
  answers: {
    200: {
      description: 'One entry a line; the first and the last say what it is.',
      content: { [NDJSON]: Type.String() },
    },
  },
  async handle(exchange, { store, now }) {
    // The chain holds the rows of every tenant: a part of it proves nothing.
    if (!isOperatorTenant(callerOf(exchange)))
      throw new GatewayError(
        'FORBIDDEN',
        'The ledger holds the rows of all tenants: this needs an administrator of the operator’s tenant.',
      )
    return { kind: 'lines', mediaType: NDJSON, lines: exportLines(store, now()) }
  },
})
