/** Public vectors: every valid JSON text is read as JSON.parse reads it, every invalid one is refused with a place; YAML likewise. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAllDocuments, parse } from 'yaml'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { digestJson } from '../../../engine/common/hash.ts'
import { at, listAt, textAt } from '../../json.ts'

const VECTORS = new URL('../../../../shared/vectors/', import.meta.url)
const absent = existsSync(VECTORS) ? false : 'the folder ../shared is absent'

/** Valid JSON in which a member is written twice: two readings, so we refuse it. */
const TWO_READINGS = new Set(['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'])

/** Invalid JSON that is a YAML flow mapping with bare keys, which nobody takes for JSON. */
const PLAINLY_YAML = new Set(['n_object_unquoted_key.json', 'n_object_key_with_single_quotes.json'])

test('JSONTestSuite: y_ is read, n_ is refused with a message, nothing crashes', { skip: absent }, () => {
  const folder = new URL('json-test-suite/test_parsing/', VECTORS)
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(encodeURIComponent(name), folder), 'utf8')
    const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
    if (name.startsWith('y_') && !TWO_READINGS.has(name)) {
      assert.ok(read.ok, name)
      assert.deepEqual(read.value.root, JSON.parse(text), name)
    }
    if (name.startsWith('n_') && !PLAINLY_YAML.has(name)) assert.ok(!read.ok, `${name} is read`)
    if (!read.ok) assert.match(read.problem.message, /^The document .+: .+\.$/s, name)
  }
})

test(
  'JSONTestSuite: transforms with repeated members are refused, what is read has a canonical form',
  { skip: absent },
  () => {
    const folder = new URL('json-test-suite/test_transform/', VECTORS)
    for (const name of readdirSync(folder)) {
      const read = readDocument(
        readFileSync(new URL(encodeURIComponent(name), folder), 'utf8'),
        DEFAULT_DOCUMENT_LIMITS,
      )
      if (name.startsWith('object_same_key')) assert.ok(!read.ok, `${name} is read`)
      if (read.ok)
        assert.match(
          digestJson(read.value.root, () => name),
          /^sha256:/,
        )
    }
  },
)

const SPELLINGS: readonly [RegExp, string][] = [
  [/␣/g, ' '],
  [/—*»/g, '\t'],
  [/←/g, '\r'],
  [/⇔/g, '\uFEFF'],
  [/↵/g, ''],
  [/∎\n$/, ''],
]

interface YamlCase {
  readonly id: string
  readonly text: string
  readonly fails: boolean
}

function casesOf(file: string): readonly YamlCase[] {
  const rows: unknown = parse(readFileSync(new URL(`yaml-test-suite/${file}`, VECTORS), 'utf8'))
  return listAt(rows).map((row, index) => {
    const text = SPELLINGS.reduce((sum, [spelling, unit]) => sum.replace(spelling, unit), textAt(row, 'yaml'))
    return { id: `${file.slice(0, 4)}/${index}`, text, fails: at(row, 'fail') === true }
  })
}

test('yaml-test-suite: what must fail is refused; what is read, a second parser reads alike', { skip: absent }, () => {
  const accepted: string[] = []
  const disagreements: string[] = []
  for (const file of readdirSync(new URL('yaml-test-suite/', VECTORS))) {
    for (const { id, text, fails } of casesOf(file)) {
      const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
      if (!read.ok) continue
      if (fails) accepted.push(id)
      else if (JSON.stringify(read.value.root) !== secondReading(text)) disagreements.push(id)
    }
  }
  assert.deepEqual(accepted, [])
  assert.deepEqual(disagreements, [])
})

function secondReading(text: string): string {
  const [document] = parseAllDocuments(text, { merge: true, logLevel: 'silent' })
  assert.ok(document && document.errors.length === 0)
  return JSON.stringify(document.toJS())
}
