/** What decides about tools outside the members of a body: header fields of gateways and of hosted tools, types that hide JSON, versions of stored things. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelScene } from '../fakes/model-scene.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'

const CHAT = '/v1/chat/completions'
const PLAIN = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const TOOL = { type: 'function', name: 'wipe', parameters: { type: 'object' } }
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

type Scene = Awaited<ReturnType<typeof modelScene>>

/** What became of a call with these header fields: judged, held for a receipt of this name, passed, or refused. */
async function outcomeOf({ proxy, upstream }: Scene, headers: Readonly<Record<string, string>>, body: object = PLAIN) {
  const judged = proxy.interceptions.length
  const arrived = upstream.requests.length
  const answer = await fetch(proxy.url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const [, target] = /"target_id":"model\/([^"]+)"/.exec(text) ?? []
  if (upstream.requests.length === arrived) return target ?? `refused ${answer.status}`
  return proxy.interceptions.length > judged ? 'judged' : 'passes'
}

const FIELDS: readonly (readonly [name: string, value: string, outcome: string])[] = [
  ['x-mcp-servers', 'github,zapier', 'judged'],
  ['X_MCP_Servers', 'github', 'judged'],
  ['x-mcp-access-groups', 'dev', 'judged'],
  ['x-pass-x-mcp-servers', 'github', 'judged'],
  ['x-bf-mcp-include-tools', 'files/wipe', 'judged'],
  ['x-bf-mcp-include-clients', 'files', 'judged'],
  ['x-dashscope-plugin', '{"code_interpreter":{}}', 'judged'],
  ['groq-model-version', 'latest', 'judged'],
  ['x-tfy-mcp-headers', '{"github":{"X-MCP-Toolsets":"all"}}', 'judged'],
  ['x-portkey-config', 'pc-123', 'x-portkey-config:pc-123'],
  ['x-portkey-config', '{"override_params":{"tools":[{"type":"function","name":"wipe"}]}}', 'judged'],
  ['x-portkey-config', '{"targets":[{"override_params":{"web_search_options":{}}}]}', 'judged'],
  ['x-portkey-config', '{"targets":[{"prompt_id":"pp-1"}]}', 'prompt_id:pp-1'],
  ['x-portkey-config', '{"retry":{"attempts":3}}', 'passes'],
  ['x-portkey-config', base64({ override_params: { tools: [TOOL] } }), 'judged'],
  ['x-data-keywordsai-params', base64({ prompt: { prompt_id: 'p', override: true } }), 'prompt:{"prompt_id":"p'],
  ['x-data-keywordsai-params', base64({ customer_identifier: 'c' }), 'passes'],
  ['helicone-fallbacks', '[{"target-url":"https://x","bodyKeyOverride":{"tools":[{"name":"wipe"}]}}]', 'judged'],
  ['helicone-fallbacks', '["gpt-4"]', 'passes'],
  ['x-mcp-auth', 'secret', 'passes'],
  ['x-mcp-github-authorization', 'Bearer secret', 'passes'],
  ['x-portkey-metadata', '{"_user":"u"}', 'passes'],
  ['x-portkey-api-key', 'secret', 'passes'],
  ['x-litellm-tags', 'a,b', 'passes'],
]

for (const [name, value, outcome] of FIELDS)
  test(`a call with ${name}: ${value} ${outcome === 'passes' ? 'passes' : 'has the tools that it decides about'}`, async (t) => {
    const found = await outcomeOf(await modelScene(t), { [name]: value })
    if (outcome.startsWith('prompt:')) assert.ok(found.startsWith('prompt:'), found)
    else assert.equal(found, outcome)
  })

test('a value with two readings, or too long for a name, is named by its digest', async (t) => {
  const scene = await modelScene(t)
  for (const value of ['{"tools":[],"tools":[{}]}', 'x'.repeat(100)])
    assert.match(await outcomeOf(scene, { 'x-portkey-config': value }), /^x-portkey-config:sha256-[0-9a-f]{32}$/)
})

test('a route passes stored settings unjudged where it passes stored tools', async (t) => {
  const scene = await modelScene(t, { stored_tools: 'pass' })
  assert.equal(await outcomeOf(scene, { 'x-portkey-config': 'pc-123' }), 'passes')
})

const hosted = (headers: object, name = 'headers') => ({
  ...PLAIN,
  tools: [{ type: 'mcp', server_label: 's', server_url: 'https://mcp.example', [name]: headers }],
})

