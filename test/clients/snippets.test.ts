/** The code of the integration snippets, run as it is printed, with stand-ins for what the frameworks export. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { describeApi } from '../../gateway/api/openapi.ts'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import { startAgent, textOf } from '../fakes/agent.ts'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { PETS, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { hasProgram, runProgram } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'

const CHANGE = { id: 'pets', type: 'openapi', before: PETS, after: PETS_WITHOUT_DELETE, operation: 'merge' }

/** What each package gives to the code, in as few words as possible. */
const PACKAGES: Readonly<Record<string, string>> = {
  'ai/index.js': 'exports.tool = (one) => one; exports.jsonSchema = (schema) => ({ jsonSchema: schema })',
  '@langchain/core/tools.js': 'exports.tool = (run, rest) => ({ ...rest, execute: run })',
  '@openai/agents/index.js': 'exports.tool = (one) => one',
  '@mastra/mcp/index.js': 'exports.MCPClient = class { constructor(options) { Object.assign(this, options) } }',
}

/** How the code of each framework is run below. */
const RUN = {
  tools: ['vercel_ai_sdk', 'langgraph', 'openai_agents'],
  configurations: ['claude_agent_sdk', 'mastra'],
  python: ['llamaindex', 'crewai', 'pydantic_ai', 'autogen', 'google_adk'],
} as const

const MODULES: Readonly<Record<string, string>> = {
  'llama_index/core/tools.py':
    'class FunctionTool:\n    @staticmethod\n    def from_defaults(fn):\n        return fn\n',
  'crewai/tools.py': 'def tool(name):\n    return lambda run: run\n',
  'pydantic_ai/__init__.py': 'def Tool(run):\n    return run\n',
  'autogen_core/tools.py': 'def FunctionTool(run, description):\n    return run\n',
  'google/adk/tools.py': 'def FunctionTool(func):\n    return func\n',
}

describe('integration snippets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-snippets-'))
  let api: ApiFake
  const code = new Map<string, string>()
  const texts = new Map<string, string>()
  const put = (path: string, text: string): string => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  before(async () => {
    api = await startApi()
    const { body } = await api.get('/api/v1/integration-snippets')
    for (const snippet of listAt(body, 'snippets')) {
      texts.set(textAt(snippet, 'id'), textAt(snippet, 'prompt'))
      const [, language = '', text = ''] = /```(\w+)\n([\s\S]*?)```/.exec(textAt(snippet, 'prompt')) ?? []
      if (text !== '') code.set(`${textAt(snippet, 'id')}.${language}`, text)
    }
    for (const [path, text] of Object.entries(PACKAGES)) put(`node_modules/${path}`, text)
    put('node_modules/@langchain/core/package.json', '{"exports":{"./tools":"./tools.js"}}')
    for (const [path, text] of Object.entries(MODULES)) put(`python/${path}`, text)
    put('package.json', '{"type":"commonjs"}')
  })
  after(async () => {
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('the code of every framework is run here', () => {
    const run = [...RUN.tools, ...RUN.configurations].map((name) => `${name}_node.ts`)
    const all = [...run, ...RUN.python.map((name) => `${name}_node.python`)]
    assert.deepEqual([...code.keys()].toSorted(), all.toSorted())
  })

  it('every address and every member that a text names is in openapi.json', () => {
    const served = new Set(ROUTES.flatMap(({ paths }) => paths))
    const described = JSON.stringify(describeApi(ROUTES, null))
    assert.ok(texts.size > code.size)
    for (const [id, text] of texts) {
      for (const [path] of text.matchAll(/\/api\/[a-z0-9/-]+/g)) assert.ok(served.has(path), `${id}: ${path}`)
      if (text.includes('```')) continue
      for (const [name] of text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g))
        assert.match(described, new RegExp(String.raw`\b${name}\b`), `${id}: ${name}`)
    }
  })

  const runTypeScript = async (name: string): Promise<unknown> => {
    const file = put(`${name}.mts`, code.get(`${name}_node.ts`) ?? assert.fail(name))
    const program = `
      const made = await import(${JSON.stringify(pathToFileURL(file).href)})
      const change = ${JSON.stringify(CHANGE)}
      const tool = made.preflightTool
      const result = tool === undefined ? (made.options?.mcpServers ?? made.preflightClient.servers).preflight : await tool.execute(change)
      const kept = await made.preflight?.({ ...change, after: change.before })
      const route = made.routeAfterPreflight?.(await made.preflightNode({ change }))
      console.log(JSON.stringify({ result, kept, route }))`
    const env = { PREFLIGHT_URL: api.url, PREFLIGHT_API_KEY: api.key }
    const {
      code: exit,
      stdout,
      stderr,
    } = await runProgram(process.execPath, ['--input-type=module', '-e', program], env)
    assert.equal(exit, 0, stderr)
    return JSON.parse(stdout)
  }

  for (const name of RUN.tools)
    it(`${name}: a break is not allowed, no change is`, async () => {
      const answer = await runTypeScript(name)
      const result: unknown = at(answer, 'result')
      const decided: unknown = typeof result === 'string' ? JSON.parse(result) : result
      assert.deepEqual([at(decided, 'allowed'), at(decided, 'action'), at(decided, 'receipt')], [false, 'STOP', null])
      assert.equal(at(answer, 'kept', 'allowed'), true)
      assert.equal(typeof at(answer, 'kept', 'receipt'), 'string')
      if (name === 'langgraph') assert.equal(at(answer, 'route'), 'end')
    })

  for (const name of RUN.configurations)
    it(`${name}: its configuration reaches the tools`, async (t) => {
      const server: unknown = at(await runTypeScript(name), 'result')
      const fields: unknown = at(server, 'headers') ?? at(server, 'requestInit', 'headers')
      const agent = await startAgent(textAt(server, 'url'), 'legacy', {
        Authorization: textAt(fields, 'Authorization'),
      })
      t.after(() => agent.close())
      const { operation, ...artifact } = CHANGE
      const result = await agent.client.callTool({
        name: 'preflight_change_set',
        arguments: { preflight_mode: 'authorize', artifacts: [artifact], context: { operation } },
      })
      assert.equal(at(JSON.parse(textOf(result)), 'execution_action'), 'STOP')
    })

  for (const name of RUN.python)
    it(`${name}: a break is not allowed, no change is`, async (t) => {
      if (!hasProgram(t, 'python3')) return
      const file = put(`${name}.py`, code.get(`${name}_node.python`) ?? assert.fail(name))
      execFileSync('python3', ['-m', 'py_compile', file])
      const program = `
import json, runpy
made = runpy.run_path(${JSON.stringify(file)})
change = json.loads(${JSON.stringify(JSON.stringify(CHANGE))})
print(json.dumps([made["preflight_tool"](**change), made["preflight"](**{**change, "after": change["before"]}), made["preflight"](**{**change, "type": "none"})]))`
      const env = { PREFLIGHT_URL: api.url, PREFLIGHT_API_KEY: api.key, PYTHONPATH: join(folder, 'python') }
      const { code: exit, stdout, stderr } = await runProgram('python3', ['-c', program], env)
      assert.equal(exit, 0, stderr)
      const answers: unknown = JSON.parse(stdout)
      assert.deepEqual([at(answers, 0, 'allowed'), at(answers, 0, 'action')], [false, 'STOP'])
      assert.equal(at(answers, 1, 'allowed'), true)
      assert.deepEqual([at(answers, 2, 'allowed'), at(answers, 2, 'action')], [false, 'STOP'])
    })
})
