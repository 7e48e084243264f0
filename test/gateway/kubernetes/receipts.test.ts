/** Receipts that objects and patches carry in their annotations, and how they are taken for what they are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiptsIn, receiptsInPatch } from '../../../gateway/protocols/kubernetes/receipt-annotations.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { issuedReceipt } from '../../fakes/issued-receipt.ts'
import { startFakeCluster } from '../../fakes/kubernetes-api.ts'
import { deployment, DEPLOYMENTS } from '../../fakes/kubernetes-scene.ts'
import { at } from '../../json.ts'

const ENVELOPE = { decision: 'ALLOW' }
const ENCODED = Buffer.from(JSON.stringify(ENVELOPE)).toString('base64url')

for (const [what, annotations, receipts] of [
  ['no annotation', {}, []],
  ['an empty one', { 'preflight.dev/receipt': '' }, []],
  ['one that is not a text', { 'preflight.dev/receipt': 1 }, []],
  ['an envelope alone', { 'preflight.dev/envelope': ENCODED }, []],
  ['a receipt', { 'preflight.dev/receipt': 'a' }, [{ token: 'a' }]],
  [
    'several',
    { 'preflight.dev/receipt': ' a,b\n c ', 'preflight.dev/envelope': ENCODED },
    [{ token: 'a' }, { token: 'b' }, { token: 'c' }],
  ],
  [
    'an envelope as in the header',
    { 'preflight.dev/receipt': 'a', 'preflight.dev/envelope': ENCODED },
    [{ token: 'a', envelope: ENVELOPE }],
  ],
  [
    'an envelope in JSON',
    { 'preflight.dev/receipt': 'a', 'preflight.dev/envelope': JSON.stringify(ENVELOPE) },
    [{ token: 'a', envelope: ENVELOPE }],
  ],
  [
    'an envelope that is none, which no receipt covers',
    { 'preflight.dev/receipt': 'a', 'preflight.dev/envelope': '{' },
    [{ token: 'a', envelope: null }],
  ],
] as const) {
  test(`annotations with ${what}`, () => assert.deepEqual(receiptsIn({ annotations }), receipts))
}

for (const [what, operations, receipts] of [
  [
    'one annotation',
    [{ op: 'add', path: '/metadata/annotations/preflight.dev~1receipt', value: 'a' }],
    [{ token: 'a' }],
  ],
  [
    'all annotations',
    [{ op: 'replace', path: '/metadata/annotations', value: { 'preflight.dev/receipt': 'a' } }],
    [{ token: 'a' }],
  ],
  [
    'a receipt and its envelope',
    [
      { op: 'add', path: '/metadata/annotations/preflight.dev~1envelope', value: ENCODED },
      { op: 'add', path: '/metadata/annotations/preflight.dev~1receipt', value: 'a' },
    ],
    [{ token: 'a', envelope: ENVELOPE }],
  ],
  [
    'a test, which writes nothing',
    [{ op: 'test', path: '/metadata/annotations/preflight.dev~1receipt', value: 'a' }],
    [],
  ],
  ['a removal', [{ op: 'remove', path: '/metadata/annotations/preflight.dev~1receipt' }], []],
  ['no operation', ['x', null], []],
] as const) {
  test(`a JSON patch with ${what}`, () => assert.deepEqual(receiptsInPatch(operations), receipts))
}

test('a receipt for one use serves one write, whether it came by header or stands in the object', async (t) => {
  const cluster = await startFakeCluster()
  t.after(() => cluster.close())
  const route = {
    name: 'cluster',
    match: { path: '/' },
    upstream: cluster.origin,
    protocol: 'kubernetes',
    receipts: { consume: true },
  }
  const gateway = await startTestGateway(t, { routes: [route] })
  const token = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'k8s:Deployment:shop/web' })
  cluster.put('deployments', deployment({ 'preflight.dev/receipt': token }))
  const scale = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${gateway.addresses.proxy}${DEPLOYMENTS}/web/scale`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json', ...headers },
      body: '{"spec":{"replicas":2}}',
    })
  assert.equal((await scale({ 'preflight-receipt': token })).status, 200)
  const again = await scale({})
  assert.equal(again.status, 403)
  assert.match(String(at(await again.json(), 'message')), /consumed/)
  assert.equal(cluster.writes().length, 1)
})
