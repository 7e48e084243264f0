/** The verifier at the API server: reviews of writes over TLS, judged by a Kubernetes route. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { CONFIG_MAP, CRD, DEPLOYMENT, POD, admissionReview, sendReview } from '../../fakes/admission-review.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { run } from '../../fakes/command-io.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { issuedReceipt } from '../../fakes/issued-receipt.ts'
import { configMap, deployment, OPENAPI, widgetCrd } from '../../fakes/kubernetes-scene.ts'
import { typeFaults } from '../../fakes/kubernetes-types.ts'
import { at, listAt, textAt } from '../../json.ts'

interface Verifier {
  readonly gateway: TestGateway
  readonly review: (members: Parameters<typeof admissionReview>[0], route?: string) => Promise<unknown>
  readonly raw: (path: string, body: object | string) => ReturnType<typeof sendReview>
}

const ROUTE = {
  name: 'cluster',
  match: { path: '/' },
  upstream: 'https://kubernetes.default.svc',
  protocol: 'kubernetes',
}

async function verifier(t: TestContext, kubernetes: object = {}, members: object = {}): Promise<Verifier> {
  const authority = await testAuthority()
  const directory = mkdtempSync(join(tmpdir(), 'preflight-admission-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { cert, key } = await authority.leaf('127.0.0.1')
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  const gateway = await startTestGateway(t, {
    tier: 'verifier',
    listen: { ...FREE_PORTS, webhooks: '127.0.0.1:0' },
    tls: { listeners: { webhooks: files } },
    routes: [{ ...ROUTE, kubernetes, ...members }],
  })
  const raw = (path: string, body: object | string) =>
    sendReview(`${gateway.addresses.webhooks ?? ''}${path}`, authority.certificate, body)
  return {
    gateway,
    raw,
    async review(asked, route = 'cluster') {
      const { status, body } = await raw(`/admission/${route}`, admissionReview(asked))
      assert.equal(status, 200)
      assert.equal(at(body, 'kind'), 'AdmissionReview')
      assert.equal(at(body, 'apiVersion'), 'admission.k8s.io/v1')
      const response = at(body, 'response')
      const status_ = at(response, 'status')
      if (status_ !== undefined)
        assert.deepEqual(typeFaults({ kind: 'Status', apiVersion: 'v1', metadata: {}, ...Object(status_) }), [])
      return response
    },
  }
}

const WEB = { of: DEPLOYMENT, name: 'web', namespace: 'shop' } as const
const annotated = (receipt: string) => deployment({ 'preflight.dev/receipt': receipt })

test('a write needs a receipt for this very object, and the denial says which', async (t) => {
  const { gateway, review } = await verifier(t)
  const denied = await review({ ...WEB, object: deployment() })
  assert.equal(at(denied, 'allowed'), false)
  assert.equal(at(denied, 'status', 'code'), 403)
  assert.equal(at(denied, 'status', 'reason'), 'Forbidden')
  assert.match(textAt(denied, 'status', 'message'), /k8s:Deployment:shop\/web.*annotation preflight\.dev\/receipt/s)

  const receipt = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'k8s:Deployment:shop/web' })
  const admitted = await review({ ...WEB, object: annotated(receipt) })
  assert.equal(at(admitted, 'allowed'), true, JSON.stringify(admitted))
  assert.equal(at(admitted, 'auditAnnotations', 'execution-action'), 'CONTINUE')
  assert.match(textAt(admitted, 'auditAnnotations', 'decision-id'), /./)

  const elsewhere = {
    ...WEB,
    namespace: 'other',
    object: {
      ...annotated(receipt),
      metadata: { name: 'web', namespace: 'other', annotations: { 'preflight.dev/receipt': receipt } },
    },
  }
  assert.equal(at(await review(elsewhere), 'allowed'), false, 'of another namespace')
  const removed = await review({ ...WEB, operation: 'DELETE', oldObject: annotated(receipt) })
  assert.equal(at(removed, 'allowed'), false, 'a receipt to deploy does not delete')
})

test('a receipt of another environment, a revoked one and a used one admit nothing', async (t) => {
  const { gateway, review } = await verifier(t, {}, { environment: 'production', receipts: { consume: true } })
  const context = { operation: 'deploy', target_id: 'k8s:Deployment:shop/web' }
  const staging = await issuedReceipt(gateway, { ...context, environment: 'staging' })
  const wrong = await review({ ...WEB, object: annotated(staging) })
  assert.match(textAt(wrong, 'status', 'message'), /environment/)

  const once = await issuedReceipt(gateway, { ...context, environment: 'production' })
  assert.equal(at(await review({ ...WEB, object: annotated(once) }), 'allowed'), true)
  const twice = await review({ ...WEB, object: annotated(once) })
  assert.equal(at(twice, 'allowed'), false, 'single use')

  const revoked = await issuedReceipt(gateway, { ...context, environment: 'production' })
  const { jti } = JSON.parse(Buffer.from(revoked.split('.')[1] ?? '', 'base64url').toString())
  const answer = await fetch(`${gateway.addresses.api}/api/v1/receipts/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_KEY}` },
    body: JSON.stringify({ decision_id: jti, reason: 'test' }),
  })
  assert.equal(answer.status, 200)
  assert.match(textAt(await review({ ...WEB, object: annotated(revoked) }), 'status', 'message'), /revoked/)
})

test('a receipt can be bound to the content, which leaves its own annotation out', async (t) => {
  const { gateway, review } = await verifier(t, { receipt_binds: 'content' })
  const printed = await run(['admission', 'digest', '-'], { stdin: JSON.stringify(deployment()) })
  assert.equal(printed.code, 0, printed.stderr)
  const context = { operation: 'deploy', target_id: 'k8s:Deployment:shop/web', head: printed.stdout.trim() }
  const receipt = await issuedReceipt(gateway, context)
  assert.equal(at(await review({ ...WEB, object: annotated(receipt) }), 'allowed'), true)
  const changed = { ...annotated(receipt), spec: { replicas: 50 } }
  const denied = await review({ ...WEB, object: changed })
  assert.equal(at(denied, 'allowed'), false)
  const unbound = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'k8s:Deployment:shop/web' })
  assert.equal(at(await review({ ...WEB, object: annotated(unbound) }), 'allowed'), false, 'it names no content')
})

test('definitions and contracts are compared with what the cluster holds', async (t) => {
  const { review } = await verifier(t, { receipts: [] })
  const narrowed = await review({
    of: CRD,
    operation: 'UPDATE',
    name: 'widgets.example.com',
    oldObject: widgetCrd({ size: { type: 'integer' } }),
    object: widgetCrd({ size: { type: 'string' } }),
  })
  assert.equal(at(narrowed, 'allowed'), false)
  assert.match(textAt(narrowed, 'status', 'message'), /widgets/)
  const causes = listAt(narrowed, 'status', 'details', 'causes').map((cause) => at(cause, 'reason'))
  assert.ok(causes.includes('PREFLIGHT_DECISION_ID'), JSON.stringify(causes))
  assert.match(textAt(narrowed, 'auditAnnotations', 'decision-id'), /./)

  const orders = 'paths: { /orders: { get: { responses: { "200": { description: ok } } } } }'
  const text = OPENAPI.replace('paths: {}', orders)
  const shop = { of: CONFIG_MAP, name: 'api', namespace: 'shop', operation: 'UPDATE' } as const
  const lost = await review({
    ...shop,
    oldObject: configMap({ 'openapi.yaml': text }),
    object: configMap({ 'openapi.yaml': OPENAPI }),
  })
  assert.equal(at(lost, 'allowed'), false)
  const same = await review({
    ...shop,
    oldObject: configMap({ 'openapi.yaml': OPENAPI, note: 'a' }),
    object: configMap({ 'openapi.yaml': OPENAPI, note: 'b' }),
  })
  assert.equal(at(same, 'allowed'), true, JSON.stringify(same))
})

test('a write that is monitored is admitted with a warning that kubectl prints', async (t) => {
  const { review } = await verifier(t, { receipts: [] })
  const response = await review({
    of: CRD,
    operation: 'UPDATE',
    name: 'widgets.example.com',
    oldObject: widgetCrd({ size: { type: 'integer' } }),
    object: widgetCrd({ size: { type: 'integer', deprecated: true } }),
  })
  assert.equal(at(response, 'allowed'), true)
  assert.equal(at(response, 'auditAnnotations', 'execution-action'), 'CONTINUE_WITH_MONITORING')
  const [warning] = listAt(response, 'warnings')
  assert.match(String(warning), /^preflight: /)
  assert.ok(String(warning).length <= 250)
})

test('dry runs, reviews, unnamed kinds and writes of the same content pass', async (t) => {
  const { review } = await verifier(t, { receipts: ['Deployment'] })
  assert.equal(at(await review({ ...WEB, object: deployment(), dryRun: true }), 'allowed'), true)
  assert.equal(
    at(await review({ of: POD, name: 'a', namespace: 'shop', object: { metadata: { name: 'a' } } }), 'allowed'),
    true,
  )
  const current = { ...deployment(), status: { replicas: 1 } }
  const written = { ...annotated('of an earlier write'), status: { replicas: 2 } }
  assert.equal(at(await review({ ...WEB, operation: 'UPDATE', oldObject: current, object: written }), 'allowed'), true)
  const scaled = { ...current, spec: { replicas: 9 } }
  assert.equal(at(await review({ ...WEB, operation: 'UPDATE', oldObject: current, object: scaled }), 'allowed'), false)
})

for (const [subResource, allowed, message] of [
  ['approval', false, /"operation":"approve".*"target_id":"k8s:CertificateSigningRequest:\/agent"/],
  ['status', true, /^$/],
] as const)
  test(`a write of a status by ${subResource} is ${allowed ? 'a report of a controller' : 'an act of its own'}`, async (t) => {
    const { review } = await verifier(t)
    const of = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      resource: 'certificatesigningrequests',
    }
    const oldObject = { metadata: { name: 'agent' }, spec: { request: 'x' }, status: {} }
    const object = { ...oldObject, status: { conditions: [{ type: 'Approved', status: 'True' }] } }
    const answer = await review({ of, name: 'agent', subResource, operation: 'UPDATE', oldObject, object })
    assert.equal(at(answer, 'allowed'), allowed)
    assert.match(allowed ? '' : textAt(answer, 'status', 'message'), message)
  })

test('a connection into a pod is refused, unless the route lets streams pass', async (t) => {
  const exec = {
    of: { apiVersion: 'v1', kind: 'PodExecOptions', resource: 'pods' },
    subResource: 'exec',
    operation: 'CONNECT',
    name: 'web',
    namespace: 'shop',
    object: { command: ['sh'] },
  } as const
  const strict = await verifier(t)
  assert.match(textAt(await strict.review(exec), 'status', 'message'), /carries no receipt/)
  const open = await verifier(t, { streams: 'pass' })
  assert.equal(at(await open.review(exec), 'allowed'), true)
})

test('a route that observes admits, with a warning', async (t) => {
  const { review } = await verifier(t, {}, { mode: 'observe' })
  const response = await review({ ...WEB, object: deployment() })
  assert.equal(at(response, 'allowed'), true)
  assert.match(String(listAt(response, 'warnings')[0]), /observes/)
})

test('what is not a review gets an error, which the API server takes for a failure', async (t) => {
  const { raw, gateway } = await verifier(t)
  assert.equal((await raw('/admission/other', admissionReview({ ...WEB, object: deployment() }))).status, 404)
  assert.equal((await raw('/admission/cluster', '{"kind":"AdmissionReview"}')).status, 400)
  assert.equal((await raw('/admission/cluster', '{')).status, 400)
  const twoNames = admissionReview({ ...WEB, name: 'other', object: deployment() })
  assert.equal((await raw('/admission/cluster', twoNames)).status, 400)
  const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
  assert.match(metrics, /^preflight_admission_reviews_total\{webhook="admission",result="failed"\} 4/m)
  assert.match(metrics, /^preflight_tier_info\{tier="verifier"\} 1/m)
})

test('the uid of the review is the correlation id of its rows in the ledger', async (t) => {
  const { gateway, review } = await verifier(t)
  const denied = await review({ ...WEB, object: deployment(), uid: '705ab4f5-6393-11e8-b7cc-42010a800002' })
  assert.equal(at(denied, 'uid'), '705ab4f5-6393-11e8-b7cc-42010a800002')
  assert.equal(at(denied, 'auditAnnotations', 'correlation-id'), '705ab4f5-6393-11e8-b7cc-42010a800002')
  assert.ok(gateway.log.some((line) => line['correlation_id'] === '705ab4f5-6393-11e8-b7cc-42010a800002'))
})

test('admission test answers a review without a cluster', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-admission-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const config = join(directory, 'preflight.json')
  const review = join(directory, 'review.json')
  writeFileSync(config, JSON.stringify({ routes: [{ ...ROUTE, kubernetes: { receipts: ['Deployment'] } }] }))
  writeFileSync(review, JSON.stringify(admissionReview({ ...WEB, object: deployment() })))
  const denied = await run(['admission', 'test', review, '--config', config])
  assert.equal(denied.code, 1, denied.stderr)
  assert.match(textAt(JSON.parse(denied.stdout), 'response', 'status', 'message'), /k8s:Deployment:shop\/web/)
  writeFileSync(
    review,
    JSON.stringify(admissionReview({ of: POD, name: 'a', namespace: 'shop', object: { metadata: { name: 'a' } } })),
  )
  assert.equal((await run(['admission', 'test', review, '--config', config])).code, 0)
  assert.equal((await run(['admission', 'test', review, '--config', config, '--route', 'none'])).code, 2)
  writeFileSync(review, '{}')
  assert.equal((await run(['admission', 'test', review, '--config', config])).code, 2)
})

test('a webhooks listener without TLS, or without a route for it, is a mistake', () => {
  const listen = { webhooks: '127.0.0.1:0' }
  assert.throws(() => openSettings({ value: { listen, routes: [ROUTE] }, environment: {} }), /over TLS only/)
  assert.throws(() => openSettings({ value: { listen }, environment: {} }), /there is nothing to answer/)
})