test('header fields of a hosted tool that choose its tools are part of the table, and secrets are not', async (t) => {
  const scene = await modelScene(t)
  const tablesAfter = async (body: object) => {
    assert.equal(await outcomeOf(scene, {}, body), 'judged')
    return scene.proxy.flow.asked.length
  }
  const one = await tablesAfter(hosted({ Authorization: 'secret one', 'X-MCP-Toolsets': 'repos' }))
  assert.equal(await tablesAfter(hosted({ authorization: 'secret two', 'x-mcp-toolsets': 'repos' })), one)
  assert.equal(
    await tablesAfter(hosted({ 'X-MCP-Toolsets': 'repos', 'x-my-api-key': 'secret three', traceparent: 'x' })),
    one,
  )
  const two = await tablesAfter(hosted({ 'X-MCP-Toolsets': 'all' }))
  assert.equal(two, one + 1)
  assert.equal(await tablesAfter(hosted({ 'x-pd-app-slug': 'bank' })), two + 1)
  assert.equal(await tablesAfter(hosted({ 'X-MCP-Toolsets': 'all' }, 'extra_headers')), two + 2)
  const kept = JSON.stringify(await scene.proxy.store.baselines.byRoute('model', 'model'))
  assert.doesNotMatch(kept, /secret/)
})

const MEDIA = [
  'application/octet-stream',
  'application/pdf',
  'application/zip',
  'audio/wav',
  'image/png',
  'video/mp4',
  'multipart/form-data; boundary=x',
]
const JSON_STARTS = ['', ' \r\n\t', '\ufeff', '// note\n', ' '.repeat(100_000)]

for (const type of MEDIA)
  test(`JSON stated as ${type} is read at a path that is not known`, async (t) => {
    const { proxy, upstream } = await modelScene(t)
    for (const start of JSON_STARTS) {
      const judged = proxy.interceptions.length
      const body = start + JSON.stringify({ ...PLAIN, tools: [TOOL] })
      const answer = await fetch(`${proxy.url}/unknown/path`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      })
      assert.ok(answer.status >= 400 || proxy.interceptions.length > judged, JSON.stringify(start.slice(0, 9)))
    }
    assert.ok(upstream.requests.length > 0)
  })

test('JSON that comes slowly, in chunks, is read too; and a coded body', async (t) => {
  const { proxy } = await modelScene(t)
  const text = JSON.stringify({ ...PLAIN, tools: [TOOL] })
  for (const head of ['Content-Type: audio/wav\nTransfer-Encoding: chunked', 'Content-Type: audio/wav']) {
    const judged = proxy.interceptions.length
    const isChunked = head.includes('chunked')
    const body = isChunked ? `1\r\n \r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n` : text
    const length = isChunked ? '' : `\nContent-Length: ${text.length}\nExpect: 100-continue`
    await exchangeBytes(proxy.url, requestText(`POST /unknown HTTP/1.1\nHost: a\n${head}${length}`, body))
    assert.equal(proxy.interceptions.length, judged + 1, head)
  }
  const coded = `POST /unknown HTTP/1.1\nHost: a\nContent-Type: audio/wav\nContent-Encoding: x\nContent-Length: 4`
  assert.ok(statusOf(await exchangeBytes(proxy.url, requestText(coded, 'wave'))) >= 400)
})

test('uploads and media stream, whole and unchanged, past the limit of bodies that are read', async (t) => {
  const { proxy, upstream } = await modelScene(t)
  for (const [type, start] of [
    ['application/octet-stream', '\u001f\u008b\u0008'],
    ['application/pdf', '%PDF-1.7'],
    ['audio/wav', 'RIFF'],
    ['video/mp4', '\0\0\0 ftyp'],
    ['multipart/form-data; boundary=x', '\r\n--x'],
  ] as const) {
    const bytes = Buffer.from(start.padEnd(9 * 1024 * 1024, 'w'), 'latin1')
    const answer = await fetch(`${proxy.url}/v1/files`, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': type },
    })
    assert.equal(answer.status, 200, type)
    assert.equal(upstream.requests.at(-1)?.body.length, bytes.toString().length, type)
  }
  for (const length of ['Content-Length: 0', 'Transfer-Encoding: chunked']) {
    const body = length.startsWith('T') ? '0\r\n\r\n' : ''
    const head = `POST /v1/files HTTP/1.1\nHost: a\nContent-Type: audio/wav\n${length}`
    assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(head, body))), 200, length)
  }
  assert.equal(proxy.interceptions.length, 0)
})

const KEPT: readonly (readonly [method: string, path: string, type: string, body?: string])[] = [
  ['POST', '/v1/skills/skill_1/versions', 'multipart/form-data; boundary=x', '--x--\r\n'],
  ['POST', '/v1/skills/skill_1/versions?beta=true', 'application/json', '{}'],
  ['POST', '/v1/skills/skill_1', 'application/json', '{"default_version":"2"}'],
  ['DELETE', '/v1/skills/skill_1/versions/3', 'application/json'],
  ['PUT', '/agents/A/agentaliases/B', 'application/json', '{"routingConfiguration":[]}'],
]

test('a new version of what calls name by its id takes a receipt', async (t) => {
  const { proxy, upstream } = await modelScene(t)
  for (const [method, path, type, body] of KEPT) {
    const init = { method, headers: { 'content-type': type }, ...(body !== undefined && { body }) }
    const text = await (await fetch(proxy.url + path, init)).text()
    assert.match(text, /PREFLIGHT_RECEIPT_REQUIRED/, `${method} ${path}`)
  }
  assert.equal(upstream.requests.length, 0)
})
