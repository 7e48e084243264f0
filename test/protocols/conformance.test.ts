/** What every protocol of the registry owes, whatever it recognises. A protocol joins by its profile, without which the project does not compile. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ERRORS } from '../../gateway/errors/errors.ts'
import { at } from '../json.ts'
import { PROFILES, PROTOCOLS, type ProtocolName, type SampleRequest } from './profiles.ts'
import { send, startScene, type ReceivedAnswer } from './protocol-scene.ts'
import { droppedFields, encodings, overrides, upgrades, type Named } from './variants.ts'

const FOLDS: readonly ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => name.replace('s', '\u017f').replace('k', '\u212a'),
  (name) => ` ${name}`,
  (name) => `${name}\0`,
  (name) => `_${name}`,
  (name) => `${name.slice(0, 1)}_${name.slice(1)}`,
]

/** Members in other letters, beside the plain ones or in place of them. */
function* foldedMembers(sample: SampleRequest, decisive: readonly string[]): Generator<Named> {
  for (const name of decisive) {
    const value = JSON.stringify(at(JSON.parse(sample.body), name))
    for (const folded of new Set(FOLDS.slice(0, 3).map((fold) => fold(name)))) {
      if (folded === name) continue
      yield [`${folded} for ${name}`, { ...sample, body: sample.body.replace(`"${name}"`, `"${folded}"`) }]
      yield [`${folded} beside ${name}`, { ...sample, body: sample.body.replace('{', `{"${folded}":${value},`) }]
      yield [`${folded} beside an empty ${name}`, { ...sample, body: emptied(sample.body, name, folded) }]
    }
  }
}

function emptied(body: string, name: string, folded: string): string {
  const value: unknown = JSON.parse(body)
  return JSON.stringify({ ...Object(value), [name]: null, [folded]: at(value, name) })
}

const TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=utf-7',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'APPLICATION/JSON',
  'application/json, text/plain',
  'application/vnd.api+json',
  'application/x-ndjson',
  '*/*',
  'json',
] as const

/** Bodies that two readers may read differently. */
function* ambiguousBodies(sample: SampleRequest, decisive: readonly string[]): Generator<Named> {
  const { body } = sample
  for (const type of TYPES) yield [`as ${type}`, { ...sample, type }]
  yield ['without a type', { ...sample, headers: ['Content-Type: '] }]
  yield ['two types', { ...sample, headers: ['Content-Type: text/plain', 'Content-Type: application/json'] }]
  yield ['byte order mark', { ...sample, body: `\ufeff${body}` }]
  yield ['text behind it', { ...sample, body: `${body} x` }]
  yield ['a second document', { ...sample, body: `${body}${body}` }]
  yield ['a harmless document before it', { ...sample, body: `{}\n${body}` }]
  yield ['a comment', { ...sample, body: `/* x */${body}` }]
  yield ['UTF-16', { ...sample, bytes: Buffer.from(`\ufeff${body}`, 'utf16le') }]
  yield ['bytes that are no UTF-8', { ...sample, bytes: Buffer.concat([Buffer.from(body), Buffer.from([0xff])]) }]
  yield ['single quotes', { ...sample, body: body.replaceAll('"', "'") }]
  yield ['an array of one', { ...sample, body: `[${body}]` }]
  yield ['a string of it', { ...sample, body: JSON.stringify(body) }]
  for (const name of decisive) {
    const pair = `"${name}":null`
    yield [`${name} twice, empty first`, { ...sample, body: body.replace('{', `{${pair},`) }]
    yield [`${name} twice, empty last`, { ...sample, body: `${body.slice(0, -1)},${pair}}` }]
    yield [
      `${name} twice, once escaped`,
      {
        ...sample,
        body: body.replace('{', `{"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}":null,`),
      },
    ]
  }
}

/** Of the type of a body: what a server may decode it by. */
const CHARSETS = [
  '; charset=utf-7',
  ';charset=UTF-7',
  '; charset="utf-7"',
  '; charset =utf-7',
  '; charset= utf-7',
  ';\tcharset\t=\tutf-7',
  '; charset=utf-8; charset=utf-7',
  '; charset=utf-7; charset=utf-8',
  '; a=b; charset=utf-16le',
  '; charset=Shift_JIS',
  '; charset=iso-2022-jp',
  '; charset=latin1',
  '; charset=IBM037',
  "; charset*=utf-8''utf-7",
  '; charset="utf\\-7"',
  '; Charset=utf-32',
] as const
const PLAIN_CHARSETS = ['; charset=utf-8', ';charset="UTF-8"', '; charset=utf8', '; Charset=utf-8'] as const

function* inCharsets(samples: readonly SampleRequest[], charsets: readonly string[]): Generator<Named> {
  for (const sample of samples)
    for (const charset of charsets)
      yield [charset, { ...sample, type: `${sample.type ?? 'application/json'}${charset}` }]
}

/** A JSON body that holds what decides; null: what the protocol judges by is not in a body. */
function decisiveSample(protocol: ProtocolName): SampleRequest | null {
  const { decisive, judged } = PROFILES[protocol]
  return decisive.length === 0 ? null : (judged[0] ?? null)
}

async function forwarded(scene: Parameters<typeof send>[0], requests: Iterable<Named>): Promise<readonly string[]> {
  const found: string[] = []
  for (const [name, request] of requests) {
    const { isForwarded } = await send(scene, request)
    if (isForwarded) found.push(`${request.method} ${request.path}: ${name}`)
  }
  return found
}

