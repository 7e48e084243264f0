/** Calls of model providers whose tools stand somewhere else than in `tools`: every vendor's ways as data, each judged, held for a receipt, or harmless. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelScene, wrongOutcomes, type CallRow } from '../fakes/model-scene.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'

const TOOL = { type: 'function', name: 'wipe', parameters: { type: 'object' } }
const TOOLS = [TOOL]
const TEXT = [{ role: 'user', content: 'hi' }]

/** Tools of the provider itself, switched on by members of their own. */
const SWITCHED: readonly (readonly [vendor: string, path: string, body: object])[] = [
  ['openai', '/v1/chat/completions', { web_search_options: {} }],
  ['openai', '/v1/chat/completions', { web_search_options: { user_location: null } }],
  ['azure', '/openai/deployments/d/chat/completions', { data_sources: [{ type: 'azure_search', parameters: {} }] }],
  ['azure', '/openai/deployments/d/extensions/chat/completions', { dataSources: [{ type: 'AzureCognitiveSearch' }] }],
  ['xai', '/v1/chat/completions', { search_parameters: { mode: 'on' } }],
  ['xai', '/v1/responses', { search_parameters: {} }],
  ['openrouter', '/api/v1/chat/completions', { plugins: [{ id: 'web' }] }],
  ['groq', '/openai/v1/chat/completions', { compound_custom: { tools: { enabled_tools: ['code_interpreter'] } } }],
  ['qwen', '/compatible-mode/v1/chat/completions', { enable_search: true }],
  ['qwen', '/compatible-mode/v1/chat/completions', { enable_search: 'true' }],
  ['qwen', '/api/v1/services/aigc/text-generation/generation', { input: {}, parameters: { enable_search: true } }],
  ['ernie', '/v2/chat/completions', { web_search: { enable: true } }],
  ['any', '/v1/chat/completions', { extra_body: { search_parameters: { mode: 'auto' } } }],
]

