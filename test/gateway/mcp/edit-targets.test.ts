/** Calls that change a harmless file, and name a contract by a further member: stopped. Members that lead nowhere change nothing. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startAgent, textOf } from '../../fakes/agent.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startMcpUpstream } from '../../fakes/mcp-upstream.ts'

const FOLDERS = { scm: { contracts: { globs: ['**/openapi.yaml', 'contracts/**'] } } }

async function editor(t: TestContext) {
  const upstream = await startMcpUpstream({
    generation: 'sessions',
    answer: () => ({ content: [{ type: 'text', text: 'done' }] }),
  })
  t.after(() => upstream.close())
  upstream.tools = ['write_file', 'delete_file', 'move_file'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  const route = { name: 'files', match: { path: '/files' }, upstream: upstream.url, protocol: 'mcp' }
  const gateway = await startTestGateway(t, { routes: [route], ...FOLDERS })
  const agent = await startAgent(`${gateway.addresses.proxy}/files`, 'legacy')
  t.after(() => agent.close())
  return async (name: string, args: object) => {
    const answer = textOf(await agent.client.callTool({ name, arguments: { ...args } }))
    return answer === 'done'
  }
}

const WRITE = { path: 'README.md', content: 'x' }
const STOPPED: readonly (readonly [tool: string, args: object])[] = [
  ['write_file', { ...WRITE, output_path: 'openapi.yaml' }],
  ['write_file', { ...WRITE, Path: 'openapi.yaml' }],
  ['write_file', { ...WRITE, options: { dest: '/repo/openapi.yaml' } }],
  ['write_file', { ...WRITE, changes: [{ at: 'api/openapi.yaml', to: 'y' }] }],
  ['write_file', { ...WRITE, more: { 'openapi.yaml': 'y' } }],
  ['write_file', { ...WRITE, target: 'openapi.yaml' }],
  ['write_file', { path: 'pets.json', cwd: 'contracts', content: 'x' }],
  ['write_file', { path: 'pets.json', project: 'contracts', content: 'x' }],
  ['write_file', { path: 'openapi', extension: '.yaml', content: 'x' }],
  ['move_file', { source: 'a.json', destination: 'b.json', cwd: 'contracts' }],
  ['delete_file', { target: 'openapi.yaml' }],
  ['delete_file', { names: ['api/openapi.yaml'] }],
  // Longer than any system opens as it stands, and short to a server that resolves it.
  ['delete_file', { target_location: `${'./'.repeat(3000)}openapi.yaml` }],
  ['delete_file', { path: `${'./'.repeat(3000)}openapi.yaml` }],
  ['move_file', { source: `${'./'.repeat(3000)}openapi.yaml`, destination: 'x' }],
  ['write_file', { path: `${'x/../'.repeat(3000)}openapi.yaml`, content: 'x' }],
  ['delete_file', { path: 'pets.json', cwd: 'contracts' }],
]
const PASSED: readonly (readonly [tool: string, args: object])[] = [
  ['write_file', WRITE],
  ['write_file', { ...WRITE, output_path: 'docs/README.md', encoding: 'utf-8', cwd: '/repo' }],
  ['write_file', { ...WRITE, message: 'see openapi.yaml', url: 'https://a.example/openapi.yaml' }],
  ['write_file', { ...WRITE, content: 'openapi.yaml', repo: 'contracts' }],
  ['move_file', { source: 'a.json', destination: 'b.json', cwd: 'docs' }],
  ['delete_file', { target: 'README.md' }],
]

for (const [tool, args] of STOPPED)
  test(`${tool} ${JSON.stringify(args).slice(0, 100)} is stopped`, async (t) => {
    assert.equal(await (await editor(t))(tool, args), false)
  })

for (const [tool, args] of PASSED)
  test(`${tool} ${JSON.stringify(args)} goes on`, async (t) => {
    assert.equal(await (await editor(t))(tool, args), true)
  })
