/**
 * Every single edit of what an MCP server offers. A result that the client of the SDK reads by the base and refuses by the head is
 * a proof: it refuses the whole list for one part. A breaking or dangerous change must then be reported.
 * The order of lists and members, and a written default, change nothing. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  InitializeResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { everyEdit } from '../edits.ts'

/** One in so many edits runs. */
const SHARE = Number(process.env['SHARE'] ?? 4)
const SEED = Number(process.env['SEED'] ?? 1)

const ICON = { src: 'https://x.example/a.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' }
const ANNOTATIONS = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
const ITEM = { title: 'Title', description: 'Words', icons: [ICON], _meta: { a: 1 } }
const INPUT = {
  type: 'object',
  description: 'What to find',
  required: ['q'],
  additionalProperties: false,
  properties: {
    q: { type: 'string', description: 'the text', maxLength: 9 },
    k: { type: 'string', enum: ['a', 'b'] },
    o: { $ref: '#/$defs/o' },
  },
  $defs: { o: { type: 'object', properties: { z: { type: 'integer', title: 'Zed', default: 3 } } } },
}
const OUTPUT = {
  type: 'object',
  required: ['hits'],
  properties: { hits: { type: 'array', items: { type: 'string' } } },
}

const BASE = {
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'notes', version: '1.0.0', websiteUrl: 'https://x.example', ...ITEM },
  instructions: 'Use search first.',
  capabilities: {
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    experimental: { search: { mode: 'a' } },
  },
  tools: [
    {
      name: 'search',
      ...ITEM,
      annotations: {
        title: 'S',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      execution: { taskSupport: 'optional' },
      inputSchema: INPUT,
      outputSchema: OUTPUT,
    },
    { name: 'drop', annotations: { destructiveHint: true }, inputSchema: { type: 'object' } },
  ],
  prompts: [
    {
      name: 'ask',
      ...ITEM,
      arguments: [{ name: 'topic', title: 'T', description: 'what', required: true }, { name: 'tone' }],
    },
    { name: 'hello' },
  ],
  resources: [
    { uri: 'file:///a', name: 'a', ...ITEM, mimeType: 'text/plain', size: 3, annotations: ANNOTATIONS },
    { uri: 'file:///b', name: 'b' },
  ],
  resourceTemplates: [
    { uriTemplate: 'file:///{path}', name: 'files', ...ITEM, mimeType: 'text/plain', annotations: ANNOTATIONS },
  ],
}

const RESULTS = [
  InitializeResultSchema,
  ListToolsResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
]

/** Why the client refuses a result; null: it reads all. */
function refusal(document: unknown): string | null {
  for (const result of RESULTS) {
    const { error } = result.safeParse(document)
    const [issue] = error?.issues ?? []
    if (issue !== undefined) return `${issue.path.join('/')}: ${issue.message}`
  }
  return null
}

/** Null: the gateway refuses the manifest. */
function found(document: unknown): readonly string[] | null {
  const [before, after] = [BASE, document].map((side) => JSON.stringify(side))
  const result = compare({ id: 'm', type: 'mcp_manifest', before: before ?? '', after: after ?? '' }, {}, sha256Hex)
  return result.ok ? result.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`) : null
}

test('an edit by which a client refuses a list is not information', (t) => {
  assert.equal(refusal(BASE), null)
  const counts = { edits: 0, proofs: 0 }
  const missed: string[] = []
  let index = SEED
  for (const { what, document } of everyEdit(BASE, { added: { name: 'x', inputSchema: {} } })) {
    index += 1
    if (index % SHARE !== 0) continue
    counts.edits += 1
    const proof = refusal(document)
    if (proof === null) continue
    counts.proofs += 1
    const findings = found(document)
    if (findings?.every((finding) => finding.startsWith('info')) === true)
      missed.push([what, proof, ...findings].join('\n  '))
  }
  t.diagnostic(JSON.stringify(counts))
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${counts.proofs} are missed`)
  assert.ok(counts.proofs > counts.edits / 10, JSON.stringify(counts))
})

test('an item that a client refuses is not information where it is new either', () => {
  const heads = [
    { ...BASE, tools: [...BASE.tools, { name: 'x', inputSchema: {} }] },
    { ...BASE, tools: [...BASE.tools, { name: 'x', inputSchema: INPUT, annotations: { readOnlyHint: 'yes' } }] },
    { ...BASE, tools: [...BASE.tools, { name: 'x', inputSchema: INPUT, outputSchema: { type: 'array' } }] },
    { ...BASE, prompts: [...BASE.prompts, { name: 'x', arguments: [{ title: 'no name' }] }] },
    { ...BASE, resources: [...BASE.resources, { uri: 'file:///x' }] },
    { ...BASE, resourceTemplates: [...BASE.resourceTemplates, { uriTemplate: 'x:{y}', name: 7 }] },
  ]
  for (const head of heads) {
    assert.notEqual(refusal(head), null)
    assert.ok(
      found(head)?.some((finding) => finding.startsWith('dangerous mcp-part-malformed')),
      JSON.stringify(found(head)),
    )
  }
})

test('another order of lists is no change', () => {
  for (const { what, document } of everyEdit(BASE)) {
    if (!what.startsWith('moved')) continue
    // Icons are shown in their order.
    assert.deepEqual(found(document), [], what)
  }
})
