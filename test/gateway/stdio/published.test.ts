/** Published MCP servers behind `preflight mcp`, spoken to by official clients of both generations: everything is as without it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { startEverythingServer } from '../../fakes/everything-server.ts'
import { startDesk, type Desk } from '../../fakes/desk.ts'
import { startOldServer } from '../../fakes/sse-server.ts'

const require = createRequire(import.meta.url)
const program = (name: string): readonly string[] => [
  process.execPath,
  require.resolve(`@modelcontextprotocol/${name}/dist/index.js`),
]

/** As an editor's configuration names it. */
interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

const direct = ([command = '', ...args]: readonly string[]): Launch => ({ command, args })
const judged = (desk: Desk, options: readonly string[], command: readonly string[]): Launch => ({
  command: process.execPath,
  args: desk.wrapped(options, command),
})

async function firstClient(desk: Desk, { command, args }: Launch): Promise<FirstClient> {
  const client = new FirstClient({ name: 'editor', version: '1.0.0' }, { capabilities: { sampling: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant' as const,
    model: 'm',
    content: { type: 'text' as const, text: 'sampled by the editor' },
  }))
  const transport = new FirstTransport({ command, args: [...args], env: { ...desk.environment }, stderr: 'ignore' })
  await client.connect(transport)
  desk.add(() => client.close())
  return client
}

async function secondClient(desk: Desk, { command, args }: Launch, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'editor', version: '1.0.0' }, { versionNegotiation: { mode } })
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...desk.environment },
    stderr: 'ignore',
  })
  await client.connect(transport)
  desk.add(() => client.close())
  return client
}

const CALLS: Readonly<
  Record<string, (folder: string) => readonly (readonly [string, Readonly<Record<string, unknown>>])[]>
> = {
  'server-everything': () => [
    ['echo', { message: 'hello' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-tiny-image', {}],
  ],
  'server-filesystem': (folder) => [
    ['read_text_file', { path: join(folder, 'notes.txt') }],
    ['write_file', { path: join(folder, 'more.txt'), content: 'more' }],
    ['read_text_file', { path: join(folder, 'absent.txt') }],
  ],
  'server-sequential-thinking': () => [
    ['sequentialthinking', { thought: 'It judges.', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }],
  ],
}

async function seen(client: Client | FirstClient, calls: ReturnType<(typeof CALLS)[string]>): Promise<unknown> {
  const answers: unknown[] = []
  for (const [name, args] of calls) answers.push(await client.callTool({ name, arguments: { ...args } }))
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    tools: await client.listTools(),
    answers,
  }
}

for (const [name, calls] of Object.entries(CALLS))
  test(`${name} is to clients of both generations what it is without preflight`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'preflight-published-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'notes.txt'), 'a note')
    const desk = startDesk(t)
    const command = [...program(name), name === 'server-everything' ? 'stdio' : folder]
    const views: unknown[] = []
    for (const launch of [direct(command), judged(desk, ['--name', 'published'], command)]) {
      for (const mode of ['legacy', 'auto'] as const)
        views.push(await seen(await secondClient(desk, launch, mode), calls(folder)))
      views.push(await seen(await firstClient(desk, launch), calls(folder)))
    }
    assert.deepEqual(views.slice(3), views.slice(0, 3))
  })

test('a server over standard streams may ask the client for a completion', async (t) => {
  const desk = startDesk(t)
  const launch = judged(desk, ['--name', 'every'], [...program('server-everything'), 'stdio'])
  const client = await firstClient(desk, launch)
  const result = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'go', maxTokens: 10 } })
  assert.match(JSON.stringify(result), /sampled by the editor/)
})

test('a server over Streamable HTTP is reached with --url', async (t) => {
  const desk = startDesk(t)
  const url = await startEverythingServer(t)
  const client = await firstClient(desk, judged(desk, ['--name', 'remote', '--url', url], []))
  assert.match(JSON.stringify(await client.callTool({ name: 'echo', arguments: { message: 'far' } })), /far/)
  const sampled = await client.callTool({
    name: 'trigger-sampling-request',
    arguments: { prompt: 'go', maxTokens: 10 },
  })
  assert.match(JSON.stringify(sampled), /sampled by the editor/)
})

test('a server of the transport of 2024 is reached with --sse, with its header fields', async (t) => {
  const desk = startDesk(t)
  const { origin, fields } = await startOldServer(t)
  const options = ['--name', 'old', '--sse', `${origin}/sse`, '--header', 'X-Token: ${PREFLIGHT_HOME}']
  const client = await firstClient(desk, judged(desk, options, []))
  assert.match(JSON.stringify(await client.callTool({ name: 'old-echo' })), /an old answer/)
  assert.ok(fields.length > 2 && fields.every((value) => value === desk.home))
})
