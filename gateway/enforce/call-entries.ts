/** The entries of the decision log about one call: one for each resource that was judged, or a single one where none was. */
import { isJsonObject } from '../json/strict-json.ts'
import { envelopeFacts } from '../flow/decision-facts.ts'
import type { Call, ReceivedHead } from '../calls/call.ts'
import { textIn } from '../json/unchecked-json.ts'
import type { EntryFacts } from '../telemetry/decision-log/entry.ts'
import { recordedEffect, shortName } from './call-record.ts'
import type { CallJudgement, ResourceVerdict } from './judge.ts'
import type { CallEffect } from '../store/calls.ts'

/** @param effect of the call as a whole @param name what the call does, where no resource was judged */
export function entriesOf(
  call: Call,
  judgement: CallJudgement,
  effect: CallEffect,
  name: string,
): readonly EntryFacts[] {
  const shared = sharedFacts(call)
  if (judgement.kind === 'undecided') {
    const { code } = judgement.error
    return [
      { ...shared, action: shortName(name), decision: 'undecided', execution_action: 'STOP', effect, reasons: [code] },
    ]
  }
  return judgement.verdicts.map((judged) => ({
    ...shared,
    ...verdictFacts(judged),
    effect: recordedEffect(effect, judged.verdict),
  }))
}

function verdictFacts({ resource, verdict }: ResourceVerdict): Omit<EntryFacts, 'kind'> {
  const action = shortName(resource.name)
  if (verdict.basis === 'decision')
    return { ...envelopeFacts(verdict.envelope), action, approval_id: verdict.approvalId }
  const stated = { action, target: resource.target, execution_action: verdict.action }
  if (verdict.basis === 'receipt')
    return {
      ...stated,
      decision: 'receipt',
      decision_id: verdict.decisionId,
      receipt_id: verdict.decisionId,
      receipt_key: keyIdOf(verdict.token),
    }
  return { ...stated, decision: 'receipt_required', reasons: [verdict.requiredReceipt.reason ?? 'missing'] }
}

/** @param token a receipt that was verified */
function keyIdOf(token: string): string | null {
  const header: unknown = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString('utf8'))
  const kid = isJsonObject(header) ? header['kid'] : null
  return textIn(kid)
}

function sharedFacts({ correlationId, caller, route, method, body, received, observation }: Call): EntryFacts {
  return {
    kind: 'call',
    correlation_id: correlationId,
    trace_id: observation.trace?.traceId ?? null,
    tenant: caller.tenant,
    audience: caller.audience,
    operation: route.operation,
    environment: route.environment ?? null,
    route: route.name,
    protocol: route.protocol,
    mode: route.mode,
    method,
    request_bytes: body?.length ?? statedLength(received),
    latency_ms: observation.latencies(),
  }
}

/** The length of a body that is streamed; null: its end states it. */
function statedLength({ headers }: ReceivedHead): number | null {
  const length = headers['content-length']
  return length === undefined || headers['transfer-encoding'] !== undefined || !/^\d{1,15}$/.test(length)
    ? null
    : Number(length)
}
