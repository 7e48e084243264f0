/** Every page of the console by method and path. */
import { APPROVALS_QUERY, listApprovals } from '../pages/approvals.ts'
import { APPROVAL_QUERY, showApproval } from '../pages/approval.ts'
import { decideApproval } from '../pages/approval-decide.ts'
import { breakGlass, closeException, openException } from '../pages/break-glass.ts'
import { showDecision } from '../pages/decision.ts'
import { addDelegation, delegations, endDelegation } from '../pages/delegations.ts'
import { addKey, endKey, KEYS_QUERY, listKeys } from '../pages/keys.ts'
import { exportLedger, ledger, LEDGER_QUERY, ledgerSearch } from '../pages/ledger.ts'
import { monitoring } from '../pages/monitoring.ts'
import { notifications, sendTest } from '../pages/notifications.ts'
import { overview } from '../pages/overview.ts'
import { listContracts, showContract } from '../pages/contracts.ts'
import { fleet } from '../pages/fleet.ts'
import { policies, replayDecisions, simulateChange } from '../pages/policies.ts'
import { listRoutes, promote, showRoute } from '../pages/routes.ts'
import { DONE, searchText } from '../query.ts'
import type { ConsolePage, Visit } from '../visit.ts'
import type { Markup } from '../markup.ts'
import type { TSchema } from 'typebox'
import { Type } from '../../../engine/base.ts'

export interface PageRow {
  readonly method: 'GET' | 'POST'
  /** In the router's notation. */
  readonly path: string
  readonly page: ConsolePage
  /** Schema of its query parameters; absent: it has none. */
  readonly query?: TSchema
  /** The form that makes the query: it is shown with what is wrong. */
  readonly search?: (visit: Visit) => Markup
}

const SEARCH = Type.Object({ q: searchText(200) })
const AFTER_FORM = Type.Object({ done: DONE })

export const PAGES: readonly PageRow[] = [
  { method: 'GET', path: '/console', page: overview },
  { method: 'GET', path: '/console/approvals', page: listApprovals, query: APPROVALS_QUERY },
  { method: 'GET', path: '/console/approvals/:id', page: showApproval, query: APPROVAL_QUERY },
  { method: 'POST', path: '/console/approvals/:id', page: decideApproval },
  { method: 'GET', path: '/console/delegations', page: delegations },
  { method: 'POST', path: '/console/delegations', page: addDelegation },
  { method: 'POST', path: '/console/delegations/:id', page: endDelegation },
  { method: 'GET', path: '/console/decisions/:id', page: showDecision },
  { method: 'GET', path: '/console/ledger', page: ledger, query: LEDGER_QUERY, search: ledgerSearch },
  { method: 'GET', path: '/console/ledger/export', page: exportLedger, query: LEDGER_QUERY },
  { method: 'GET', path: '/console/routes', page: listRoutes },
  { method: 'GET', path: '/console/routes/:name', page: showRoute, query: AFTER_FORM },
  { method: 'POST', path: '/console/routes/:name', page: promote },
  { method: 'GET', path: '/console/contracts', page: listContracts, query: SEARCH },
  { method: 'GET', path: '/console/contracts/:name', page: showContract, query: SEARCH },
  { method: 'GET', path: '/console/policies', page: policies },
  { method: 'POST', path: '/console/policies/simulate', page: simulateChange },
  { method: 'POST', path: '/console/policies/replay', page: replayDecisions },
  { method: 'GET', path: '/console/fleet', page: fleet },
  { method: 'GET', path: '/console/monitoring', page: monitoring },
  { method: 'GET', path: '/console/break-glass', page: breakGlass },
  { method: 'POST', path: '/console/break-glass', page: openException },
  { method: 'POST', path: '/console/break-glass/:id', page: closeException },
  { method: 'GET', path: '/console/notifications', page: notifications, query: AFTER_FORM },
  { method: 'POST', path: '/console/notifications', page: sendTest },
  { method: 'GET', path: '/console/keys', page: listKeys, query: KEYS_QUERY },
  { method: 'POST', path: '/console/keys', page: addKey },
  { method: 'POST', path: '/console/keys/:id', page: endKey },
]
