/**
 * Names of Object.prototype in every string position, keys and values, of the contracts of all formats: a comparison ends in
 * findings or in a problem, never in a fault. The contracts are those of the cases of every rule.
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
