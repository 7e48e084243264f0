/**
 * An entry of the decision log: one schema for whatever was decided, allowed and denied alike, and for what people did. Served
 * as `/schemas/decision-log-entry.json`. Members are only added, never renamed.
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'

const Text = Type.Union([Type.String(), Type.Null()])
const Numeric = Type.Union([Type.Number(), Type.Null()])

const described = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const DecisionLogEntry = Type.Object(
  {
    schema: Type.Literal('preflight.decision-log.v1'),
    id: Type.String({ description: 'Unique. An entry that is delivered twice has the same id.' }),
    time: Type.String({ description: 'RFC 3339, UTC.' }),
    kind: Type.Union([Type.Literal('call'), Type.Literal('decision'), Type.Literal('act')], {
      description:
        'call: one resource of an intercepted call. decision: a decision over the API or the MCP endpoint. act: what a person or the operator did.',
    }),
    act: described('The log event of an act, such as approval.decided; null for calls and decisions.'),
    actor: described('Who acted; null for calls and decisions, and where nobody is named.'),
    correlation_id: Text,
    trace_id: Text,
    decision_id: Text,
    decision: described(
      'ALLOW, WARN, REQUIRE_APPROVAL or BLOCK. receipt: a receipt came with the call. receipt_required: it needs one. undecided: no decision was possible.',
    ),
    execution_action: Text,
    effect: described('The outcome of a call, as in the ledger (docs/reference/ledger.md); null for the others.'),
    mode: described('enforce or observe; null without a route.'),
    tenant: Text,
    audience: Text,
    operation: Text,
    target: Text,
    environment: Text,
    repository: Text,
    branch: Text,
    pull_request: Text,
    route: Text,
    protocol: Text,
    action: described('The tool or operation that was called, such as tools/call search.'),
    method: Text,
    reasons: Type.Array(Type.String(), {
      description:
        'Reason codes, the first 50: blocking, then degraded, then warnings. The code of a finding is its rule in upper snake case.',
    }),
    policy_hash: Text,
    risk_score: Numeric,
    receipt_id: described('`jti` of the receipt that the decision issued or that came with the call.'),
    approval_id: Text,
    latency_ms: Type.Record(Type.String(), Type.Number(), {
      description: 'Time by stage until the entry was made: intercept, gather, analyze, decide, record, enforce.',
    }),
    request_bytes: Type.Union([Type.Number(), Type.Null()], {
      description:
        'Body bytes of the call, or of the request that asks for a decision: those that were read, else its Content-Length. null: neither is known when the entry is made.',
    }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Further members of the log record of an act. replayed: true for a decision that is sent again by its idempotency key. Else empty.',
    }),
    receipt_key: described('`kid` of the key that signed the receipt of `receipt_id`.'),
    rules: Type.Array(Type.String(), {
      description: 'Rules of the policy that the decision rests on, as PACK/RULE; the first 50.',
    }),
  },
  { additionalProperties: false, title: 'Entry of the decision log' },
)
export type DecisionLogEntry = Static<typeof DecisionLogEntry>

export const ENTRY_FIELDS: readonly (keyof DecisionLogEntry)[] = [
  'schema',
  'id',
  'time',
  'kind',
  'act',
  'actor',
  'correlation_id',
  'trace_id',
  'decision_id',
  'decision',
  'execution_action',
  'effect',
  'mode',
  'tenant',
  'audience',
  'operation',
  'target',
  'environment',
  'repository',
  'branch',
  'pull_request',
  'route',
  'protocol',
  'action',
  'method',
  'reasons',
  'policy_hash',
  'risk_score',
  'receipt_id',
  'approval_id',
  'latency_ms',
  'request_bytes',
  'details',
  'receipt_key',
  'rules',
]

/** What is known of an entry; the rest is null or empty. */
export type EntryFacts = Partial<Omit<DecisionLogEntry, 'schema' | 'kind'>> & Pick<DecisionLogEntry, 'kind'>

const EMPTY = {
  act: null,
  actor: null,
  correlation_id: null,
  trace_id: null,
  decision_id: null,
  decision: null,
  execution_action: null,
  effect: null,
  mode: null,
  tenant: null,
  audience: null,
  operation: null,
  target: null,
  environment: null,
  repository: null,
  branch: null,
  pull_request: null,
  route: null,
  protocol: null,
  action: null,
  method: null,
  reasons: [],
  policy_hash: null,
  risk_score: null,
  receipt_id: null,
  approval_id: null,
  latency_ms: {},
  request_bytes: null,
  details: {},
  receipt_key: null,
  rules: [],
}

/** @param at milliseconds since the epoch */
export function decisionLogEntry(facts: EntryFacts, id: string, at: number): DecisionLogEntry {
  return { schema: 'preflight.decision-log.v1', id, time: new Date(at).toISOString(), ...EMPTY, ...facts }
}
