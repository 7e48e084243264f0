/** Packs that ship are compiled when something is judged by them; what is said of them before is what they are, or nothing is decided. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EMPTY_CONTEXT, type CompiledPolicy } from '../../../engine/internal.ts'
import { deferPolicy } from '../../../gateway/config/deferred-policy.ts'
import { compileText, loadPolicy, policyFile, SHIPPED_PACKS } from '../../../gateway/config/policy.ts'
import { SHIPPED_POLICIES } from '../../../gateway/config/shipped-packs.generated.ts'
import { fakeOccasion } from '../../fakes/decisions.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-packs-'))
after(() => rmSync(directory, { recursive: true }))

function compiledPack(name: string): CompiledPolicy {
  const file = policyFile(name, '.')
  const compiled = compileText(file, readFileSync(file, 'utf8'))
  assert.ok(compiled.ok)
  return compiled.value
}

const FUNCTIONS = ['evaluator', 'trace', 'changeSetRulings'] as const

test('what is known of a shipped pack before it is compiled is what compiling it says', () => {
  for (const pack of SHIPPED_PACKS) {
    const { name, mode, hash } = compiledPack(pack)
    const facts = SHIPPED_POLICIES.get(sha256Hex(readFileSync(policyFile(pack, '.'), 'utf8')))
    assert.deepEqual(facts, { name, mode, hash })
  }
  assert.equal(SHIPPED_POLICIES.size, SHIPPED_PACKS.length)
})

test('a pack that is compiled later has the same description as one compiled immediately', () => {
  const occasion = fakeOccasion({ context: EMPTY_CONTEXT, now: 0 })
  const at = (policy: CompiledPolicy) => ({
    facts: [policy.name, policy.mode, policy.hash, policy.onIncomplete, policy.levels, policy.deprecation],
    reads: [policy.readsRoute, policy.readsConsumers, policy.readsRelease, policy.historyWindow, policy.observes],
    seconds: ['merge', 'publish', 'other', null].map((operation) => policy.ttlSeconds(operation)),
    binds: ['merge', null].map((operation) => policy.expectsFingerprint(operation)),
    edge: policy.nextEdge(occasion),
    functions: FUNCTIONS.map((name) => typeof policy[name]),
  })
  for (const pack of SHIPPED_PACKS) {
    const loaded = loadPolicy(pack, '.')
    assert.ok(loaded.ok)
    assert.deepEqual(at(loaded.value.policy), at(compiledPack(pack)))
  }
})

test('a shipped pack that was changed on disk is one like any other: its mistakes are reported when it is loaded', () => {
  const file = join(directory, 'pack.yaml')
  const shipped = readFileSync(policyFile('default', '.'), 'utf8')
  writeFileSync(file, shipped.replace("finding.level == 'breaking'", "finding.levle == 'breaking'"))
  const loaded = loadPolicy(file, '.')
  assert.ok(!loaded.ok)
  assert.match(loaded.problem[0]?.message ?? '', /levle/)
  writeFileSync(file, `${shipped}# reviewed\n`)
  const commented = loadPolicy(file, '.')
  assert.ok(commented.ok)
  assert.equal(commented.value.policy.hash, compiledPack('default').hash)
})

test('a file whose name could be that of a shipped pack is named as a path', () => {
  writeFileSync(join(directory, 'mine'), '')
  const loaded = loadPolicy('mine', directory)
  assert.ok(!loaded.ok)
  assert.match(loaded.problem[0]?.fix ?? '', /^did you mean "\.\/mine"\?/)
})

test('a policy is compiled once, and when it cannot be, whoever asks gets no answer', () => {
  const compiled = compiledPack('default')
  let times = 0
  const good = deferPolicy(compiled, () => {
    times += 1
    return compiled
  })
  assert.equal(good.name, 'default')
  assert.equal(times, 0)
  assert.equal(good.ttlSeconds('merge'), compiled.ttlSeconds('merge'))
  assert.equal(good.onIncomplete, compiled.onIncomplete)
  assert.equal(times, 1)
  const bad = deferPolicy(compiled, () => {
    throw new Error('not what ships')
  })
  assert.throws(() => bad.onIncomplete, /not what ships/)
})

test('a folder in place of a pack is a mistake that names the file to give', () => {
  const loaded = loadPolicy(join(import.meta.dirname, '../../../policies/default'), '/')
  assert.ok(!loaded.ok)
  assert.deepEqual(
    loaded.problem.map(({ message }) => message),
    ['is a folder'],
  )
  assert.match(loaded.problem[0]?.fix ?? '', /policies\/default\/pack\.yaml$/)
})
