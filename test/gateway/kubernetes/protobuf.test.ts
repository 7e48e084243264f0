/** Objects in the protobuf form of the Kubernetes API: which object it is must be as plain here as it is to the API server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { readProtobufObject } from '../../../gateway/protocols/kubernetes/protobuf-object.ts'
import { DEPLOYMENTS, scene } from '../../fakes/kubernetes-scene.ts'

/** The forms as apimachinery's own .proto files have them. */
const FORMS = protobuf.parse(`
  syntax = "proto2";
  message Unknown { optional TypeMeta typeMeta = 1; optional bytes raw = 2; optional string contentEncoding = 3; optional string contentType = 4; }
  message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
  message ObjectMeta {
    optional string name = 1; optional string generateName = 2; optional string namespace = 3; optional string uid = 5;
    map<string, string> labels = 11; map<string, string> annotations = 12;
  }
  message Deployment { optional ObjectMeta metadata = 1; optional bytes spec = 2; }
  message Eviction { optional ObjectMeta metadata = 1; optional DeleteOptions deleteOptions = 2; }
  message DeleteOptions { optional int64 gracePeriodSeconds = 1; repeated string dryRun = 5; }
`).root

function encoded(form: string, value: object): Buffer {
  return Buffer.from(FORMS.lookupType(form).encode(value).finish())
}

/** @param raw the object's own bytes */
function enveloped(kind: string, raw: Buffer, more: object = {}): Buffer {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    encoded('Unknown', { typeMeta: { apiVersion: 'v1', kind }, raw, ...more }),
  ])
}

const METADATA = { name: 'web', namespace: 'shop', annotations: { 'preflight.dev/receipt': 't' }, labels: { a: 'b' } }

test('name, place and annotations of an object are read', () => {
  const bytes = enveloped('Deployment', encoded('Deployment', { metadata: METADATA, spec: Buffer.from([8, 1]) }))
  const { labels: _labels, ...metadata } = METADATA
  assert.deepEqual(readProtobufObject(bytes), { ok: true, value: { kind: 'Deployment', metadata } })
})

test('the options of an eviction and of a deletion are read', () => {
  const options = { dryRun: ['All'] }
  const eviction = readProtobufObject(
    enveloped('Eviction', encoded('Eviction', { metadata: { name: 'p' }, deleteOptions: options })),
  )
  assert.deepEqual(eviction, {
    ok: true,
    value: { kind: 'Eviction', metadata: { name: 'p', annotations: {} }, deleteOptions: options },
  })
  const deletion = readProtobufObject(enveloped('DeleteOptions', encoded('DeleteOptions', options)))
  assert.deepEqual(deletion, { ok: true, value: { kind: 'DeleteOptions', ...options } })
})

const ONE = encoded('Deployment', { metadata: { name: 'web' } })

for (const [why, bytes, message] of [
  [
    'two metadata, which Go merges and others do not',
    enveloped('Deployment', Buffer.concat([ONE, encoded('Deployment', { metadata: { generateName: 'x' } })])),
    /metadata occurs more than once/,
  ],
  ['two names', enveloped('Deployment', twoNames()), /name occurs more than once/],
  ['an annotation twice', enveloped('Deployment', twoAnnotations()), /annotation occurs more than once/],
  [
    'two objects',
    Buffer.concat([enveloped('Deployment', ONE), encoded('Unknown', { raw: ONE })]),
    /raw occurs more than once/,
  ],
  ['an object in another form', enveloped('Deployment', ONE, { contentType: 'application/json' }), /another form/],
  ['a compressed object', enveloped('Deployment', ONE, { contentEncoding: 'gzip' }), /another form/],
  ['bytes that end too early', enveloped('Deployment', ONE).subarray(0, 12), /cannot be read/],
  ['no such object', Buffer.from('{}'), /does not begin/],
] as const) {
  test(`refused: ${why}`, () => {
    const read = readProtobufObject(bytes)
    assert.ok(!read.ok)
    assert.match(read.message, message)
  })
}

function twoNames(): Buffer {
  const metadata = Buffer.concat([encoded('ObjectMeta', { name: 'web' }), encoded('ObjectMeta', { name: 'bank' })])
  return Buffer.concat([Buffer.from([0x0a, metadata.length]), metadata])
}

function twoAnnotations(): Buffer {
  const one = encoded('ObjectMeta', { annotations: { a: 'b' } })
  return Buffer.concat([Buffer.from([0x0a, 2 * one.length]), one, one])
}

test('a deployment that a typed client sends is judged like any other', async (t) => {
  const { proxy, cluster } = await scene(t)
  const body = enveloped('Deployment', encoded('Deployment', { metadata: METADATA }))
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const answer = await fetch(`${proxy.url}${DEPLOYMENTS}`, { method: 'POST', headers, body: new Uint8Array(body) })
  assert.equal(answer.status, 403)
  assert.equal(proxy.interceptions[0]?.action, 'create deployments shop/web')
  assert.deepEqual(cluster.requests, [])
})
