/** How a bench is judged, without running one: ratios against thresholds, and thresholds that something measures. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shuffledJson } from '../../bench/diff/pair.ts'
import { isMet, judge, readThresholds } from '../../bench/report.ts'

const BENCH = join(import.meta.dirname, '../../bench')

test('a ratio is met on its bound, missed beyond it, and missed when nothing could be measured', () => {
  const atLeast = { what: 'x', atLeast: 0.6, atMost: null }
  const atMost = { what: 'y', atLeast: null, atMost: 4 }
  assert.deepEqual(
    [0.6, 0.59, Number.NaN].map((value) => isMet(value, atLeast)),
    [true, false, false],
  )
  assert.deepEqual(
    [4, 4.01, Number.POSITIVE_INFINITY].map((value) => isMet(value, atMost)),
    [true, false, false],
  )
})

test('one missed ratio fails the run and is named in the table', () => {
  const { met, markdown } = judge([
    { threshold: 'diff_floor', measured: 3 },
    { threshold: 'diff_reference', measured: 1 },
  ])
  assert.equal(met, false)
  assert.match(markdown, /\| 3\.00 \| met \|/)
  assert.match(markdown, /\| 1\.00 \| MISSED \|/)
})

test('a measurement without a threshold is a mistake of the bench', () => {
  assert.throws(() => judge([{ threshold: 'of_nothing', measured: 1 }]), /of_nothing/)
})

test('every threshold is measured by some section', () => {
  const sources = readdirSync(BENCH, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(BENCH, name), 'utf8'))
    .join('\n')
  // The proxy's are named after the traffic: `${traffic}_cpu`.
  const isMeasured = (name: string): boolean =>
    sources.includes(`threshold: '${name}'`) || sources.includes(`threshold: \`\${traffic}_${name.split('_')[1]}\``)
  assert.deepEqual(
    [...readThresholds().keys()].filter((name) => !isMeasured(name)),
    [],
  )
})

test('shuffling moves members and changes no meaning, and a seed repeats it', () => {
  const path = join(import.meta.dirname, '../../package.json')
  const original: unknown = JSON.parse(readFileSync(path, 'utf8'))
  assert.deepEqual(JSON.parse(shuffledJson(path, 7)), original)
  assert.equal(shuffledJson(path, 7), shuffledJson(path, 7))
  assert.notEqual(shuffledJson(path, 7), shuffledJson(path, 8))
})
