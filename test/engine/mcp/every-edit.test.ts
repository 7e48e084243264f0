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
import { checkEdits, foundBetween } from '../edit-run.ts'
import { everyEdit } from '../edits.ts'

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

test('an edit by which a client refuses a list is not information', (t) => {
  assert.equal(refusal(BASE), null)
  checkEdits(t, {
    type: 'mcp_manifest',
    base: BASE,
    edits: everyEdit(BASE, { added: { name: 'x', inputSchema: {} } }),
    share: 4,
    proofOf: refusal,
  })
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
      foundBetween('mcp_manifest', BASE, head)?.some((finding) => finding.startsWith('dangerous mcp-part-malformed')),
      JSON.stringify(foundBetween('mcp_manifest', BASE, head)),
    )
  }
})

test('another order of lists is no change', () => {
  for (const { what, document } of everyEdit(BASE)) {
    if (!what.startsWith('moved')) continue
    // Icons are shown in their order.
    assert.deepEqual(foundBetween('mcp_manifest', BASE, document), [], what)
  }
})
