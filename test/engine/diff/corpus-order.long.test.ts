/** Real contracts in other orders: lists whose order means nothing, and every member of every object, definitions included. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse, print } from 'graphql'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { compare, type ArtifactType } from '../../../engine/internal.ts'
import { isRecord } from '../../../engine/schema/located.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { generator, shuffledKeys } from '../../shuffle.ts'

const CORPUS = new URL('../../../../shared/corpus/', import.meta.url)
const absent = 'the corpus lies beside the checkout and is absent'

/** What one side of a pair may be called, by its folder. */
const FORMATS: readonly {
  readonly folder: string
  readonly type: ArtifactType
  readonly endings: readonly string[]
}[] = [
  { folder: 'openapi', type: 'openapi', endings: ['json', 'yaml'] },
  { folder: 'asyncapi', type: 'asyncapi', endings: ['json', 'yaml', 'yml'] },
  { folder: 'mcp', type: 'mcp_manifest', endings: ['json'] },
  { folder: 'graphql', type: 'graphql', endings: ['graphql'] },
]

/** Lists that say the same in any order (OpenAPI; JSON Schema validation §6.1.2, §6.5.3). */
const UNORDERED: ReadonlySet<string> = new Set(['parameters', 'required', 'enum', 'tags'])

/** Members that hold values of the API, not the contract: order counts in them, whatever they are called. */
const VALUES: ReadonlySet<string> = new Set(['default', 'example', 'examples', 'const', 'value'])

const SHUFFLES = 5
/** Of pairs that are larger than this many characters. */
const SHUFFLES_OF_LARGE = 2
const LARGE = 2_000_000

function namesIn(folder: string): readonly string[] {
  const place = new URL(`${folder}/`, CORPUS)
  return existsSync(place) ? readdirSync(place).filter((name) => !name.includes('.json')) : []
}

function textOf(folder: string, name: string, side: 'before' | 'after'): string {
  const { endings } = FORMATS.find((format) => format.folder === folder) ?? { endings: [] }
  const file = endings
    .map((ending) => new URL(`${folder}/${name}/${side}.${ending}`, CORPUS))
    .find((one) => existsSync(one))
  assert.ok(file, `${name} has no ${side}`)
  return readFileSync(file, 'utf8')
}

function valueOf(text: string): unknown {
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
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
        // A property may be named `default`. Its value is a schema, which stays as it is too.
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

/** Members in the order of their names, or in the opposite one: what a sorted or an appended document looks like. */
function sorted(value: unknown, direction: 1 | -1): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item, direction))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -direction : direction))
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member, direction)]))
}

/** Digest of what does not depend on where things stand in the text. */
function answerOf(type: ArtifactType, before: string, after: string): string {
  const compared = compare({ id: 'contract', type, before, after }, { today: '2026-11-21' }, sha256)
  // What is refused is refused in each order, for the same reason.
  if (!compared.ok) return compared.problem.code
  const { groups, ...rest } = compared.value
  return sha256(JSON.stringify([groups.map((group) => ({ ...group, line: null, column: null })), rest]))
}

/** A text in many orders: as it is, sorted both ways, and shuffled. */
function* ordersOf(type: ArtifactType, text: string, shuffles: number, seed: number): Generator<string> {
  if (type === 'graphql') {
    yield text
    yield print({ ...parse(text), definitions: parse(text).definitions.toReversed() })
    for (let shuffle = 1; shuffle <= shuffles; shuffle += 1) yield shuffledDefinitions(text, seed + shuffle)
    return
  }
  const value = valueOf(text)
  yield JSON.stringify(value)
  yield JSON.stringify(sorted(value, 1))
  yield JSON.stringify(sorted(value, -1))
  for (let shuffle = 1; shuffle <= shuffles; shuffle += 1) yield JSON.stringify(shuffledKeys(value, seed + shuffle))
}

function shuffledDefinitions(text: string, seed: number): string {
  const next = generator(seed)
  const document = parse(text)
  const keyed = document.definitions.map((definition) => ({ definition, key: next() }))
  return print({
    ...document,
    definitions: keyed.toSorted((a, b) => a.key - b.key).map(({ definition }) => definition),
  })
}

suite('a real contract', () => {
  test('is there to be put in another order', (t) => {
    if (namesIn('openapi').length === 0) return t.skip(absent)
    for (const { folder } of FORMATS) assert.ok(namesIn(folder).length >= 6, folder)
  })

  for (const name of namesIn('openapi')) {
    test(`${name}: parameters, required members, enums and tags in another order are no change`, () => {
      const root = valueOf(textOf('openapi', name, 'after'))
      const other = reordered(root)
      assert.ok(other.moved > 0)
      const compared = compare(
        { id: 'contract', type: 'openapi', before: JSON.stringify(root), after: JSON.stringify(other.value) },
        { today: '2026-11-21' },
        sha256,
      )
      assert.ok(compared.ok)
      assert.deepEqual(
        compared.value.groups.map(({ rule, location }) => `${rule} ${location}`),
        [],
      )
    })
  }
})

for (const { folder, type } of FORMATS) {
  suite(`a real contract in ${folder}`, () => {
    for (const name of namesIn(folder)) {
      test(`${name}: every order of its members gives one answer, byte for byte`, () => {
        const [before, after] = [textOf(folder, name, 'before'), textOf(folder, name, 'after')]
        const shuffles = before.length + after.length > LARGE ? SHUFFLES_OF_LARGE : SHUFFLES
        const others = ordersOf(type, after, shuffles, 1000)
        const answers = new Set<string>()
        let count = 0
        for (const base of ordersOf(type, before, shuffles, 1)) {
          const head = others.next()
          assert.ok(head.done !== true)
          answers.add(answerOf(type, base, head.value))
          count += 1
        }
        assert.ok(count >= 4)
        assert.equal(answers.size, 1)
      })
    }
  })
}
