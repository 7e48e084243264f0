/** Real contracts in another order: lists whose order means nothing, and the keys of the three largest pairs. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { suite, test } from 'node:test'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/contracts/limits.ts'
import { compareOpenApi, type OpenApiComparison } from '../../../engine/diff/openapi/compare.ts'
import { isRecord } from '../../../engine/schema/located.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { shuffledKeys } from '../../shuffle.ts'

const CORPUS = new URL('../../../../shared/corpus/openapi/', import.meta.url)
const absent = 'the corpus lies beside the checkout and is absent'
const names = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => !name.includes('.')) : []

/** Lists that say the same in any order (OpenAPI; JSON Schema validation §6.1.2, §6.5.3). */
const UNORDERED: ReadonlySet<string> = new Set(['parameters', 'required', 'enum', 'tags'])

/** Members that hold values of the API, not the contract: order counts in them, whatever they are called. */
const VALUES: ReadonlySet<string> = new Set(['default', 'example', 'examples', 'const', 'value'])

function fileOf(name: string, side: 'before' | 'after'): URL {
  const file = ['json', 'yaml'].map((ending) => new URL(`${name}/${side}.${ending}`, CORPUS)).find(existsSync)
  assert.ok(file, `${name} has no ${side}`)
  return file
}

function bytesOf(name: string): number {
  return statSync(fileOf(name, 'after')).size
}

function valueOf(file: URL): unknown {
  const read = readDocument(readFileSync(file, 'utf8'), DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok)
  return read.value.root
}

/** The same contract with its unordered lists the other way round, and how many lists that moved. */
function reordered(root: unknown): { readonly value: unknown; readonly moved: number } {
  let moved = 0
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        // A property may be called `default`; then a schema stands there, and is left as it is too.
        if (VALUES.has(name) || name.startsWith('x-')) return [name, member]
        const inside = visit(member)
        if (!UNORDERED.has(name) || !Array.isArray(inside) || inside.length < 2) return [name, inside]
        moved += 1
        return [name, inside.toReversed()]
      }),
    )
  }
  return { value: visit(root), moved }
}

function compare(before: string, after: string): OpenApiComparison {
  const compared = compareOpenApi(before, after, { today: '2026-11-21' }, sha256)
  assert.ok(compared.ok)
  return compared.value
}

/** What does not depend on where things stand in the text, as bytes. */
function verdictText({ groups, stats, spec_versions }: OpenApiComparison): string {
  return JSON.stringify({
    groups: groups.map((group) => ({ ...group, line: null, column: null })),
    stats,
    spec_versions,
  })
}

suite('a real contract', () => {
  test('is there to be put in another order', (t) => {
    if (names.length === 0) return t.skip(absent)
    assert.ok(names.length >= 20)
  })

  for (const name of names) {
    test(`${name}: parameters, required members, enums and tags in another order are no change`, () => {
      const root = valueOf(fileOf(name, 'after'))
      const other = reordered(root)
      assert.ok(other.moved > 0)
      const { groups } = compare(JSON.stringify(root), JSON.stringify(other.value))
      assert.deepEqual(
        groups.map(({ rule, location }) => `${rule} ${location}`),
        [],
      )
    })
  }

  const largest = names.toSorted((a, b) => bytesOf(b) - bytesOf(a)).slice(0, 3)
  for (const name of largest) {
    test(`${name}: ten shuffles of its keys give one answer, byte for byte`, () => {
      const [before, after] = [valueOf(fileOf(name, 'before')), valueOf(fileOf(name, 'after'))]
      const answers = new Set<string>()
      for (let seed = 1; seed <= 10; seed += 1) {
        const old = JSON.stringify(shuffledKeys(before, seed))
        const now = JSON.stringify(shuffledKeys(after, seed + 100))
        answers.add(sha256(verdictText(compare(old, now))))
      }
      assert.equal(answers.size, 1)
    })
  }
})
