/**
 * Names of Object.prototype in every string position, keys and values, of the contracts in the cases of every rule. A comparison
 * ends in findings or in a problem, never in a fault. The findings are those of any other name.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ARTIFACT_TYPES, type ArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { readDocument } from '../../../engine/internal.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { PROTOTYPE_NAMES, replaced } from '../../fakes/name-positions.ts'
import { ruleCases } from '../../rules/cases.ts'

const FOLDERS: Readonly<Partial<Record<ArtifactType, string>>> = { mcp_manifest: 'mcp' }

/** All contracts in the cases of a format. */
function contractsOf(type: ArtifactType): readonly string[] {
  return ruleCases(FOLDERS[type] ?? type).flatMap(({ before, after }) => [before, after])
}

/** Words of a contract that is no JSON and no YAML, each once. */
function* renamed(text: string, name: string, seen: Set<string>): Generator<string> {
  for (const [word] of text.matchAll(/[A-Za-z_]\w*/g)) {
    if (seen.has(`${word} ${name}`)) continue
    seen.add(`${word} ${name}`)
    yield text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), name)
  }
}

function variantsOf(type: ArtifactType, text: string, name: string, seen: Set<string>): Iterable<string> {
  if (type === 'graphql' || type === 'protobuf') return renamed(text, name, seen)
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  // Some cases are about texts of several documents.
  if (!read.ok) return []
  return [...replaced(read.value.root, name, seen)].map((variant) => JSON.stringify(variant))
}

for (const type of ARTIFACT_TYPES)
  test(`${type}: no name of Object.prototype ends a comparison in a fault`, () => {
    const texts = contractsOf(type)
    assert.ok(texts.length > 10, 'there are cases')
    const seen = new Set<string>()
    let compared = 0
    for (const text of texts)
      for (const name of PROTOTYPE_NAMES)
        for (const variant of variantsOf(type, text, name, seen))
          for (const [before, after] of [
            [text, variant],
            [variant, text],
            [variant, variant],
          ] as const) {
            try {
              compare({ id: 'x', type, before, after }, {}, sha256Hex)
              compared += 1
            } catch (error) {
              assert.fail(`${String(error instanceof Error ? error.stack : error)}\n${before}\n---\n${after}`)
            }
          }
    assert.ok(compared > 300, `${compared} comparisons`)
  })

/** Each with a name that is like it for all else. GraphQL reserves names that begin with `__`. */
const LIKE_NAMES = [
  ['__proto__', '__prote__'],
  ['constructor', 'constructos'],
] as const

/** A contract with a name in place of a word, wherever that stands alone: as a key, a value, or a step of a reference. */
function withWord(type: ArtifactType, text: string, word: string, name: string): string {
  if (type === 'graphql' || type === 'protobuf') return text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), name)
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok)
  return JSON.stringify(withName(read.value.root))

  function withName(value: unknown): unknown {
    if (value === word) return name
    if (typeof value === 'string')
      return value.startsWith('#/')
        ? value
            .split('/')
            .map((step) => (step === word ? name : step))
            .join('/')
        : value
    if (Array.isArray(value)) return value.map(withName)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries<unknown>({ ...value }).map(([key, member]) => [key === word ? name : key, withName(member)]),
    )
  }
}

function wordsOf(type: ArtifactType, text: string): ReadonlySet<string> {
  if (type === 'graphql' || type === 'protobuf')
    return new Set([...text.matchAll(/[A-Za-z_]\w*/g)].map(([word]) => word))
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  return new Set(read.ok ? keysIn(read.value.root) : [])
}

function* keysIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries<unknown>({ ...value })) {
    if (!Array.isArray(value)) yield key
    yield* keysIn(member)
  }
}

/** Null for a problem. */
function foundIn(type: ArtifactType, before: string, after: string): string | null {
  const compared = compare({ id: 'x', type, before, after }, {}, sha256Hex)
  if (!compared.ok) return null
  const rows = compared.value.groups.map(({ rule, level, occurrences }) => `${rule} ${level} ${occurrences.length}`)
  return rows.sort().join('\n')
}

for (const type of ARTIFACT_TYPES)
  test(`${type}: a name of Object.prototype is judged like any other name`, () => {
    let compared = 0
    for (const { before, after } of ruleCases(FOLDERS[type] ?? type)) {
      if (![before, after].every((text) => wordsOf(type, text).size > 0)) continue
      for (const word of wordsOf(type, before).union(wordsOf(type, after)))
        for (const [name, like] of LIKE_NAMES) {
          if (type === 'graphql' && name.startsWith('__')) continue
          const [found, wanted] = [name, like].map((one) =>
            foundIn(type, withWord(type, before, word, one), withWord(type, after, word, one)),
          )
          if (wanted === null) continue
          compared += 1
          assert.equal(found, wanted, `${name} in place of ${word}\n${before}\n---\n${after}`)
        }
    }
    assert.ok(compared > 50, `${compared} comparisons`)
  })
