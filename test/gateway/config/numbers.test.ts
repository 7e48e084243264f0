/** Numbers that a configuration cannot mean, in every setting that holds one; at a reload, the settings before stay in force. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CONFIG_LEAVES } from '../../../gateway/config/leaves.ts'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { isJsonObject } from '../../../gateway/json/strict-json.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { formatMistake } from '../../../gateway/errors/mistake.ts'

const NUMBERS = CONFIG_LEAVES.filter(({ type }) => /^(?:number|integer)$/.test(type))

test('every number has a maximum, and a time that a timer waits for is not longer than timers wait', () => {
  assert.ok(NUMBERS.length > 40, 'the numbers are found')
  for (const { path, schema } of NUMBERS)
    assert.ok(typeof schema['maximum'] === 'number' && schema['maximum'] <= Number.MAX_SAFE_INTEGER, path)
})

test('a folder or a device in place of a file is a mistake in every setting that names a file, and no end of the gateway', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-files-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'preflight.json')
  // Files of the store, the hub and the listeners are read at the start, or with the first request.
  const leaves = CONFIG_LEAVES.filter(({ path }) => /^(?:scm\..*|consumers)_file$/.test(path))
  assert.ok(leaves.length > 7, leaves.map(({ path }) => path).join())
  for (const place of [directory, '/dev/null'])
    for (const { path } of leaves) {
      const value = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), place)
      writeFileSync(file, '{}')
      const live = openSettings({ file, environment: {} })
      writeFileSync(file, JSON.stringify(value))
      assert.equal(live.reload().result, 'refused', `${path}: ${place}`)
      const found = live.pendingMistakes()
      assert.ok(
        found.some((mistake) => mistake.path.startsWith(path.split('.')[0] ?? '')),
        JSON.stringify(found),
      )
    }
})

/** Outside of lists, so that one document can hold all of them. */
const PLAIN = NUMBERS.filter(({ env }) => env !== null)

function documentOf(value: number): object {
  const document: Record<string, unknown> = {}
  for (const { path } of PLAIN) {
    const names = path.split('.')
    let holder = document
    for (const name of names.slice(0, -1)) {
      const inner = isJsonObject(holder[name]) ? { ...holder[name] } : {}
      holder[name] = inner
      holder = inner
    }
    holder[names.at(-1) ?? ''] = value
  }
  return document
}

for (const [text, value] of [
  ['.inf', Infinity],
  ['-.inf', -Infinity],
  ['.nan', NaN],
  ['1e400', Infinity],
  ['1e300', 1e300],
] as const)
  test(`${text} is a mistake in every number, by file and by variable`, () => {
    const byFile = loadConfig({ value: documentOf(value), environment: {} })
    const byVariable = loadConfig({
      value: {},
      environment: Object.fromEntries(PLAIN.map(({ env }) => [env ?? '', text])),
    })
    for (const loaded of [byFile, byVariable]) {
      assert.ok(!loaded.ok)
      const found = new Set(loaded.problem.map(({ path }) => path))
      assert.deepEqual(
        PLAIN.filter(({ path }) => !found.has(path)).map(({ path }) => path),
        [],
      )
    }
  })

test('a reload to a number without an end is refused, and the settings before stay in force', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-numbers-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'preflight.yaml')
  writeFileSync(file, 'approvals: { validity: 100 }\n')
  const live = openSettings({ file, environment: {} })
  writeFileSync(file, 'approvals: { validity: .inf }\n')
  assert.equal(live.reload().result, 'refused')
  assert.match(live.pendingMistakes().map(formatMistake).join(), /:1:\d+: must be a number, not Infinity/)
  assert.equal(live.current().config.approvals.validity, 100)
})
