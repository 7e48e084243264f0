/** Published MCP servers behind the gateway, spoken to by official clients: everything is as without it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { startAgent } from '../../fakes/agent.ts'
import { startEverythingServer } from '../../fakes/everything-server.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startStdioServer } from '../../fakes/stdio-bridge.ts'

interface Published {
  readonly start: (t: TestContext, folder: string) => Promise<string>
  /** Calls whose answers are the same each time, in order. */
  readonly calls: (folder: string) => readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[]
}

const SERVERS: Readonly<Record<string, Published>> = {
  'server-everything': {
    start: (t) => startEverythingServer(t),
    calls: () => [
      ['echo', { message: 'hello' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-annotated-message', { messageType: 'error' }],
      ['get-tiny-image', {}],
    ],
  },
  'server-filesystem': {
    start: (t, folder) => startStdioServer(t, '@modelcontextprotocol/server-filesystem/dist/index.js', [folder]),
    calls: (place) => [
      ['list_directory', { path: place }],
      ['read_text_file', { path: join(place, 'notes.txt') }],
      ['write_file', { path: join(place, 'more.txt'), content: 'more' }],
      ['search_files', { path: place, pattern: '*.txt' }],
      ['read_text_file', { path: join(place, 'absent.txt') }],
    ],
  },
  'server-sequential-thinking': {
    start: (t) => startStdioServer(t, '@modelcontextprotocol/server-sequential-thinking/dist/index.js', []),
    calls: () => [
      ['sequentialthinking', { thought: 'It judges.', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true }],
      [
        'sequentialthinking',
        { thought: 'Then it decides.', thoughtNumber: 2, totalThoughts: 2, nextThoughtNeeded: false },
      ],
    ],
  },
  'server-memory': {
    start: (t, folder) =>
      startStdioServer(t, '@modelcontextprotocol/server-memory/dist/index.js', [], {
        MEMORY_FILE_PATH: join(folder, `memory-${randomUUID()}.jsonl`),
      }),
    calls: () => [
      ['create_entities', { entities: [{ name: 'gateway', entityType: 'program', observations: ['it judges'] }] }],
      ['search_nodes', { query: 'judges' }],
      ['read_graph', {}],
    ],
  },
}

/** All that a client can see of the server, and what its calls answer. */
async function seen(client: Client, calls: ReturnType<Published['calls']>): Promise<unknown> {
  const { prompts, resources } = client.getServerCapabilities() ?? {}
  const answers: unknown[] = []
  for (const [name, args] of calls) answers.push(await client.callTool({ name, arguments: { ...args } }))
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    tools: await client.listTools(),
    prompts: prompts && (await client.listPrompts()),
    templates: resources && (await client.listResourceTemplates()),
    answers,
  }
}

for (const mode of ['legacy', 'auto'] as const) {
  for (const [name, { start, calls }] of Object.entries(SERVERS)) {
    test(`${name} is to a client (${mode}) through the gateway what it is without`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'preflight-published-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, 'notes.txt'), 'a note')
      const views: unknown[] = []
      for (const isJudged of [false, true]) {
        const upstream = await start(t, folder)
        const route = { name: 'published', match: { path: '/mcp' }, upstream, protocol: 'mcp' }
        const gateway = isJudged ? await startTestGateway(t, { routes: [route] }) : null
        const agent = await startAgent(gateway === null ? upstream : `${gateway.addresses.proxy}/mcp`, mode)
        t.after(() => agent.close())
        views.push(await seen(agent.client, calls(folder)))
        rmSync(join(folder, 'more.txt'), { force: true })
      }
      assert.deepEqual(views[1], views[0])
    })
  }
}
