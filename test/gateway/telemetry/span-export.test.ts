/** Spans at the end of a gateway: what is being sent is not broken off. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { createObserver } from '../../../gateway/telemetry/observer.ts'
import { createSpanExport } from '../../../gateway/telemetry/otel/spans.ts'

test('an export under way ends before its transport is closed', async () => {
  const events: string[] = []
  const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
  const spans = createSpanExport({
    target: { form: 'json' },
    transport: {
      async send() {
        events.push('sent')
        begun.resolve()
        const isTaken = await answered.promise
        events.push('taken')
        return isTaken
      },
      close() {
        events.push('closed')
        return Promise.resolve()
      },
    },
    sampler: { ratio: 1, followsParent: true },
    batch: { scheduledDelayMillis: 1, maxQueueSize: 10, maxExportBatchSize: 10 },
    resource: {},
    version: '0',
    database: { system: 'sqlite', address: null, port: null },
  })
  const observer = createObserver({ metrics: createMetrics(), spans })
  observer.end(observer.begin({ method: 'GET', headers: {} }))
  await begun.promise
  const closing = spans.close()
  // The processor has nothing more to send: several turns of the event loop are enough for it.
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  answered.resolve(true)
  await closing
  assert.deepEqual(events, ['sent', 'taken', 'closed'])
})
