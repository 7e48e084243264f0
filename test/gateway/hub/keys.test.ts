/** The keys of a sidecar, whose readings at the hub overlap when changes follow each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AnnouncedChanges, STALE, timedChanges } from '../../../gateway/store/changes.ts'
import { openHubKeys } from '../../../gateway/store/hub/keys.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { until } from '../../fakes/until.ts'

/** The public key of RFC 8037, appendix A.2. */
const KEY = { kty: 'OKP', crv: 'Ed25519', kid: 'key_a', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const REVOKED = { ...KEY, status: 'revoked', revoked_at: '2026-01-01T00:00:00Z' }

test('an earlier answer that comes later does not bring a revoked key back', async (t) => {
  const changes = new AnnouncedChanges(1, () => {})
  const answers: ((keys: readonly object[]) => void)[] = []
  const ask = () => new Promise<unknown>((resolve) => void answers.push((keys) => resolve({ keys })))
  const opening = openHubKeys({
    connection: { ask, description: 'hub' },
    changes,
    access: { timeout: 1, max_age: 60 },
    logger: createLogger('silent'),
    now: Date.now,
  })
  answers[0]?.([KEY])
  const held = await opening
  t.after(() => held.close())
  const status = () => held.keys.keySet().get('key_a')?.status
  assert.equal(status(), 'active')
  for (let count = 0; count < 2; count += 1) changes.announce({ kind: 'receipt_key', key: [] })
  answers[2]?.([REVOKED])
  await turn()
  assert.equal(status(), 'revoked')
  answers[1]?.([KEY])
  await turn()
  assert.equal(status(), 'revoked')
})

test('keys that could not be read when they changed are read again, although changes still arrive', async (t) => {
  const changes = { ...timedChanges(1), isFresh: (mark: number) => mark !== STALE }
  const listeners: Parameters<typeof changes.subscribe>[0][] = []
  const state = { keys: [KEY] as readonly object[], isAway: false }
  const ask = () => (state.isAway ? Promise.reject(new Error('away')) : Promise.resolve({ keys: state.keys }))
  const held = await openHubKeys({
    connection: { ask, description: 'hub' },
    changes: { ...changes, subscribe: (listener) => void listeners.push(listener) },
    access: { timeout: 1, max_age: 60 },
    logger: createLogger('silent'),
    now: Date.now,
  })
  t.after(() => held.close())
  Object.assign(state, { keys: [REVOKED], isAway: true })
  for (const listener of listeners) listener({ kind: 'receipt_key', key: [] })
  await turn()
  state.isAway = false
  await until(() => held.keys.keySet().get('key_a')?.status === 'revoked', 'the sidecar learns of it')
})