const CALLS: readonly CallRow[] = [
  ['openai', 'POST', '/v1/responses', { input: 'hi', prompt: { id: 'pmpt_1', version: '2' } }, 'receipt'],
  ['openai', 'POST', '/v1/responses', { input: 'hi', prompt: { id: 'pmpt_1' }, tools: TOOLS }, 'both'],
  ['openai', 'POST', '/v1/completions', { prompt: 'Say hi.' }, 'passes'],
  ['openai', 'POST', '/v1/responses', { input: 'hi', previous_response_id: 'resp_1' }, 'passes'],
  ['openai', 'POST', '/v1/responses', { input: 'hi', previous_response_id: 'resp_1', tools: TOOLS }, 'judged'],
  ['openai', 'POST', '/v1/responses', { input: 'hi', conversation: 'conv_1' }, 'passes'],
  [
    'openai',
    'POST',
    '/v1/responses',
    { input: [{ type: 'mcp_list_tools', server_label: 's', tools: TOOLS }] },
    'judged',
  ],
  ['openai', 'POST', '/v1/responses', { input: [{ type: 'tool_search_output', tools: TOOLS }] }, 'judged'],
  ['openai', 'POST', '/v1/conversations', { items: [{ type: 'mcp_list_tools', tools: TOOLS }] }, 'judged'],
  ['openai', 'POST', '/v1/conversations/conv_1/items', { items: [{ type: 'mcp_list_tools', tools: TOOLS }] }, 'judged'],
  [
    'openai',
    'POST',
    '/v1/conversations/conv_1/items',
    { items: [{ type: 'message', role: 'user', content: [] }] },
    'passes',
  ],
  ['openai', 'POST', '/v1/conversations/conv_1', { metadata: { a: 'b' } }, 'passes'],
  ['openai', 'POST', '/v1/batches', { input_file_id: 'file-1', endpoint: '/v1/responses' }, 'receipt'],
  ['openai', 'POST', '/v1/batches', {}, 'receipt'],
  ['openai', 'POST', '/v1/assistants', { model: 'm', tools: TOOLS }, 'judged'],
  ['openai', 'POST', '/v1/assistants/asst_1', { tools: TOOLS }, 'judged'],
  ['openai', 'POST', '/v1/threads', { messages: TEXT }, 'passes'],
  ['openai', 'POST', '/v1/threads/runs', { assistant_id: 'asst_1', thread: { messages: TEXT } }, 'receipt'],
  ['openai', 'POST', '/v1/threads/t/runs', { assistant_id: 'asst_1' }, 'receipt'],
  ['openai', 'POST', '/v1/threads/t/runs', { assistant_id: 'asst_1', tools: null }, 'receipt'],
  ['openai', 'POST', '/v1/threads/t/runs', { assistant_id: 'asst_1', tools: TOOLS }, 'judged'],
  ['openai', 'POST', '/v1/threads/t/runs/r/submit_tool_outputs', { tool_outputs: [] }, 'passes'],
  ['openai', 'POST', '/v1/realtime/sessions', { model: 'm', tools: TOOLS }, 'judged'],
  ['openai', 'POST', '/v1/realtime/client_secrets', { session: { tools: TOOLS } }, 'judged'],
  ['openai', 'POST', '/v1/realtime/client_secrets', { session: { prompt: { id: 'pmpt_1' } } }, 'receipt'],
  ['openai', 'POST', '/v1/realtime/calls/c/accept', { session: { tools: TOOLS } }, 'judged'],
  ['openai', 'POST', '/v1/realtime/calls', 'v=0', 'refused'],
  ['openai', 'POST', '/v1/chatkit/sessions', { workflow: { id: 'wf_1' }, user: 'u' }, 'receipt'],
  [
    'openai',
    'POST',
    '/v1/evals/e/runs',
    { data_source: { sampling_params: { tools: [{ ...TOOL, name: 'of an evaluation' }] } } },
    'both',
  ],
  ['openai', 'POST', '/v1/evals/e/runs', { data_source: { source: { type: 'file_id', id: 'f' } } }, 'receipt'],
  [
    'anthropic',
    'POST',
    '/v1/messages',
    { messages: TEXT, container: { skills: [{ type: 'custom', skill_id: 's' }] } },
    'receipt',
  ],
  [
    'anthropic',
    'POST',
    '/v1/messages',
    { messages: TEXT, mcp_servers: [{ type: 'url', name: 's', url: 'https://m.example' }] },
    'judged',
  ],
  ['anthropic', 'POST', '/v1/messages/batches', { requests: [{ custom_id: '1', params: { tools: TOOLS } }] }, 'judged'],
  [
    'anthropic',
    'POST',
    '/v1/messages/batches',
    { requests: [{ custom_id: '1', params: { messages: TEXT } }] },
    'passes',
  ],
  [
    'anthropic',
    'POST',
    '/v1/messages',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: { tools: TOOLS, prompt: {} } }] },
      ],
    },
    'passes',
  ],
  ['anthropic', 'POST', '/v1/agents', { name: 'a', tools: TOOLS }, 'judged'],
  ['anthropic', 'POST', '/v1/sessions', { agent: 'agent_1' }, 'receipt'],
  ['anthropic', 'POST', '/v1/sessions', { agent: { type: 'agent', id: 'agent_1', version: 3 } }, 'receipt'],
  ['anthropic', 'POST', '/v1/sessions/s/events', { events: [] }, 'receipt'],
  [
    'google',
    'POST',
    '/v1beta/models/m:generateContent',
    { contents: [], cachedContent: 'cachedContents/c' },
    'receipt',
  ],
  [
    'google',
    'POST',
    '/v1beta/models/m:generateContent',
    { contents: [], cached_content: 'cachedContents/c' },
    'receipt',
  ],
  [
    'google',
    'POST',
    '/v1beta/models/m:generateContent',
    { contents: [{ parts: [{ functionResponse: { response: { tools: TOOLS } } }] }] },
    'passes',
  ],
  [
    'google',
    'POST',
    '/v1beta/cachedContents',
    { model: 'm', tools: [{ functionDeclarations: [{ name: 'wipe' }] }] },
    'judged',
  ],
  [
    'google',
    'POST',
    '/v1beta/models/m:batchGenerateContent',
    { batch: { input_config: { file_name: 'files/f' } } },
    'receipt',
  ],
  [
    'google',
    'POST',
    '/v1beta/models/m:batchGenerateContent',
    { batch: { inputConfig: { fileName: 'files/f' } } },
    'receipt',
  ],
  [
    'google',
    'POST',
    '/v1beta/models/m:batchGenerateContent',
    { batch: { input_config: { requests: { requests: [{ request: { tools: TOOLS } }] } } } },
    'judged',
  ],
  ['google', 'POST', '/v1beta/interactions', { input: 'hi', agent: 'deep-research' }, 'receipt'],
  ['google', 'POST', '/v1beta/interactions', { input: 'hi', previous_interaction_id: 'i', tools: TOOLS }, 'judged'],
  ['google', 'POST', '/v1alpha/auth_tokens', { bidiGenerateContentSetup: { tools: TOOLS } }, 'judged'],
  ['google', 'POST', '/v1/projects/p/locations/l/batchPredictionJobs', { model: 'm', inputConfig: {} }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/reasoningEngines/e:query', { input: {} }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/reasoningEngines/e:streamQuery', { input: {} }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/reasoningEngines/e:asyncQuery', { input: {} }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/reasoningEngines/e/a2a/v1/message:send', { message: {} }, 'receipt'],
  ['any', 'POST', '/a2a/agent/v1/message:stream', { message: {} }, 'receipt'],
  ['any', 'POST', '/a2a/agent', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: {} } }, 'receipt'],
  ['any', 'POST', '/', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: {} } }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/agents/a/sessions/s:detectIntent', { queryInput: {} }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/locations/l/apps/a/sessions/s:runSession', { inputs: [] }, 'receipt'],
  ['google', 'POST', '/v1/projects/p/engines/e/assistants/default_assistant:streamAssist', { query: {} }, 'receipt'],
  ['bedrock', 'POST', '/model/m/invoke', { anthropic_version: 'v', messages: TEXT, tools: TOOLS }, 'judged'],
  [
    'bedrock',
    'POST',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FP:1/converse',
    { promptVariables: {} },
    'refused',
  ],
  ['bedrock', 'POST', '/model/arn:aws:bedrock:us-east-1:1:prompt/P:1/converse', { promptVariables: {} }, 'receipt'],
  ['bedrock', 'POST', '/model-invocation-job', { modelId: 'm', inputDataConfig: {} }, 'receipt'],
  ['bedrock', 'POST', '/agents/A/agentAliases/B/sessions/C/text', { inputText: 'hi' }, 'receipt'],
  ['bedrock', 'POST', '/agents/C', { inputText: 'hi', actionGroups: [{ actionGroupName: 'g' }] }, 'receipt'],
  [
    'bedrock',
    'POST',
    '/agents/C',
    { inputText: 'hi', collaboratorConfigurations: [{ agentAliasArn: 'arn:a', collaboratorName: 'c' }] },
    'receipt',
  ],
  [
    'bedrock',
    'POST',
    '/agents/C',
    { inputText: 'hi', collaborators: [{ actionGroups: [{ apiSchema: { payload: '{}' } }] }] },
    'receipt',
  ],
  ['bedrock', 'POST', '/agents/C', { inputText: 'hi', knowledgeBases: [{ knowledgeBaseId: 'K' }] }, 'receipt'],
  ['bedrock', 'POST', '/agents/C', { inputText: 'hi' }, 'passes'],
  ['bedrock', 'PUT', '/agents/A/agentversions/DRAFT/agentcollaborators/', { collaboratorName: 'c' }, 'receipt'],
  ['bedrock', 'PUT', '/agents/A/agentversions/DRAFT/agentcollaborators/C/', { collaboratorName: 'c' }, 'receipt'],
  ['bedrock', 'PUT', '/agents/A/agentversions/DRAFT/knowledgebases/', { knowledgeBaseId: 'K' }, 'receipt'],
  ['bedrock', 'PUT', '/agents/A/agentversions/DRAFT/actiongroups/', { actionGroupName: 'g' }, 'receipt'],
  ['bedrock', 'POST', '/flows/F/aliases/A', { inputs: [] }, 'receipt'],
  ['bedrock', 'POST', '/runtimes/R/invocations', { prompt: 'hi' }, 'receipt'],
  ['azure', 'POST', '/openai/deployments/d/chat/completions?api-version=1', { messages: TEXT, tools: TOOLS }, 'judged'],
  ['azure', 'POST', '/openai/batches?api-version=1', { input_file_id: 'file-1' }, 'receipt'],
  [
    'azure',
    'POST',
    '/api/projects/p/openai/responses',
    { input: 'hi', agent: { name: 'a', type: 'agent_reference' } },
    'receipt',
  ],
  ['azure', 'POST', '/api/projects/p/openai/responses', { input: 'hi', agent_reference: { name: 'a' } }, 'receipt'],
  ['azure', 'POST', '/api/projects/p/applications/a/protocols/openai/responses', { input: 'hi' }, 'receipt'],
  ['azure', 'POST', '/api/projects/p/threads/runs', { assistant_id: 'asst_1' }, 'receipt'],
  ['mistral', 'POST', '/v1/agents', { name: 'a', model: 'm', tools: TOOLS }, 'judged'],
  ['mistral', 'POST', '/v1/agents/completions', { agent_id: 'ag_1', messages: TEXT }, 'receipt'],
  ['mistral', 'POST', '/v1/agents/completions', { messages: TEXT }, 'receipt'],
  ['mistral', 'POST', '/v1/conversations', { agent_id: 'ag_1', inputs: 'hi' }, 'receipt'],
  ['mistral', 'POST', '/v1/conversations', { model: 'm', inputs: 'hi', tools: TOOLS }, 'judged'],
  ['mistral', 'POST', '/v1/conversations/c', { inputs: 'hi' }, 'receipt'],
  ['mistral', 'POST', '/v1/conversations/c/restart', { inputs: 'hi' }, 'receipt'],
  ['mistral', 'POST', '/v1/batch/jobs', { input_files: ['f'], endpoint: '/v1/chat/completions' }, 'receipt'],
  ['mistral', 'POST', '/v1/batch/jobs', { requests: [{ body: { tools: TOOLS } }] }, 'judged'],
  ['cohere', 'POST', '/v2/chat', { messages: TEXT, tools: TOOLS }, 'judged'],
  ['cohere', 'POST', '/v1/chat', { message: 'hi', connectors: [{ id: 'c' }] }, 'receipt'],
  ['langgraph', 'POST', '/threads/t/runs/stream', { assistant_id: 'agent', input: {} }, 'receipt'],
  ['perplexity', 'POST', '/v1/responses', { input: 'hi', preset: 'pro-search' }, 'receipt'],
  ['openrouter', 'POST', '/api/v1/chat/completions', { messages: TEXT, model: 'o/m:online' }, 'judged'],
  ['openrouter', 'POST', '/api/v1/chat/completions', { messages: TEXT, models: ['o/m', 'o/n:online'] }, 'judged'],
  ['openrouter', 'POST', '/api/v1/chat/completions', { messages: TEXT, model: 'o/m:free' }, 'passes'],
  ['any', 'POST', '/v1/embeddings', { input: ['a', 'b'], model: 'm' }, 'passes'],
  ['any', 'POST', '/v1/embeddings', { input: [[1, 2], [3]], model: 'm' }, 'passes'],
  ['any', 'POST', '/v1/chat/completions', { Prompt: { id: 'x' } }, 'refused'],
  ['any', 'POST', '/v1/chat/completions', { ASSISTANT_ID: 'x' }, 'refused'],
  ['any', 'POST', '/v1/responses', { input: [{ Tools: TOOLS }] }, 'refused'],
  ['any', 'POST', '/V1/Batches;x/', { input_file_id: 'file-1' }, 'receipt'],
  ['any', 'POST', '/v1/batches.json', {}, 'receipt'],
  ...[
    ['bedrock', '/model/m/converse', 'additionalModelRequestFields'],
    ['any', '/v1/chat/completions', 'extra_body'],
    ['any', '/v1/chat/completions', 'model_kwargs'],
    ['any', '/v1/chat/completions', 'options'],
    ['ollama', '/api/chat', 'options'],
    ['gemini', '/v1beta/models/m:generateContent', 'generation_config'],
    ['gemini', '/v1beta/models/m:countTokens', 'generateContentRequest'],
    ['any', '/v1/unknown', 'whatever'],
  ].flatMap(([vendor = '', path = '', member = '']): CallRow[] => [
    [vendor, 'POST', path, { messages: [], [member]: { tools: [{ ...TOOL, name: `${path} ${member}` }] } }, 'judged'],
    [vendor, 'POST', path, { messages: [], [member]: { Tools: TOOLS } }, 'refused'],
    [
      vendor,
      'POST',
      path,
      { messages: [], [member]: [{ a: { body: { functions: [{ name: path + member }] } } }] },
      'judged',
    ],
    [vendor, 'POST', path, { messages: [], [member]: { tools: { a: 1 }, temperature: 1 } }, 'passes'],
  ]),
  ...SWITCHED.map(([vendor, path, body]): CallRow => [vendor, 'POST', path, body, 'judged']),
  ...[
    { web_search_options: null, plugins: [], enable_search: false },
    { search_parameters: { mode: 'off' }, web_search: { enable: false } },
    { metadata: { plugins: ['a'] }, parameters: { enable_search: false } },
  ].map((body): CallRow => ['any', 'POST', '/v1/chat/completions', { messages: TEXT, ...body }, 'passes']),
  ['any', 'POST', '/v1/chat/completions', { messages: TEXT, Web_Search_Options: {} }, 'refused'],
  ['any', 'POST', '/v1/chat/completions', { messages: TEXT, metadata: { tools: TOOLS, Tools: [] } }, 'passes'],
  ['any', 'POST', '/v1/chat/completions', { messages: TEXT, response_format: { schema: { tools: TOOLS } } }, 'passes'],
  ['any', 'POST', '/v1/chat/completions', { messages: [{ role: 'tool', data: { tools: TOOLS } }] }, 'passes'],
  ['any', 'POST', '/v1/chat/completions', nested(6, { tools: TOOLS }), 'judged'],
  ['any', 'POST', '/v1/chat/completions', nested(40, { tools: TOOLS }), 'refused'],
]