/** @param remedy what a new protocol does about the requests that pass */
async function assertStopped(
  scene: Parameters<typeof send>[0],
  requests: Iterable<Named>,
  remedy: string,
): Promise<void> {
  const passed = await forwarded(scene, requests)
  assert.ok(
    passed.length === 0,
    `${passed.length} requests reached the upstream unjudged. ${remedy}\n${passed.join('\n')}`,
  )
}

const REMEDIES = {
  override: 'Refuse what `overridesMethod` finds (gateway/protocols/common/method-override.ts).',
  encoding: 'Refuse a body with a Content-Encoding, or unpack it before it is read.',
  head: 'Read `call.headers`, and let no header end the judgement.',
  charset: 'Refuse what `isUtf8Type` does not take (gateway/network/body-charset.ts).',
  folded: 'Refuse what `collidingNames` finds (gateway/json/folded-names.ts).',
  ambiguous:
    'Read bodies by `readStrictJson` (gateway/json/strict-json.ts), whatever type they state; refuse what it refuses.',
} as const

/** An error that a client can read: its code, in the form of the protocol, and the correlation id of the log. */
function assertReadable({ status, headers, body }: ReceivedAnswer, codeAt: string, what: string): string {
  assert.match(headers.get('content-type') ?? '', /json/, what)
  const value: unknown = JSON.parse(body)
  const code = at(value, ...codeAt.split('/').slice(1))
  assert.ok(typeof code === 'string' && code in ERRORS, `${what}: ${status} ${body}`)
  const id = headers.get('x-correlation-id') ?? ''
  assert.match(id, /^[\w-]{8,}$/, what)
  assert.ok(body.includes(id), `${what}: the body does not name ${id}`)
  return code
}

for (const protocol of PROTOCOLS) {
  const { judged, ordinary, codeAt, faultCodeAt, decisive } = PROFILES[protocol]
  const sample = decisiveSample(protocol)

  suite(protocol, () => {
    test('what is judged is refused in the form of the protocol', async (t) => {
      const scene = await startScene(t, protocol)
      for (const request of judged) {
        const answer = await send(scene, request)
        assert.equal(answer.isForwarded, false, request.path)
        if (request.path.endsWith('git-receive-pack')) continue
        assertReadable(answer, codeAt, `${request.method} ${request.path}`)
      }
    })

    test('ordinary requests are forwarded', async (t) => {
      const scene = await startScene(t, protocol)
      const wanted = ordinary.map((request): Named => ['', request])
      assert.deepEqual(
        await forwarded(scene, wanted),
        wanted.map(([, { method, path }]) => `${method} ${path}: `),
      )
    })

    test('no other method stands for the judged one', async (t) => {
      const scene = await startScene(t, protocol)
      const requests = judged.flatMap((request) => [...overrides(request)])
      await assertStopped(scene, requests, REMEDIES.override)
    })

    test('no coding of a body hides it', async (t) => {
      const scene = await startScene(t, protocol)
      const bodies = judged.filter(({ body }) => body !== '')
      const requests = bodies.flatMap((request) => [...encodings(request)])
      await assertStopped(scene, requests, REMEDIES.encoding)
    })

    test('no upgrade and no dropped field gets a judged request through', async (t) => {
      const scene = await startScene(t, protocol)
      const requests = judged.flatMap((request) => [...upgrades(request), ...droppedFields(request)])
      await assertStopped(scene, requests, REMEDIES.head)
    })

    test('a route that observes forwards what it would refuse', async (t) => {
      const scene = await startScene(t, protocol, { route: { mode: 'observe' } })
      for (const request of judged) {
        const answer = await send(scene, request)
        assert.equal(answer.isForwarded, true, `${request.method} ${request.path}: ${answer.status} ${answer.body}`)
      }
    })

    test('a body in another charset than UTF-8 passes for nothing', async (t) => {
      const scene = await startScene(t, protocol)
      const { passingBodies = [] } = PROFILES[protocol]
      await assertStopped(scene, inCharsets(passingBodies, CHARSETS), REMEDIES.charset)
      const plain = [...inCharsets(passingBodies, ['', ...PLAIN_CHARSETS])]
      assert.deepEqual(
        await forwarded(scene, plain),
        plain.map(([charset, { method, path }]) => `${method} ${path}: ${charset}`),
      )
    })

    if (sample === null) return

    test('members in other letters do not hide what is judged', async (t) => {
      const scene = await startScene(t, protocol)
      await assertStopped(scene, foldedMembers(sample, decisive), REMEDIES.folded)
    })

    test('a body with two readings is not forwarded', async (t) => {
      const scene = await startScene(t, protocol)
      await assertStopped(scene, ambiguousBodies(sample, decisive), REMEDIES.ambiguous)
    })

    test('a body beyond the limit is refused, not forwarded unread', async (t) => {
      const scene = await startScene(t, protocol, { config: { limits: { proxied_body: 1024 } } })
      const answer = await send(scene, { ...sample, body: sample.body + ' '.repeat(2048) })
      assert.equal(answer.isForwarded, false)
      assert.equal(answer.status, 413)
      assert.equal(assertReadable(answer, faultCodeAt ?? codeAt, 'too large'), 'PAYLOAD_TOO_LARGE')
    })
  })
}
