/** The trace of a caller through every protocol: in the answer, the ledger and the log of a refused call, and at the upstream of another. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'
import { PROFILES, PROTOCOLS } from './profiles.ts'
import { send, startScene } from './protocol-scene.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`
const FIELDS = [`traceparent: ${TRACEPARENT}`, 'tracestate: vendor=1', 'baggage: agent=7']

for (const protocol of PROTOCOLS) {
  suite(protocol, () => {
    test('a refused call names its trace in the answer, the ledger and the log', async (t) => {
      const scene = await startScene(t, protocol)
      const [request] = PROFILES[protocol].judged
      assert.ok(request)
      const answer = await send(scene, { ...request, headers: [...FIELDS, 'X-Correlation-ID: of-the-caller'] })
      assert.equal(answer.isForwarded, false)
      assert.equal(answer.headers.get('x-correlation-id'), 'of-the-caller')
      assert.ok(answer.body.includes(TRACE), answer.body)
      const rows = scene.proxy.interceptions
      assert.deepEqual(
        rows.filter(({ traceId }) => traceId !== TRACE),
        [],
      )
      const filter = { tenant: 'local', traceId: TRACE, limit: 10 }
      const stored = async () => (await scene.proxy.store.calls.list(filter)).rows.length
      await until(async () => (await stored()) === rows.length, 'the rows of the trace are found')
      const records = scene.proxy.log.map((line): unknown => JSON.parse(line))
      const refused = records.filter((record) =>
        /^call\.(?:not_allowed|undecided|refused)$/.test(String(at(record, 'event'))),
      )
      assert.ok(refused.length > 0)
      assert.equal(rows.length > 0, !refused.some((record) => at(record, 'event') === 'call.refused'))
      assert.deepEqual([...new Set(refused.map((record) => at(record, 'trace_id')))], [TRACE])
    })

    const [request] = PROFILES[protocol].ordinary
    // A gRPC route forwards gRPC calls only, which need HTTP/2.
    if (request === undefined) return
    test('a forwarded call carries trace, state and baggage to its upstream', async (t) => {
      const scene = await startScene(t, protocol)
      const answer = await send(scene, { ...request, headers: FIELDS })
      assert.equal(answer.isForwarded, true)
      const { headers } = scene.upstream.requests.at(-1) ?? assert.fail('it reached the upstream')
      assert.deepEqual(
        [headers['traceparent'], headers['tracestate'], headers['baggage']],
        [TRACEPARENT, 'vendor=1', 'agent=7'],
      )
    })
  })
}
