/** Bad input gets a clear error, loses nothing, and never an ALLOW. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startApi, type ApiAnswer, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { exchangeBytes, openSocket, statusOf } from '../../fakes/raw-http.ts'
import { at, listAt, textAt, textsAt } from '../../json.ts'

const PREFLIGHT = '/api/v1/preflight'
const good = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }

function assertRefused({ status, body, headers }: ApiAnswer, expected: number, code: string): void {
  assert.equal(status, expected, JSON.stringify(body))
  assert.equal(at(body, 'error'), code)
  assert.ok(textAt(body, 'message').length > 0)
  assert.equal(at(body, 'correlation_id'), headers.get('x-correlation-id'))
  assert.equal(at(body, 'decision'), undefined)
}

const pointers = ({ body }: ApiAnswer) => textsAt(listAt(body, 'details'), 'pointer')

describe('a request that is not as it should be', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(async () => {
    // After all of it the gateway still decides.
    assert.equal((await api.post(PREFLIGHT, good)).status, 200)
    await api.close()
  })

  it('gets the position of the first fault when it is not JSON', async () => {
    const answer = await api.post(PREFLIGHT, '{"preflight_mode": "analyze",\n  "artifacts": [,]}')
    assertRefused(answer, 400, 'INVALID_INPUT')
    assert.match(textAt(answer.body, 'details', 0, 'message'), /line 2, column \d+/)
  })

  it('tells what is wrong with the set of artifacts beside types that are not known or missing', async () => {
    const { type: _type, ...untyped } = pets(PETS_WITH_POST)
    const artifacts = [{ ...pets(PETS_WITH_POST), type: 'wsdl' }, pets(PETS_WITH_POST), { ...untyped, id: 'other' }]
    const answer = await api.post(PREFLIGHT, { ...good, artifacts })
    assertRefused(answer, 400, 'UNSUPPORTED_ARTIFACT_TYPE')
    assert.deepEqual(pointers(answer).toSorted(), ['/artifacts/0/type', '/artifacts/1/id', '/artifacts/2/type'])
    const nameless = await api.post(PREFLIGHT, { ...good, artifacts: [artifacts[0], { ...untyped, id: 7 }] })
    assert.deepEqual(pointers(nameless).toSorted(), ['/artifacts/0/type', '/artifacts/1/id', '/artifacts/1/type'])
  })

  it('is refused when it is empty, a list, or a bare value', async () => {
    for (const body of ['', '   ', '[]', '"text"', 'null', '7']) {
      assertRefused(await api.post(PREFLIGHT, body), 400, 'INVALID_INPUT')
    }
  })

  it('is refused with 415 when it is not declared as JSON in UTF-8', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'json',
    ]) {
      assertRefused(await api.post(PREFLIGHT, good, { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    }
    const packed = await api.post(PREFLIGHT, good, { 'content-encoding': 'gzip' })
    assertRefused(packed, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  it('names the missing preflight_mode', async () => {
    const { preflight_mode: _mode, ...rest } = good
    const answer = await api.post(PREFLIGHT, rest)
    assertRefused(answer, 400, 'PREFLIGHT_MODE_REQUIRED')
    assert.deepEqual(pointers(answer), ['/preflight_mode'])
  })

  it('names the missing operation of an authorize', async () => {
    for (const context of [undefined, {}, { operation: null }, { operation: '' }]) {
      const answer = await api.post(PREFLIGHT, { ...good, context })
      assertRefused(answer, 400, 'OPERATION_REQUIRED')
    }
  })

  it('names the unknown artifact type and those that there are', async () => {
    const answer = await api.post(PREFLIGHT, { ...good, artifacts: [{ ...pets(PETS), type: 'cobol' }] })
    assertRefused(answer, 400, 'UNSUPPORTED_ARTIFACT_TYPE')
    assert.deepEqual(pointers(answer), ['/artifacts/0/type'])
    assert.match(textAt(answer.body, 'details', 0, 'message'), /openapi/)
  })

  it('points at the repeated id', async () => {
    const answer = await api.post(PREFLIGHT, { ...good, artifacts: [pets(PETS), pets(PETS, 'b'), pets(PETS)] })
    assertRefused(answer, 400, 'INVALID_INPUT')
    assert.deepEqual(pointers(answer), ['/artifacts/2/id'])
  })

  it('gets every mistake in one response', async () => {
    const answer = await api.post(PREFLIGHT, {
      artifacts: [pets(PETS), pets(PETS)],
      context: { branch: 7, repository: '' },
      decision_spec_version: '3.0',
    })
    assertRefused(answer, 400, 'PREFLIGHT_MODE_REQUIRED')
    for (const pointer of [
      '/preflight_mode',
      '/context/branch',
      '/context/repository',
      '/decision_spec_version',
      '/artifacts/1/id',
    ]) {
      assert.ok(pointers(answer).includes(pointer), `${pointer} in ${JSON.stringify(answer.body)}`)
    }
    assert.equal(pointers(answer).length, 5, 'and each of them once')
  })

  it('is refused with no artifact, with too many, and with an artifact of two empty sides', async () => {
    assertRefused(await api.post(PREFLIGHT, { ...good, artifacts: [] }), 400, 'INVALID_INPUT')
    const many = Array.from({ length: 51 }, (_, index) => pets(PETS, `a${index}`))
    assertRefused(await api.post(PREFLIGHT, { ...good, artifacts: many }), 400, 'INVALID_INPUT')
    const empty = { id: 'e', type: 'openapi', before: '', after: '' }
    assertRefused(await api.post(PREFLIGHT, { ...good, artifacts: [empty] }), 400, 'INVALID_INPUT')
  })

  it('cannot ask for a derivation without refs, together with artifacts, or without a proven binding', async () => {
    const bare = { preflight_mode: 'authorize', derivation: 'server', context: { operation: 'merge' } }
    assertRefused(await api.post(PREFLIGHT, bare), 400, 'DERIVATION_REQUIRES_BASE_HEAD')
    assertRefused(await api.post(PREFLIGHT, { ...bare, artifacts: good.artifacts }), 400, 'INVALID_INPUT')
    const placed = { ...bare, context: { operation: 'merge', repository: 'a/b', base: 'v1', head: 'v2' } }
    assertRefused(await api.post(PREFLIGHT, placed), 403, 'BINDING_NOT_PROVEN')
  })

  it('is refused when a member name repeats, since two readers would read two requests', async () => {
    const answer = await api.post(PREFLIGHT, '{"preflight_mode":"analyze","preflight_mode":"authorize","artifacts":[]}')
    assertRefused(answer, 400, 'INVALID_INPUT')
    assert.match(textAt(answer.body, 'details', 0, 'message'), /preflight_mode/)
  })

  it('is refused when its text is not UTF-8 or holds half a character', async () => {
    assertRefused(await api.post(PREFLIGHT, '{"preflight_mode":"\\ud800"}'), 400, 'INVALID_INPUT')
    const raw = await exchangeBytes(
      api.url,
      [
        `POST ${PREFLIGHT} HTTP/1.1`,
        `Host: ${new URL(api.url).host}`,
        `Authorization: Bearer ${api.key}`,
        'Content-Type: application/json',
        'Content-Length: 8',
        'Connection: close',
        '',
        '{"a":"\xc3(',
      ].join('\r\n'),
    )
    assert.equal(statusOf(raw), 400)
  })

  it('cannot reach a prototype', async () => {
    const text = JSON.stringify(good).replace(
      '{',
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},',
    )
    const answer = await api.post(PREFLIGHT, text)
    assert.equal(answer.status, 200)
    assert.equal(at({}, 'polluted'), undefined)
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  it('is refused when it is nested 10,000 deep', async () => {
    const deep = `{"preflight_mode":"analyze","artifacts":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    assertRefused(await api.post(PREFLIGHT, deep), 400, 'INVALID_INPUT')
  })

  it('is refused with 413 when it is larger than the limit, declared or not', async () => {
    const small = await startApi({ config: { limits: { request_body: 10_000 } } })
    try {
      const large = { ...good, artifacts: [pets('x'.repeat(20_000))] }
      assertRefused(await small.post(PREFLIGHT, large), 413, 'PAYLOAD_TOO_LARGE')
      const stream = new Blob([JSON.stringify(large)]).stream()
      const init = {
        method: 'POST',
        body: stream,
        duplex: 'half' as const,
        headers: { authorization: `Bearer ${small.key}`, 'content-type': 'application/json' },
      }
      const response = await fetch(small.url + PREFLIGHT, init)
      assert.equal(response.status, 413)
      assert.equal((await small.post(PREFLIGHT, { ...good, artifacts: [pets('x')] })).status, 200)
    } finally {
      await small.close()
    }
  })

  it('gets 400 when its body breaks off, and nothing of it is decided', async () => {
    const decisions = async () => listAt((await api.get('/api/v1/ledger?limit=500')).body, 'entries').length
    const before = await decisions()
    const { host } = new URL(api.url)
    const head = `POST ${PREFLIGHT} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${api.key}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n`
    const answer = await new Promise<string>((resolve) => {
      const socket = openSocket(api.url)
      let received = ''
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1')
      })
      socket.on('close', () => resolve(received))
      socket.on('error', () => resolve(received))
      socket.end(`${head}{"preflight_mode":"authorize","art`)
    })
    assert.equal(statusOf(answer), 400)
    assert.match(answer, /"error":"INVALID_INPUT"/)
    await waitUntil(() => api.openRequests() === 0)
    assert.equal(await decisions(), before)
  })

  it('gets an answer of the same form when it is not HTTP', async () => {
    const answer = await exchangeBytes(api.url, 'NONSENSE\r\n\r\n')
    assert.equal(statusOf(answer), 400)
    assert.match(answer, /"error":"INVALID_INPUT"/)
  })
})

const authorize = (after: string) => ({ ...good, artifacts: [pets(after)] })

describe('an artifact that cannot be judged', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  const assertDegraded = async (after: string): Promise<void> => {
    const { status, body } = await api.post(PREFLIGHT, authorize(after))
    assert.equal(status, 200)
    assert.equal(at(body, 'execution_action'), 'STOP')
    assert.equal(at(body, 'decision_result', 'analysis_complete'), false)
    assert.ok(listAt(body, 'decision_result', 'degraded_reasons').length > 0)
    const other = await api.post('/api/diff', { base: PETS, head: after, type: 'openapi' })
    assertRefused(other, 422, 'ARTIFACT_UNREADABLE')
  }

  it('may be a YAML alias bomb', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `x${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join(', ')}]`,
    )
    await assertDegraded(`openapi: 3.0.3\nx0: &a0 [lol]\n${levels.join('\n')}\n`)
  })

  it('may be nested 10,000 deep, as JSON and as YAML', async () => {
    await assertDegraded(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)
    await assertDegraded(`openapi: ${'['.repeat(10_000)}${']'.repeat(10_000)}`)
  })

  it('may repeat its keys', async () => {
    await assertDegraded('{"openapi":"3.0.3","openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}')
  })

  it('may be larger than the limit of a side', async () => {
    const tight = await startApi({ config: { limits: { artifact_side: 1000 } } })
    try {
      const { status, body } = await tight.post(PREFLIGHT, authorize(PETS_WITH_POST + ' '.repeat(1000)))
      assert.equal(status, 200)
      assert.equal(at(body, 'execution_action'), 'STOP')
      assert.equal(at(body, 'decision_result', 'analysis_complete'), false)
    } finally {
      await tight.close()
    }
  })

  it('may hold keys such as __proto__, which are plain names', async () => {
    const named = PETS.replace('"id":{"type":"string"}', '"id":{"type":"string"},"__proto__":{"type":"string"}')
    const { status, body } = await api.post(PREFLIGHT, authorize(named))
    assert.equal(status, 200)
    assert.equal(at(body, 'decision_result', 'analysis_complete'), true, JSON.stringify(body))
    assert.equal(at({}, 'type'), undefined)
  })

  it('may hold a broken $ref, which is a finding and not the end', async () => {
    const broken = PETS.replace('{"type":"object"}', '{"$ref":"#/components/schemas/Missing"}')
    const { status, body } = await api.post('/api/diff', { base: PETS, head: broken })
    assert.equal(status, 200)
    assert.ok(listAt(body, 'groups').length > 0)
    const decided = await api.post(PREFLIGHT, authorize(broken))
    assert.equal(decided.status, 200)
    assert.notEqual(at(decided.body, 'decision'), undefined)
  })

  it('may have 20 MB, and others are answered meanwhile', async () => {
    const filler = JSON.stringify('x'.repeat(1024))
    const schemas = Array.from(
      { length: 19_000 },
      (_, index) => `"S${index}":{"type":"string","description":${filler}}`,
    )
    const large = PETS.replace('"paths"', `"components":{"schemas":{${schemas.join(',')}}},"paths"`)
    assert.ok(large.length > 20_000_000)
    let isDone = false
    const judged = api.post(PREFLIGHT, { ...good, artifacts: [{ ...pets(large), before: large }] }).finally(() => {
      isDone = true
    })
    const meanwhile = await api.get('/.well-known/preflight.json')
    assert.equal(meanwhile.status, 200)
    assert.equal(isDone, false)
    const { status, body } = await judged
    assert.equal(status, 200)
    assert.equal(at(body, 'execution_action'), 'CONTINUE', JSON.stringify(body).slice(0, 2000))
  })
})

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