function nested(depth: number, inner: object): object {
  return depth === 0 ? inner : { request: nested(depth - 1, inner) }
}

test('no call takes tools along that nobody judged', async (t) => {
  const scene = await modelScene(t)
  assert.deepEqual(await wrongOutcomes(scene, CALLS), [])
})

test('a route may let calls of stored tools through, or none', async (t) => {
  const passing = await modelScene(t, { stored_tools: 'pass' })
  const denying = await modelScene(t, { stored_tools: 'deny' })
  for (const [, method, path, body, outcome] of CALLS.filter((row) => row[4] === 'receipt')) {
    assert.equal((await passing.send(method, path, body)).status, 200, `${path} ${outcome}`)
    assert.equal((await denying.send(method, path, body)).status, 403, path)
  }
  assert.equal(denying.upstream.requests.length, 0)
})

test('the receipt that a call takes names what keeps its tools', async (t) => {
  const { send } = await modelScene(t)
  for (const [path, body, name] of [
    ['/v1/responses', { prompt: { id: 'pmpt_1', version: '2' } }, 'model/prompt:pmpt_1@2'],
    ['/v1/batches', { input_file_id: 'file-1' }, 'model/input_file_id:file-1'],
    ['/v1/batch/jobs', { input_files: ['b', 'a'] }, 'model/input_files:a,b'],
    ['/v1/agents/completions', { messages: [] }, 'model/POST /v1/agents/completions'],
  ] as const)
    assert.match((await send('POST', path, body)).body, new RegExp(name.replaceAll(/[/@]/g, '.')))
})

