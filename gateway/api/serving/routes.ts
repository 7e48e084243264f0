/** Every route of the API, once. A route that is not in this list is not served and not in openapi.json. */
import type { ApiRoute } from '../route.ts'
import { abortDemo } from '../routes/abort-demo.ts'
import {
  commentApproval,
  denyApproval,
  getApproval,
  grantApproval,
  listApprovals,
  reviewApproval,
} from '../routes/approvals.ts'
import { addDelegation, endDelegation, listDelegations } from '../routes/delegations.ts'
import { getAttestation, getDecision, lookupDecision, explainDecision } from '../routes/decisions.ts'
import { getBaseline, listBaselines, promoteBaseline } from '../routes/baselines.ts'
import { closeBreakGlass, listBreakGlass, openBreakGlassRoute } from '../routes/break-glass.ts'
import { challengeBinding, listBindings, provingBinding } from '../routes/bindings.ts'
import { diff } from '../routes/diff.ts'
import { decisionContract, keySet, interceptionCa, statusList } from '../routes/discovery.ts'
import { openapiDocument, schemaDocument } from '../routes/documents.ts'
import { listFleet, changeLogLevel, gatewayStatus } from '../routes/operation.ts'
import { endKey, listKeys, makeKey, renewKey, updateKey } from '../routes/keys.ts'
import { ledger } from '../routes/ledger.ts'
import { mcp, toolManifest } from '../mcp/routes.ts'
import { preflight } from '../routes/preflight.ts'
import { readinessScore } from '../routes/readiness.ts'
import { exportWholeLedger, pruneWholeLedger } from '../routes/ledger-keep.ts'
import { replayPolicy, simulatePolicy } from '../routes/policies.ts'
import { revokeReceipt, verifyReceiptRoute } from '../routes/receipts.ts'
import { beginSignIn, completeSignIn, listProviders, signOut, whoAmI } from '../routes/sign-in.ts'
import { describeSignup, signup } from '../routes/signup.ts'
import { integrationSnippets } from '../routes/snippets.ts'
import { telemetry } from '../routes/telemetry.ts'

export const ROUTES: readonly ApiRoute[] = [
  diff,
  preflight,
  verifyReceiptRoute,
  lookupDecision,
  getDecision,
  getAttestation,
  ledger,
  revokeReceipt,
  listApprovals,
  getApproval,
  reviewApproval,
  grantApproval,
  denyApproval,
  commentApproval,
  listDelegations,
  addDelegation,
  endDelegation,
  telemetry,
  listBaselines,
  getBaseline,
  promoteBaseline,
  listBreakGlass,
  openBreakGlassRoute,
  closeBreakGlass,
  challengeBinding,
  provingBinding,
  listBindings,
  simulatePolicy,
  replayPolicy,
  explainDecision,
  exportWholeLedger,
  pruneWholeLedger,
  readinessScore,
  abortDemo,
  integrationSnippets,
  describeSignup,
  signup,
  listProviders,
  beginSignIn,
  completeSignIn,
  signOut,
  whoAmI,
  listKeys,
  makeKey,
  updateKey,
  renewKey,
  endKey,
  listFleet,
  gatewayStatus,
  changeLogLevel,
  decisionContract,
  keySet,
  statusList,
  toolManifest,
  interceptionCa,
  schemaDocument,
  openapiDocument,
  mcp,
]
