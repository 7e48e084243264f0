/** The pair of the webhooks over years, and Secrets that somebody changed. */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { rotatedPair, type PairTexts } from '../../../gateway/kubernetes/webhook-pair.ts'

const HOSTS = ['release-webhooks.preflight.svc', 'release-hub.preflight.svc']
const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
const terms = (day: number, hosts = HOSTS) => ({ hosts, days: 365, now: START + day * DAY })

const certificatesIn = (bundle = ''): readonly X509Certificate[] =>
  (bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n?/g) ?? []).map((pem) => new X509Certificate(pem))

/** True for a client that trusts the bundle. */
function isTrusted(texts: PairTexts, bundle: string | undefined, now: number): boolean {
  const leaf = new X509Certificate(texts['tls.crt'] ?? '')
  assert.ok(leaf.checkPrivateKey(createPrivateKey(texts['tls.key'] ?? '')), 'the key is that of the certificate')
  assert.ok(HOSTS.every((host) => leaf.checkHost(host) === host))
  const isInForce = leaf.validFromDate.getTime() <= now && now < leaf.validToDate.getTime()
  return isInForce && certificatesIn(bundle).some((one) => leaf.checkIssued(one) && leaf.verify(one.publicKey))
}

test('looked at each week for years, it is always in force, and clients that read it a month ago trust it', async () => {
  let texts: PairTexts = {}
  const changes: string[] = []
  const bundles: (string | undefined)[] = []
  for (let day = 0; day < 1100; day += 7) {
    const rotated = await rotatedPair(texts, terms(day))
    texts = rotated.texts
    if (rotated.change !== 'kept') changes.push(rotated.change)
    bundles.push(texts['ca.crt'])
    const read = bundles.at(Math.max(-bundles.length, -5))
    assert.ok(isTrusted(texts, read, START + day * DAY), `day ${day}`)
    assert.ok(certificatesIn(texts['ca.crt']).length <= 2, 'authorities that are over are dropped')
  }
  const cycles = Array.from({ length: 4 }, () => ['prepared', 'replaced'])
  assert.deepEqual(changes, ['made', ...cycles.flat()])
})

test('a run that comes too late makes a new pair, or uses the one that clients trust already', async () => {
  const made = await rotatedPair({}, terms(0))
  assert.equal((await rotatedPair(made.texts, terms(366))).change, 'made')
  const prepared = await rotatedPair(made.texts, terms(300))
  const late = await rotatedPair(prepared.texts, terms(370))
  assert.equal(late.change, 'replaced')
  assert.ok(isTrusted(late.texts, prepared.texts['ca.crt'], START + 370 * DAY))
})

test('what cannot be used is made anew', async () => {
  const { texts } = await rotatedPair({}, terms(0))
  const other = await rotatedPair({}, terms(0))
  const broken: readonly (readonly [string, PairTexts])[] = [
    ['no key', { 'tls.crt': texts['tls.crt'] ?? '', 'ca.crt': texts['ca.crt'] ?? '' }],
    ['another key', { ...texts, 'tls.key': other.texts['tls.key'] ?? '' }],
    ['another authority', { ...texts, 'ca.crt': other.texts['ca.crt'] ?? '' }],
    ['no certificate', { ...texts, 'tls.crt': 'changed by hand' }],
    ['no authority', { ...texts, 'ca.crt': '' }],
  ]
  for (const [what, changed] of broken) {
    const rotated = await rotatedPair(changed, terms(1))
    assert.equal(rotated.change, 'made', what)
    assert.ok(isTrusted(rotated.texts, rotated.texts['ca.crt'], START + DAY), what)
  }
  assert.equal((await rotatedPair(texts, terms(1, [...HOSTS, 'renamed.preflight.svc']))).change, 'made')
  assert.equal((await rotatedPair(texts, terms(-2))).change, 'made', 'a clock that is behind')
  assert.equal((await rotatedPair(texts, terms(1))).texts, texts)
})
