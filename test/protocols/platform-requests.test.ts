/** Requests as the clients of each platform send them, through a route whose decisions are all BLOCK. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLATFORM_REQUESTS } from './platform-requests.ts'
import { PROTOCOLS } from './profiles.ts'
import { send, startScene, type SentRequest } from './protocol-scene.ts'
import { droppedFields, encodings, overrides, pathForms, type Named } from './variants.ts'

const named = ({ method, path, body, type = '' }: SentRequest): string => `${method} ${path} ${type} ${body}`.trim()

function* formsOf(request: SentRequest): Generator<Named> {
  yield* pathForms(request)
  yield* droppedFields(request)
  yield* overrides(request)
  if (request.body !== '') yield* encodings(request)
}

for (const protocol of PROTOCOLS) {
  const { judged, ordinary } = PLATFORM_REQUESTS[protocol] ?? { judged: [], ordinary: [] }

  test(`${protocol}: what lands, ships, removes or hands over is not forwarded`, async (t) => {
    const scene = await startScene(t, protocol)
    const forwarded: string[] = []
    for (const request of judged) if ((await send(scene, request)).isForwarded) forwarded.push(named(request))
    assert.deepEqual(forwarded, [])
  })

  test(`${protocol}: no form of these requests is forwarded`, async (t) => {
    const scene = await startScene(t, protocol)
    const forwarded: string[] = []
    for (const request of judged)
      for (const [form, variant] of formsOf(request))
        if ((await send(scene, variant)).isForwarded) forwarded.push(`${form}: ${named(variant)}`)
    assert.deepEqual(forwarded, [])
  })

  test(`${protocol}: what people do all day is forwarded`, async (t) => {
    const scene = await startScene(t, protocol)
    const stopped: string[] = []
    for (const request of ordinary) {
      const answer = await send(scene, request)
      if (!answer.isForwarded) stopped.push(`${named(request)}: ${answer.status} ${answer.body.slice(0, 300)}`)
    }
    assert.deepEqual(stopped, [])
  })
}
