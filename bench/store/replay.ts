/**
 * Decisions of a day made again under another policy: `policy replay` over a ledger, decisions a second and memory.
 * `node bench/store/replay.ts [DECISIONS]`. docs/scale.md has figures.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { startApi } from '../../test/fakes/api.ts'
import { run } from '../../test/fakes/command-io.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../test/fakes/contracts.ts'

const STRICT = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'strict' },
  rules: [{ id: 'any', when: 'true', then: 'BLOCK' }],
}
/** Requests at one time. */
const CALLERS = 16

const [count = '5000'] = process.argv.slice(2)
const wanted = Number(count)
const folder = mkdtempSync(join(tmpdir(), 'preflight-replay-bench-'))
const pack = join(folder, 'pack.yaml')
writeFileSync(pack, JSON.stringify(STRICT))
const api = await startApi({ config: { rate: { per_minute: 10_000_000 } } })
try {
  const began = performance.now()
  let made = 0
  const decide = async (): Promise<void> => {
    while (made < wanted) {
      made += 1
      const after = made % 2 === 0 ? PETS_WITH_POST : PETS_WITHOUT_DELETE
      const context = { operation: 'merge', target_id: `t-${made}` }
      const { status } = await api.post('/api/v1/preflight', {
        preflight_mode: 'authorize',
        artifacts: [pets(after)],
        context,
      })
      assert.equal(status, 200)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, decide))
  await api.inputs.close()
  const decided = performance.now()
  const { code, stdout, stderr } = await run([
    'policy',
    'replay',
    pack,
    '--limit',
    count,
    '--ledger',
    '--data-dir',
    api.directory,
  ])
  const replayed = performance.now()
  assert.ok(stdout.includes(String(wanted)), `${code}: ${stdout.slice(-400)} ${stderr}`)
  console.table({
    decisions: wanted,
    'decisions/s over the API': Math.round((wanted * 1000) / (decided - began)),
    'decisions/s made again': Math.round((wanted * 1000) / (replayed - decided)),
    'MiB at the most': Math.round(process.resourceUsage().maxRSS / 1024),
  })
} finally {
  await api.close()
  rmSync(folder, { recursive: true, force: true })
}
