/** Real contracts, consecutive versions: what must hold of every comparison, whatever the contract. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/contracts/limits.ts'
import { compareOpenApi, type OpenApiComparison } from '../../../engine/diff/openapi/compare.ts'
import { isRecord } from '../../../engine/schema/located.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

const CORPUS = new URL('../../../../shared/corpus/openapi/', import.meta.url)
const absent = 'the corpus lies beside the checkout and is absent'
const SHUFFLES = 10

function texts(name: string): readonly [before: string, after: string] {
  const read = (side: string): string => {
    const file = ['json', 'yaml'].map((ending) => new URL(`${name}/${side}.${ending}`, CORPUS)).find(existsSync)
    assert.ok(file, `${name} has no ${side}`)
    return readFileSync(file, 'utf8')
  }
  return [read('before'), read('after')]
}

function compare(before: string, after: string): OpenApiComparison {
  const compared = compareOpenApi(before, after, { today: '2026-11-21' }, sha256)
  assert.ok(compared.ok)
  return compared.value
}

function valueOf(text: string): unknown {
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok)
  return read.value.root
}

/** The same value with the members of every object in another order. */
function shuffled(value: unknown, random: () => number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, random))
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => ({ name, member, rank: random() }))
  members.sort((a, b) => a.rank - b.rank)
  return Object.fromEntries(members.map(({ name, member }) => [name, shuffled(member, random)]))
}

/** A generator with a seed, so that a failure can be seen again. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** What does not depend on where things stand in the text. */
function verdict({ groups, stats, spec_versions }: OpenApiComparison): unknown {
  return { groups: groups.map(({ line: _line, column: _column, ...group }) => group), stats, spec_versions }
}

suite('a real contract', () => {
  const names = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => !name.includes('.')) : []

  test('is there to be compared', (t) => {
    if (names.length === 0) return t.skip(absent)
    assert.ok(names.length >= 20)
  })

  for (const name of names) {
    test(`${name}: nothing changed against itself, nor with its keys in another order`, () => {
      const [, after] = texts(name)
      assert.deepEqual(compare(after, after).groups, [])
      const other = JSON.stringify(shuffled(valueOf(after), seeded(7)))
      assert.deepEqual(compare(after, other).groups, [])
    })
  }

  for (const name of ['kratos-2022-12', 'qdrant-117-118', 'adyen-CheckoutService-68-69']) {
    test(`${name}: ten shuffles of both sides give one answer, byte for byte`, (t) => {
      const pair = names.includes(name) ? texts(name) : null
      if (pair === null) return t.skip(absent)
      const [before, after] = pair.map(valueOf)
      const answers = Array.from({ length: SHUFFLES }, (_, index) => {
        const random = seeded(index + 1)
        const [old, now] = [JSON.stringify(shuffled(before, random)), JSON.stringify(shuffled(after, random))]
        return JSON.stringify(verdict(compare(old, now)))
      })
      assert.equal(new Set(answers).size, 1)
    })
  }

  test('with a reference that names nothing is compared for all the rest', (t) => {
    const pair = names.includes('temporal-v2-2026-06-badref') ? texts('temporal-v2-2026-06-badref') : null
    if (pair === null) return t.skip(absent)
    const { groups } = compare(...pair)
    assert.ok(groups.some(({ rule }) => rule === 'response-optional-property-added'))
  })
})
