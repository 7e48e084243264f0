/**
 * Every part of the contracts in the cases of all rules gets a value of another JSON type. The change is reported, or the contract
 * is refused. Parts that no rule reads are listed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDocument } from '../../../engine/internal.ts'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { ruleCases } from '../../rules/cases.ts'

const FORMATS: readonly (readonly [type: ArtifactType, folder: string])[] = [
  ['openapi', 'openapi'],
  ['asyncapi', 'asyncapi'],
  ['mcp_manifest', 'mcp'],
  ['agent_tools', 'agent_tools'],
  ['json_schema', 'json_schema'],
  ['k8s_crd', 'k8s_crd'],
]

/** Two values of each JSON type; an object and a list that are of no use to any part. */
const VALUES = { text: ['x', 'y'], number: [5, 6], flag: [true, false], list: [[1], [2]], object: [{ q: 1 }, { q: 2 }] }

/** Parts that are no promise, or whose value may have any type. */
const FREE: readonly RegExp[] = [
  // For people.
  /\/(?:title|description|summary|message|info|lastModified|websiteUrl|category)$/,
  /\/info\/version$/,
  /\/scopes\/(?:read|write)$/,
  /\/icons\/\d+\/mimeType$/,
  // Of any type.
  /\/(?:const|default|examples?)$/,
  /\/enum\/\d+$/,
  // Names that the author chose, and settings that only operators read.
  /\/_meta\/.+\/shelf$|\/cost$/,
  /\/kafka\/replicas$/,
  // A limit that is an object was no limit before.
  /\/(?:retention\.ms|ttl)$/,
]

/** A boolean is a schema too, and marks a bound as exclusive. */
const SCHEMA =
  /\/(?:schema|items|payload|contains|contentSchema|propertyNames|if|then|else|not|(?:output|input)Schema|parameters|(?:additional|unevaluated)(?:Properties|Items)|exclusive(?:Max|Min)imum|(?:properties|patternProperties|\$defs|definitions|schemas|dependentSchemas|(?:all|any|one)Of|prefixItems)\/[^/]+)$/

type Path = readonly string[]

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, held] of Object.entries(value)) yield* pathsIn(held, [...path, name])
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === step ? replaced(item, rest, by) : item))
  const entries = Object.entries(Object(value))
  return Object.fromEntries(entries.map(([name, held]) => [name, name === step ? replaced(held, rest, by) : held]))
}

function typeOf(value: unknown): keyof typeof VALUES {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'flag'
  return typeof value === 'number' ? 'number' : 'object'
}

function isSilent(type: ArtifactType, before: unknown, after: unknown): boolean {
  const sides = { before: JSON.stringify(before), after: JSON.stringify(after) }
  const result = compare({ id: 'x', type, ...sides }, {}, sha256Hex)
  return result.ok && result.value.groups.every(({ level }) => level === 'info')
}

function silentIn(type: ArtifactType, root: unknown, seen: Set<string>): readonly string[] {
  return [...pathsIn(root)].flatMap((path) => {
    const pointer = `/${path.join('/')}`
    const value = path.reduce<unknown>((held, step) => Object(held)[step], root)
    const known = `${pointer} ${typeOf(value)}`
    if (seen.has(known) || value === null || FREE.some((pattern) => pattern.test(pointer))) return []
    seen.add(known)
    return Object.entries(VALUES).flatMap(([other, [one, another]]) => {
      if (other === typeOf(value) || (other === 'flag' && SCHEMA.test(pointer))) return []
      const [malformed, changed] = [replaced(root, path, one), replaced(root, path, another)]
      const sides = { becomes: [root, malformed], ceases: [malformed, root], differs: [malformed, changed] } as const
      return Object.entries(sides).flatMap(([what, [before, after]]) => {
        // Two objects without keywords are the same schema.
        if (what === 'differs' && other === 'object' && SCHEMA.test(pointer)) return []
        return isSilent(type, before, after) ? [`${pointer}: ${other} that ${what}`] : []
      })
    })
  })
}

for (const [type, folder] of FORMATS)
  test(`${type}: no part changes its JSON type in silence`, () => {
    const seen = new Set<string>()
    const silent = ruleCases(folder).flatMap(({ before, after }) =>
      [before, after].flatMap((text) => {
        const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
        // Some cases are about texts of several documents.
        return read.ok ? silentIn(type, read.value.root, seen) : []
      }),
    )
    assert.ok(seen.size > 10, 'there are parts')
    assert.deepEqual(silent, [])
  })
