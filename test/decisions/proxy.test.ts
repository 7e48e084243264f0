/**
 * The decision cases through the proxy. The base contract is the baseline of a route, its upstream offers the head contract.
 * A call of each operation is decided exactly as by the engine, with the same fingerprint, and forwarded accordingly.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  checkProducerForm,
  EMPTY_CONTEXT,
  readDocument,
  DEFAULT_DOCUMENT_LIMITS,
  type Envelope,
  type Verdict,
} from '../../engine/internal.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { at } from '../json.ts'
import { decisionCases, type DecisionCase } from './cases.ts'
import { decidedByEngine } from './engine-verdict.ts'

interface ProxyCase extends DecisionCase {
  readonly route: string
  readonly before: string
  readonly after: string
  readonly operation: string
}

/** One contract with two sides, and an operation that a route can authorize: the rest are no calls. */
const CASES: readonly ProxyCase[] = decisionCases().flatMap((decisionCase, index) => {
  const { file, artifacts, context } = decisionCase
  const [artifact] = artifacts
  if (file !== 'openapi' || artifacts.length !== 1 || artifact === undefined || context.operation === null) return []
  const { before, after } = artifact
  const route = `case-${index}`
  return before === '' || after === '' ? [] : [{ ...decisionCase, route, before, after, operation: context.operation }]
})

test('cases remain to run through the proxy', () => assert.ok(CASES.length >= 8, String(CASES.length)))

for (const [policy, cases] of Map.groupBy(CASES, (one) => one.policy)) {
  test(`calls are decided as the engine decides under the policy ${policy}`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('good'))
    t.after(() => upstream.close())
    const directory = mkdtempSync(join(tmpdir(), 'preflight-decisions-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const routes = cases.map((one) => routeOf(one, upstream.origin, directory))
    const gateway = await startTestGateway(t, { policy, routes })
    for (const one of cases)
      for (const scope of operationsOf(one))
        await t.test(`${one.description}: ${scope.method} ${scope.path}`, () => compared(one, scope, gateway, upstream))
  })
}

async function compared(
  one: ProxyCase,
  scope: CalledOperation,
  gateway: TestGateway,
  upstream: { readonly requests: readonly unknown[] },
): Promise<void> {
  const sent = upstream.requests.length
  // What the upstream offers no more is a call of the contract as a whole.
  const isOffered = operationsIn(one.after).some(({ method, path }) => method === scope.method && path === scope.path)
  const target = isOffered ? `${one.route}/${scope.method} ${scope.path}` : one.route
  const answer = await fetch(`${gateway.addresses.proxy}/${one.route}${scope.path.replaceAll(/\{[^}]+\}/g, '7')}`, {
    method: scope.method,
  })
  await answer.arrayBuffer()
  const { operation, environment } = one.context
  const verdict = decidedByEngine({
    ...one,
    artifacts: one.artifacts.map((artifact) => ({ ...artifact, id: target })),
    context: { ...EMPTY_CONTEXT, operation, environment, target_id: target },
    scope: isOffered ? scope : null,
  })
  assert.deepEqual(reported(await envelopeOf(answer.headers.get('preflight-decision-id'), gateway)), reported(verdict))
  assert.equal(answer.headers.get('preflight-action'), verdict.execution_action)
  assert.equal(upstream.requests.length - sent, verdict.safe_for_agent ? 1 : 0)
}

/** The reported parts of a decision: reasons, evidence, patterns, risk, reach, and what the fingerprint covers. */
function reported(source: Envelope | Verdict) {
  return {
    decision: source.decision,
    fingerprint: source.fingerprint,
    input_fingerprint: source.input_fingerprint,
    summary: source.summary,
    blocking_reasons: source.blocking_reasons,
    warnings: source.warnings,
    degraded_reasons: source.degraded_reasons,
    evidence: source.evidence,
    risk_score: source.risk_score,
    patterns: source.patterns,
    detected_patterns: source.detected_patterns,
    remediation_transaction: source.remediation_transaction,
    endpoints: source.blast_radius?.endpoints,
  }
}

async function envelopeOf(decisionId: string | null, gateway: TestGateway): Promise<Envelope> {
  const answer = await fetch(`${gateway.addresses.api}/api/v1/decisions/${decisionId}`, {
    headers: { authorization: `Bearer ${TEST_KEY}` },
  })
  const checked = checkProducerForm(at(await answer.json(), 'decision_result'))
  assert.ok(checked.ok, JSON.stringify(checked))
  return checked.value
}

function routeOf({ route: name, before, after, operation, context }: ProxyCase, upstream: string, directory: string) {
  const file = (side: string, text: string) => {
    const path = join(directory, `${name}.${side}`)
    writeFileSync(path, text)
    return { file: path }
  }
  return {
    name,
    match: { path: `/${name}` },
    upstream,
    protocol: 'http',
    operation,
    ...(context.environment !== null && { environment: context.environment }),
    contract: { baseline: file('before', before), current: file('after', after) },
  }
}

interface CalledOperation {
  readonly method: string
  readonly path: string
}

/** Of the contract before: what agents call already. None where a side cannot be read: then there is nothing to call against. */
function operationsOf({ before, after }: ProxyCase): readonly CalledOperation[] {
  return readDocument(after, DEFAULT_DOCUMENT_LIMITS).ok ? operationsIn(before) : []
}

function operationsIn(contract: string): readonly CalledOperation[] {
  const read = readDocument(contract, DEFAULT_DOCUMENT_LIMITS)
  const paths = read.ok ? at(read.value.root, 'paths') : null
  if (typeof paths !== 'object' || paths === null) return []
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item ?? {})
      .filter((method) => /^(get|post|put|delete|patch)$/.test(method))
      .map((method) => ({ method: method.toUpperCase(), path })),
  )
}
