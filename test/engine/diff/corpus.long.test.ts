/** Real contracts, consecutive versions: what must hold of every comparison, whatever the contract. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { compareOpenApi, type OpenApiComparison } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { shuffledKeys } from '../../shuffle.ts'

const CORPUS = new URL('../../../../shared/corpus/openapi/', import.meta.url)
const absent = 'the corpus lies beside the checkout and is absent'

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
      const other = JSON.stringify(shuffledKeys(valueOf(after), 7))
      assert.deepEqual(compare(after, other).groups, [])
    })
  }

  test('with a reference that names nothing is compared for all the rest', (t) => {
    const pair = names.includes('temporal-v2-2026-06-badref') ? texts('temporal-v2-2026-06-badref') : null
    if (pair === null) return t.skip(absent)
    const { groups } = compare(...pair)
    assert.ok(groups.some(({ rule }) => rule === 'response-optional-property-added'))
  })
})
