/** Receipt keys that were made or changed while the clock was a year ahead, once the clock is right again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ExternalSigner } from '../../../gateway/keys/external-signer.ts'
import { parseKeySet } from '../../../gateway/keys/jwks.ts'
import { newKey, openKeyRing, type KeyRing } from '../../../gateway/keys/key-ring.ts'
import { signingProblem } from '../../../gateway/keys/self-test.ts'
import { messageOf } from '../../../gateway/errors/startup-error.ts'
import { run } from '../../fakes/command-io.ts'

const NOW = Math.floor(Date.now() / 1000)
const YEAR = 365 * 86_400
const BEFORE = NOW - YEAR

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-clock-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** What readiness says. */
function problemOf(ring: KeyRing): Promise<string | null> {
  return Promise.resolve()
    .then(() => signingProblem(ring, NOW))
    .catch((error: unknown) => messageOf(error instanceof Error ? error.cause : error))
}

interface Done {
  /** When the keys were made. */
  readonly madeAt: number
  readonly act: (ring: KeyRing) => Promise<unknown>
  /** Whether a gateway with the right clock is ready. */
  readonly isReady: boolean
  /** What `preflight keys show` notes. */
  readonly note: RegExp
}

const ACTS: Readonly<Record<string, Done>> = {
  'the first start': {
    madeAt: NOW + YEAR,
    act: () => Promise.resolve(),
    isReady: false,
    note: /active .*begins later/,
  },
  'a rotation': {
    madeAt: BEFORE,
    act: (ring) => ring.rotate(300),
    isReady: true,
    note: /retires later[^]*begins later/,
  },
  'two rotations': {
    madeAt: BEFORE,
    act: async (ring) => [await ring.rotate(0), await ring.rotate(300)],
    isReady: true,
    note: /retires later[^]*begins later/,
  },
  'the end of the key that signed': {
    madeAt: BEFORE,
    act: (ring) => Promise.resolve(ring.retire(ring.signer().keyId)),
    isReady: true,
    note: /retires later/,
  },
}

for (const [name, { madeAt, act, isReady, note }] of Object.entries(ACTS))
  test(`${name} under a clock that was ahead is shown, and healed by a rotation`, async (t) => {
    const directory = folder(t)
    let time = madeAt
    const ahead = await openKeyRing(directory, () => time)
    time = NOW + YEAR
    await act(ahead)

    const ring = await openKeyRing(directory, () => NOW)
    const problem = await problemOf(ring)
    if (isReady) assert.equal(problem, null)
    else assert.match(problem ?? '', /set the clock\. If it is right now, .*preflight keys rotate --overlap 0/)
    const shown = await run(['keys', 'show', '--data-dir', directory])
    assert.match(shown.stdout, note)

    const rotated = await run(['keys', 'rotate', '--overlap', '0', '--data-dir', directory])
    assert.equal(rotated.code, 0, rotated.stderr)
    ring.reload()
    const later = Math.floor(Date.now() / 1000)
    const healed = await openKeyRing(directory, () => later)
    assert.equal(healed.signer().keyId, rotated.stdout.trim())
    assert.equal(await signingProblem(healed, later), null)
    const published = healed.published()
    for (const { kid, status, retired_at: end } of published.keys) if (status === 'active') assert.equal(end, null, kid)
    assert.ok(parseKeySet(JSON.parse(JSON.stringify(published))).ok)
  })

test('a revocation under a clock that was ahead holds immediately', async (t) => {
  const directory = folder(t)
  let time = BEFORE
  const ahead = await openKeyRing(directory, () => time)
  const { keyId } = ahead.signer()
  time = NOW + YEAR
  ahead.revoke(keyId)
  const ring = await openKeyRing(directory, () => NOW)
  assert.equal(ring.keySet().get(keyId)?.status, 'revoked')
  assert.notEqual(ring.signer().keyId, keyId)
})

test('the key of an external signer that joined under a clock that was ahead begins with the next start', async (t) => {
  const directory = folder(t)
  const { kid: keyId, x } = await newKey(0)
  const external: ExternalSigner = { keyId, x, sign: () => Promise.resolve(''), close: () => Promise.resolve() }
  let time = BEFORE
  await openKeyRing(directory, () => time)
  time = NOW + YEAR
  await openKeyRing(directory, () => time, external)
  const ring = await openKeyRing(directory, () => NOW, external)
  assert.equal(ring.keySet().get(keyId)?.validFrom, NOW)
  const again = await openKeyRing(directory, () => NOW + 60, external)
  assert.equal(again.keySet().get(keyId)?.validFrom, NOW)
})