test('a file of a batch goes by as an upload; the batch that runs it takes the receipt', async (t) => {
  const { proxy } = await modelScene(t)
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([`{"body":{"tools":${JSON.stringify(TOOLS)}}}`]), 'calls.jsonl')
  const uploaded = await fetch(`${proxy.url}/v1/files`, { method: 'POST', body: form })
  assert.equal(uploaded.status, 200)
})

const source = (endpoint: string, key: string) => ({
  messages: TEXT,
  data_sources: [{ type: 'azure_search', parameters: { endpoint, authentication: { type: 'api_key', key } } }],
})

test('a connected source is compared by what it is, and its secrets are not kept', async (t) => {
  const { proxy, send } = await modelScene(t)
  for (const [endpoint, key] of [
    ['https://a.example', 'secret-1'],
    ['https://a.example', 'secret-2'],
    ['https://b.example', 'secret-1'],
  ] as const)
    await send('POST', '/v1/chat/completions', source(endpoint, key))
  const view = await proxy.baselines.view('model')
  assert.match(view?.baseline.content ?? '', /a\.example/)
  assert.match(view?.candidate?.content ?? '', /b\.example/)
  assert.doesNotMatch(JSON.stringify(view), /secret-/)
})

/** Some servers read a body whatever the method is. */
for (const method of ['GET', 'HEAD', 'OPTIONS']) {
  test(`the body of a ${method} does not stream by unread`, async (t) => {
    const { proxy, upstream } = await modelScene(t)
    const body = JSON.stringify({ messages: TEXT, tools: TOOLS })
    const line = `${method} /v1/chat/completions HTTP/1.1\nHost: ${new URL(proxy.url).host}\nContent-Type: application/json`
    const framed = [
      requestText(`${line}\nContent-Length: ${body.length}`, body),
      requestText(`${line}\nTransfer-Encoding: chunked`, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`),
    ]
    for (const bytes of framed) assert.equal(statusOf(await exchangeBytes(proxy.url, bytes)), 403)
    assert.equal(upstream.requests.length, 0)
    assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(line))), 200)
  })
}
