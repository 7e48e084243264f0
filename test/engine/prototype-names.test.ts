/**
 * Names of Object.prototype in every string position, keys and values, of the contracts of all formats: a comparison ends in
 * findings or in a problem, never in a fault. The contracts are those of the cases of every rule.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ARTIFACT_TYPES, type ArtifactType } from '../../engine/change-set.ts'
import { compare } from '../../engine/compare.ts'
import { readDocument } from '../../engine/index.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../engine/contracts/limits.ts'
import { sha256Hex } from '../../gateway/hash.ts'
import { ruleCases } from '../rules/cases.ts'

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'isPrototypeOf']

const FOLDERS: Readonly<Partial<Record<ArtifactType, string>>> = { mcp_manifest: 'mcp' }

/** All contracts in the cases of a format. */
function contractsOf(type: ArtifactType): readonly string[] {
  return ruleCases(FOLDERS[type] ?? type).flatMap(({ before, after }) => [before, after])
}

/** One more text for each string of the document: that key, or that value, is the name. */
function* replaced(root: unknown, name: string, seen: Set<string>): Generator {
  for (const { path, isKey } of positions(root, [])) {
    const place = `${isKey ? 'key' : 'value'} ${path
      .filter((step) => typeof step === 'string')
      .slice(-2)
      .join('/')} ${name}`
    if (seen.has(place)) continue
    seen.add(place)
    yield withName(root, path, isKey, name)
  }
}

type Path = readonly (string | number)[]

function* positions(value: unknown, path: Path): Generator<{ readonly path: Path; readonly isKey: boolean }> {
  if (typeof value === 'string') yield { path, isKey: false }
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* positions(item, [...path, index])
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      yield { path: [...path, key], isKey: true }
      yield* positions(item, [...path, key])
    }
}

function withName(value: unknown, path: Path, isKey: boolean, name: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return name
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? withName(item, rest, isKey, name) : item))
  const entries = Object.entries(Object(value)).map(([key, item]): [string, unknown] => {
    if (key !== step) return [key, item]
    return rest.length === 0 && isKey ? [name, item] : [key, withName(item, rest, isKey, name)]
  })
  // Object.fromEntries defines members, so `__proto__` is one.
  return Object.fromEntries(entries)
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
      for (const name of NAMES)
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
