/** Observing on the road, by route and by rule of the policy: nothing is held or stopped, and what would have happened is told. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { breakListing, startPetRoute } from '../../fakes/pet-route.ts'
import { at } from '../../json.ts'

test('a route that observes lets a call go on that would be stopped, and counts it as such', async (t) => {
  const { call, change, gateway, upstream } = await startPetRoute(t, { mode: 'observe' })
  change(breakListing)
  const answer = await call()
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
  assert.equal(upstream.requests[0]?.headers['preflight-receipt'], undefined)
  const metrics = await gateway.metrics.text()
  assert.match(metrics, /preflight_observed_calls_total\{route="pets",would="stopped"\} 1/)
  assert.match(metrics, /preflight_calls_total\{route="pets",outcome="observed"\} 1/)
})

test('a route that observes neither holds a call nor wants a receipt of it', async (t) => {
  const { call } = await startPetRoute(t, { mode: 'observe', hold: 60, receipts: { require: true } })
  const answer = await call()
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'STOP')
})

test('a rule that observes does not stop a call; one that enforces beside it does', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-pack-'))
  const pack = (mode: string, file: string): string => {
    const rules = [{ id: 'breaking-blocks', when: "finding.level == 'breaking'", then: 'BLOCK', mode }]
    const text = JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules })
    writeFileSync(join(directory, file), text)
    return join(directory, file)
  }
  const observing = await startPetRoute(t, {}, { policy: pack('observe', 'observe.yaml') })
  observing.change(breakListing)
  const answer = await observing.call()
  assert.equal(answer.status, 200)
  assert.notEqual(answer.headers.get('preflight-action'), 'STOP')
  const decision = await observing.api('GET', `/api/v1/decisions/${answer.headers.get('preflight-decision-id')}`)
  assert.notEqual(at(decision.body, 'decision'), 'BLOCK')
  assert.match(
    await observing.gateway.metrics.text(),
    /preflight_observed_decisions_total\{would="BLOCK",route="pets",operation="tool_call"\} 1/,
  )
  const enforcing = await startPetRoute(t, {}, { policy: pack('enforce', 'enforce.yaml') })
  enforcing.change(breakListing)
  assert.equal((await enforcing.call()).status, 403)
})
