/** Secrets that are tokens of the cluster: another way to what `kubectl create token` issues. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { scene } from '../fakes/kubernetes-scene.ts'
import { at } from '../json.ts'

const SECRETS = '/api/v1/namespaces/shop/secrets'
const SERVICE_ACCOUNT = 'kubernetes.io/service-account-token'
const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const FORMS = protobuf.parse(`
  syntax = "proto2";
  message Unknown { optional TypeMeta typeMeta = 1; optional bytes raw = 2; }
  message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
  message ObjectMeta { optional string name = 1; optional string namespace = 3; }
  message Secret { optional ObjectMeta metadata = 1; optional string type = 3; }
`).root

const encoded = (form: string, value: object): Uint8Array => FORMS.lookupType(form).encode(value).finish()

function inProtobuf(kind: string, type: string): Buffer {
  const raw = encoded('Secret', { metadata: { name: 'sa' }, type })
  return Buffer.concat([Buffer.from('k8s\0'), encoded('Unknown', { typeMeta: { apiVersion: 'v1', kind }, raw })])
}

const secret = (type: string): string => JSON.stringify({ kind: 'Secret', metadata: { name: 'sa' }, type })
const yaml = (type: string): string => `kind: Secret\nmetadata: { name: sa }\ntype: ${type}\n`

const FORMS_OF_WRITES = [
  ['POST', SECRETS, JSON_TYPE, secret],
  ['POST', SECRETS, 'application/yaml', yaml],
  ['POST', SECRETS, PROTOBUF, (type: string) => inProtobuf('Secret', type)],
  ['POST', SECRETS, PROTOBUF, (type: string) => inProtobuf('', type)],
  ['PUT', `${SECRETS}/sa`, JSON_TYPE, secret],
  ['PATCH', `${SECRETS}/sa?fieldManager=kubectl`, 'application/apply-patch+yaml', yaml],
] as const

for (const [method, path, type, body] of FORMS_OF_WRITES)
  for (const token of [SERVICE_ACCOUNT, 'bootstrap.kubernetes.io/token'])
    test(`${method} of a Secret of the type ${token} as ${type} needs a receipt for a token`, async (t) => {
      const { proxy, cluster } = await scene(t, { receipts: ['access'] })
      const sent = body(token)
      const content = typeof sent === 'string' ? sent : new Uint8Array(sent)
      const answer = await fetch(proxy.url + path, { method, headers: { 'content-type': type }, body: content })
      assert.equal(answer.status, 403)
      assert.match(String(at(await answer.json(), 'message')), /"operation":"token".*"target_id":"k8s:Secret:shop\/sa"/)
      assert.deepEqual(cluster.writes(), [])
    })

test('other Secrets need no receipt where only accounts do, and none says its type in other letters', async (t) => {
  const { send, cluster } = await scene(t, { receipts: ['ServiceAccount'] })
  assert.ok((await send('POST', SECRETS, secret('Opaque'))).status < 300)
  assert.equal(cluster.writes().length, 1)
  const other = secret(SERVICE_ACCOUNT).replace('"type"', '"Type"')
  assert.equal((await send('POST', SECRETS, other)).status, 400)
  assert.equal(cluster.writes().length, 1)
})
