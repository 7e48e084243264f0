/**
 * Every single edit of the schema of a custom resource. An object that the API server took by the base and refuses by the head,
 * or keeps less of, is a proof. So is an object of the head that a reader of the base does not expect. A breaking
 * or dangerous change must then be reported. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv, type ValidateFunction } from 'ajv'
import { compare } from '../../../engine/formats/compare.ts'
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { Random } from '../../soundness/random.ts'
import { everyEdit } from '../edits.ts'

/** One in so many edits runs. */
const SHARE = Number(process.env['SHARE'] ?? 6)
const SEED = Number(process.env['SEED'] ?? 1)
const OBJECTS = 30

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'
const EITHER = 'x-kubernetes-int-or-string'
const TEXT = { type: 'string' }

const SPEC = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    colour: { type: 'string', enum: ['red', 'blue'] },
    name: { type: 'string', maxLength: 3, pattern: '^[a-z]' },
    share: { [EITHER]: true },
    flag: { type: 'boolean', nullable: true },
    parts: {
      type: 'array',
      maxItems: 3,
      items: { type: 'object', required: ['id'], properties: { id: TEXT, note: TEXT } },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
    free: { type: 'object', [PRESERVE]: true },
    half: { type: 'object', [PRESERVE]: true, properties: { id: { type: 'integer' } } },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
    limits: { type: 'object', properties: { cpu: TEXT } },
    either: { type: 'object', properties: { a: TEXT, b: TEXT }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    plain: { type: 'object' },
  },
}

function definition(spec: unknown): string {
  const openAPIV3Schema = { type: 'object', properties: { spec } }
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  })
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean'])

/** Whether the API server takes a schema (structural schemas), as far as the edits go. */
function isStructural(schema: unknown): schema is JsonRecord {
  if (!isRecord(schema)) return false
  const { type, properties, additionalProperties, items } = schema
  if (schema[EITHER] === true ? type !== undefined : !TYPES.has(type)) return false
  if (
    (properties !== undefined || additionalProperties !== undefined || schema[PRESERVE] !== undefined) &&
    type !== 'object'
  )
    return false
  if (properties !== undefined && additionalProperties !== undefined) return false
  if ((type === 'array') !== (items !== undefined)) return false
  const parts = [
    ...(isRecord(properties) ? Object.values(properties) : []),
    ...[additionalProperties, items].flatMap((one) => (one === undefined ? [] : [one])),
  ]
  return (properties === undefined || isRecord(properties)) && parts.every(isStructural)
}

class Server {
  readonly #schema: JsonRecord
  readonly #validate: ValidateFunction

  constructor(schema: JsonRecord) {
    this.#schema = schema
    this.#validate = new Ajv({ strict: false }).compile(plain(schema))
  }

  takes(object: unknown): boolean {
    return this.#validate(object)
  }

  /** What is stored of an object. */
  kept(object: unknown): unknown {
    return pruned(object, this.#schema)
  }
}

function plain(schema: unknown): JsonRecord {
  if (!isRecord(schema)) return {}
  const { properties, items, additionalProperties, ...rest } = schema
  return {
    ...rest,
    ...(schema[EITHER] === true && { type: ['integer', 'string'] }),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, plain(part)])),
    }),
    ...(items !== undefined && { items: plain(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: plain(additionalProperties) }),
  }
}

function pruned(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value
  const { properties, items, additionalProperties } = schema
  if (Array.isArray(value)) return value.map((item: unknown) => pruned(item, items))
  if (!isRecord(value)) return value
  const known = isRecord(properties) ? properties : {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (Object.hasOwn(known, name)) return [[name, pruned(member, known[name])]]
      if (additionalProperties !== undefined) return [[name, pruned(member, additionalProperties)]]
      return schema[PRESERVE] === true ? [[name, member]] : []
    }),
  )
}

/** Whether a part of the first value is not in the second one. */
function isLost(before: unknown, after: unknown): boolean {
  if (Array.isArray(before))
    return before.some((item, index) => isLost(item, Array.isArray(after) ? after[index] : undefined))
  if (!isRecord(before)) return after === undefined
  return !isRecord(after) || Object.entries(before).some(([name, member]) => isLost(member, after[name]))
}

function drawn(schema: unknown, random: Random): unknown {
  if (!isRecord(schema)) return 'any'
  const { type, enum: listed, nullable, properties, additionalProperties, items } = schema
  if (nullable === true && random.chance(0.2)) return null
  if (Array.isArray(listed) && listed.length > 0) return random.pick<unknown>(listed)
  if (schema[EITHER] === true) return random.pick<unknown>([7, 'a', 'b'])
  if (type === 'array') return Array.from({ length: random.below(5) }, () => drawn(items, random))
  if (type === 'object') {
    const known = isRecord(properties) ? Object.entries(properties) : []
    const { required } = schema
    const isNeeded = (name: string): boolean => Array.isArray(required) && required.includes(name)
    const members = known
      .filter(([name]) => isNeeded(name) || random.chance(0.5))
      .map(([name, part]) => [name, drawn(part, random)] as const)
    const more = additionalProperties !== undefined ? [['k', drawn(additionalProperties, random)] as const] : []
    const unknown = schema[PRESERVE] === true ? [['u', random.pick<unknown>([1, 'x', { y: 1 }])] as const] : []
    return Object.fromEntries([...members, ...more, ...unknown])
  }
  if (type === 'boolean') return random.chance(0.5)
  if (type === 'string') return random.pick(['a', 'abc', 'abcdef', '7', 'red', 'redx'])
  return type === 'number' ? random.pick([1.5, 2]) : random.pick([0, 1, 2, 9, 10])
}

function proofOf(base: JsonRecord, head: JsonRecord, random: Random): string | null {
  const [before, after] = [new Server(base), new Server(head)]
  for (let count = 0; count < OBJECTS; count += 1) {
    const sent = drawn(base, random)
    if (before.takes(sent)) {
      if (!after.takes(sent)) return `refused: ${JSON.stringify(sent)}`
      if (isLost(before.kept(sent), after.kept(sent))) return `lost of: ${JSON.stringify(sent)}`
    }
    const stored = drawn(head, random)
    if (after.takes(stored) && !before.takes(before.kept(after.kept(stored)))) return `read: ${JSON.stringify(stored)}`
  }
  return null
}

function found(head: unknown): readonly string[] {
  const result = compare({ id: 'r', type: 'k8s_crd', before: definition(SPEC), after: definition(head) }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`)
}

test('an edit by which objects are refused, lost or read otherwise is not information', (t) => {
  const counts = { edits: 0, proofs: 0 }
  const missed: string[] = []
  let index = SEED
  for (const { what, document } of everyEdit(SPEC, {
    properties: { more: { type: 'integer', nullable: true, default: 3 } },
  })) {
    index += 1
    if (index % SHARE !== 0 || !isStructural(document)) continue
    counts.edits += 1
    let proof: string | null
    try {
      proof = proofOf(SPEC, document, new Random(SEED, index))
    } catch {
      // Keywords of a wrong type, which the API server refuses.
      continue
    }
    if (proof === null) continue
    counts.proofs += 1
    const findings = found(document)
    if (findings.every((finding) => finding.startsWith('info'))) missed.push([what, proof, ...findings].join('\n  '))
  }
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${counts.proofs} are missed`)
  assert.ok(counts.proofs > counts.edits / 5, JSON.stringify(counts))
})

test('another order of values, lists and alternatives is no change', () => {
  for (const { what, document } of everyEdit(SPEC))
    if (what.startsWith('moved')) assert.deepEqual(found(document), [], what)
})
