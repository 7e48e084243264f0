/**
 * Every single edit of the tools of an agent, in the form of each provider. Arguments that ajv admits by the base and refuses by the
 * head are a proof, and so is a tool that is gone. A breaking or dangerous change must then be reported.
 * The order of tools and members changes nothing. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'
import { checkEdits, foundBetween } from '../edit-run.ts'
import { everyEdit } from '../edits.ts'

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['city', 'days'],
  properties: {
    city: { type: 'string', description: 'where', minLength: 1, maxLength: 9 },
    days: { type: 'integer', minimum: 1, maximum: 9 },
    unit: { type: 'string', enum: ['c', 'f'] },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, minItems: 1, maxItems: 2 },
    at: { anyOf: [{ type: 'number' }, { type: 'object', required: ['x'], properties: { x: { type: 'number' } } }] },
  },
}
const SHARED = { ...SCHEMA, properties: { ...SCHEMA.properties, near: { $ref: '#/$defs/place' } } }
const WITH_REFERENCE = {
  ...SHARED,
  $defs: { place: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } },
}
const FREE = { type: 'object', properties: { note: { type: ['string', 'null'] } } }

const ARGUMENTS = [
  { city: 'Rome', days: 3, unit: 'c', tags: ['a', 'b'], at: { x: 1.5 } },
  { city: 'Rome', days: 9, unit: 'f', tags: ['a'], at: 2.5, near: { id: 'q' } },
  { note: 'a' },
  { note: null, more: [1] },
]

interface Provider {
  readonly base: unknown
  /** Tools by name; null: the document is none of the provider's. */
  readonly toolsOf: (document: unknown) => ReadonlyMap<string, unknown> | null
}

type Read = (tool: JsonRecord) => readonly [name: unknown, schema: unknown]

/** A document that lists tools, each of them read by itself. */
function listed(read: Read): Provider['toolsOf'] {
  return (document) => {
    if (!Array.isArray(document) || !document.every(isRecord)) return null
    const tools = document.map(read)
    return tools.every((tool): tool is [string, unknown] => typeof tool[0] === 'string') ? new Map(tools) : null
  }
}

const memberOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)

/** Types in capitals, as Gemini has them. */
function capitals(value: unknown, change: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => capitals(item, change))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'type' && typeof member === 'string' ? change(member) : capitals(member, change),
    ]),
  )
}
const ofGemini = (schema: object): unknown => capitals(schema, (type) => type.toUpperCase())

const GEMINI_FREE = { type: 'object', properties: { note: { type: 'string' } } }

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'OpenAI chat completions': {
    base: [
      {
        type: 'function',
        function: { name: 'weather', description: 'Tells the weather.', parameters: WITH_REFERENCE, strict: false },
      },
      { type: 'function', function: { name: 'note', description: 'Keeps a note.', parameters: FREE } },
    ],
    toolsOf: listed(({ function: callable }) => [memberOf(callable, 'name'), memberOf(callable, 'parameters')]),
  },
  'OpenAI responses': {
    base: [
      {
        type: 'function',
        name: 'weather',
        description: 'Tells the weather.',
        parameters: WITH_REFERENCE,
        strict: false,
      },
      { type: 'function', name: 'note', description: 'Keeps a note.', parameters: FREE, strict: false },
    ],
    toolsOf: listed(({ name, parameters }) => [name, parameters]),
  },
  Anthropic: {
    base: [
      { name: 'weather', description: 'Tells the weather.', input_schema: WITH_REFERENCE },
      { name: 'note', description: 'Keeps a note.', input_schema: FREE },
    ],
    toolsOf: listed(({ name, input_schema: schema }) => [name, schema]),
  },
  Gemini: {
    base: [
      {
        functionDeclarations: [
          { name: 'weather', description: 'Tells the weather.', parameters: ofGemini(SCHEMA) },
          { name: 'note', description: 'Keeps a note.', parameters: ofGemini(GEMINI_FREE) },
        ],
      },
    ],
    toolsOf: (document) => {
      const declared = Array.isArray(document) ? memberOf(document[0], 'functionDeclarations') : undefined
      return listed(({ name, parameters }) => [name, capitals(parameters, (type) => type.toLowerCase())])(declared)
    },
  },
  'Amazon Bedrock': {
    base: [
      { toolSpec: { name: 'weather', description: 'Tells the weather.', inputSchema: { json: WITH_REFERENCE } } },
      { toolSpec: { name: 'note', description: 'Keeps a note.', inputSchema: { json: FREE } } },
    ],
    toolsOf: listed(({ toolSpec }) => [
      memberOf(toolSpec, 'name'),
      memberOf(memberOf(toolSpec, 'inputSchema'), 'json'),
    ]),
  },
  Vercel: {
    base: {
      weather: { description: 'Tells the weather.', inputSchema: WITH_REFERENCE },
      note: { description: 'Keeps a note.', inputSchema: FREE },
    },
    toolsOf: (document) =>
      isRecord(document)
        ? new Map(Object.entries(document).map(([name, tool]) => [name, memberOf(tool, 'inputSchema')]))
        : null,
  },
}

type Admits = (value: unknown) => boolean

/** Null: ajv compiles no such schema. Without a schema, a tool takes no arguments. */
function admitsOf(schema: unknown): Admits | null {
  if (schema === undefined || schema === null) return (value) => isRecord(value) && Object.keys(value).length === 0
  if (!isRecord(schema)) return null
  try {
    return new Ajv2020({ strict: false, logger: false }).compile(schema)
  } catch {
    return null
  }
}

const VALUES: readonly unknown[] = [
  ...ARGUMENTS,
  ...ARGUMENTS.flatMap((value) => [...everyEdit(value, ARGUMENTS)].map(({ document }) => document)),
]

/** Whether a value has described names only. Callers do not send others, though an open schema admits them. */
function isDescribed(value: unknown, schema: unknown): boolean {
  const properties = memberOf(schema, 'properties')
  return (
    !isRecord(value) || !isRecord(properties) || Object.keys(value).every((name) => Object.hasOwn(properties, name))
  )
}

/** What the base took and the head does not; null: nothing is proved. */
function proofOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string | null {
  for (const [name, schema] of before) {
    if (!after.has(name)) return `${name} is gone`
    const head = after.get(name)
    if (JSON.stringify(schema) === JSON.stringify(head)) continue
    const [admitted, admits] = [admitsOf(schema), admitsOf(head)]
    const lost =
      admits === null
        ? undefined
        : VALUES.find((value) => isDescribed(value, schema) && admitted?.(value) === true && !admits(value))
    if (lost !== undefined) return `${name} refuses ${JSON.stringify(lost)}`
  }
  return null
}

for (const [name, { base, toolsOf }] of Object.entries(PROVIDERS))
  suite(name, () => {
    test('an edit by which a tool refuses arguments is not information', (t) => {
      const before = toolsOf(base)
      assert.ok(before !== null)
      checkEdits(t, {
        type: 'agent_tools',
        base: base,
        edits: everyEdit(base),
        share: 4,
        proofOf: (document) => {
          const after = toolsOf(document)
          return after === null ? null : proofOf(before, after)
        },
      })
    })

    test('another order of lists is no change', () => {
      for (const { what, document } of everyEdit(base))
        if (what.startsWith('moved')) assert.deepEqual(foundBetween('agent_tools', base, document), [], what)
    })
  })
