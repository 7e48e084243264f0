/** The chart's example pods: their configuration, started from a mounted ConfigMap, judges against the tools that it names. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { startGateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { startAgent, textOf } from '../fakes/agent.ts'
import { devNull, FREE_PORTS } from '../fakes/gateway.ts'
import { startMcpUpstream } from '../fakes/mcp-upstream.ts'
import { at, listAt, textAt } from '../json.ts'

const EXAMPLES = join(import.meta.dirname, '../../charts/preflight-gateway/examples')

/** Files as the kubelet mounts those of a ConfigMap: links to links. */
function mounted(t: TestContext, data: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-config-map-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '..version'))
  symlinkSync('..version', join(folder, '..data'))
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(folder, '..version', name), String(text))
    symlinkSync(`..data/${name}`, join(folder, name))
  }
  return folder
}

for (const name of ['sidecar-pod', 'transparent-sidecar-pod'])
  test(`the example ${name} names its tools: a server that offers others first is not believed`, async (t) => {
    const [map] = parseAllDocuments(readFileSync(join(EXAMPLES, `${name}.yaml`), 'utf8')).map((document): unknown =>
      document.toJS(),
    )
    const data: Record<string, unknown> = { ...Object(at(map, 'data')) }
    const reviewed = listAt(JSON.parse(textAt(data, 'tools.json')), 'tools')
    const upstream = await startMcpUpstream()
    t.after(() => upstream.close())
    // Free ports and an upstream of this test in the place of those of a cluster; all else is the example's.
    const config: unknown = parse(textAt(data, 'preflight.yaml'))
    const [route] = listAt(config, 'routes')
    const here = { ...Object(route), match: { path: '/tools' }, upstream: upstream.url }
    const text = JSON.stringify({ ...Object(config), listen: FREE_PORTS, routes: [here] })
    const folder = mounted(t, { ...data, 'preflight.yaml': text })
    const state = mkdtempSync(join(tmpdir(), 'preflight-example-pod-'))
    const gateway = await startGateway(
      { file: join(folder, 'preflight.yaml'), environment: { PREFLIGHT_DATA_DIR: state } },
      { output: devNull(), logger: createLogger('silent') },
    )
    t.after(async () => {
      await gateway.close()
      rmSync(state, { recursive: true, force: true })
    })
    const call = async (): Promise<string> => {
      const agent = await startAgent(`${gateway.addresses.proxy}/tools`)
      t.after(() => agent.close())
      return textOf(await agent.client.callTool({ name: 'search', arguments: { text: 'x' } }))
    }
    upstream.tools = reviewed.map((tool) => ({
      ...Object(tool),
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' }, key: { type: 'string' } },
        required: ['text', 'key'],
      },
    }))
    assert.match(await call(), /NEW_REQUIRED_TOOL_INPUT_PROPERTY/)
    assert.deepEqual(upstream.calls, [])
    upstream.tools = reviewed.map((tool) => ({ ...Object(tool) }))
    assert.match(await call(), /search: /)
  })
