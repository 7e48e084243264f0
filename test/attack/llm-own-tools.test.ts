/** Calls of model providers whose tools are nowhere in the body: presets, bots and applications that have their own, and forms without names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelScene, wrongOutcomes, type CallRow } from '../fakes/model-scene.ts'

const TEXT = [{ role: 'user', content: 'hi' }]
const CHAT = '/v1/chat/completions'
const RPC = '/$rpc/google.ai.generativelanguage.v1beta.GenerativeService/GenerateContent'
const BY_NUMBER = ['models/m', [[['hi']]], null, [[[['wipe']]]]]
const RUN = { assistant_id: 'agent', input: {} }
const OCTETS = 'application/octet-stream'

const TOOLS = [{ type: 'function', name: 'wipe' }]
const PREDICTIONS = '/v1/models/openai/gpt-5-structured/predictions'

const model = (name: string) => ({ model: name, messages: TEXT })

const CALLS: readonly CallRow[] = [
  ['openrouter', 'POST', CHAT, model('@preset/writer'), 'receipt'],
  ['openrouter', 'POST', CHAT, model('openai/gpt-5@preset/writer'), 'receipt'],
  ['openrouter', 'POST', CHAT, { models: ['a/b', '@preset/writer'], messages: TEXT }, 'receipt'],
  ['any', 'POST', CHAT, { model: { id: 'm', tools: [{ type: 'function', name: 'wipe' }] }, messages: TEXT }, 'judged'],
  ['any', 'POST', CHAT, model('gpt-4o-search-preview'), 'passes'],
  ...['groq/compound', 'groq/compound-mini', 'compound-beta', 'GROQ/Compound'].map((name): CallRow => [
    'groq',
    'POST',
    '/openai/v1/chat/completions',
    model(name),
    'judged',
  ]),
  ['openrouter', 'POST', CHAT, { models: ['a/b', 'groq/compound'], messages: TEXT }, 'judged'],
  ['any', 'POST', CHAT, model('acme/compounder'), 'passes'],
  ['lm studio', 'POST', '/api/v1/chat', { input: 'hi', integrations: ['mcp/playwright'] }, 'judged'],
  ['lm studio', 'POST', '/api/v1/chat', { input: 'hi', integrations: [{ type: 'ephemeral_mcp' }] }, 'judged'],
  ['lm studio', 'POST', '/api/v1/chat', { input: 'hi', integrations: [] }, 'passes'],
  ['lm studio', 'POST', '/api/v1/chat', { input: 'hi', integrations: ['mcp/x'] }, 'judged', OCTETS],
  ['replicate', 'POST', PREDICTIONS, { input: { prompt: 'hi', tools: TOOLS } }, 'judged'],
  ['replicate', 'POST', PREDICTIONS, { input: { prompt: 'hi', tools: [] } }, 'passes'],
  ['replicate', 'POST', PREDICTIONS, { input: { prompt: 'hi', enable_web_search: true } }, 'judged'],
  ['replicate', 'POST', PREDICTIONS, { input: { prompt: 'hi', enable_web_search: false } }, 'passes'],
  ['replicate', 'POST', '/v1/predictions', { version: 'v', input: { input_item_list: TEXT, tools: TOOLS } }, 'judged'],
  ['runpod', 'POST', '/v2/e/run', { input: { openai_route: CHAT, openai_input: { tools: TOOLS } } }, 'judged'],
  ['runpod', 'POST', '/v2/e/run', { input: { messages: TEXT, sampling_params: { tools: TOOLS } } }, 'judged'],
  ['any', 'POST', '/predict', { inputs: { messages: TEXT, options: { tools: TOOLS } } }, 'judged'],
  ['any', 'POST', '/predict', { content: { text: 'hi', tools: TOOLS } }, 'judged'],
  [
    'any',
    'POST',
    CHAT,
    { messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: { tools: TOOLS } }] }] },
    'passes',
  ],
  ['any', 'POST', '/embed', { input: { text: 'hi', tool: 'x' } }, 'passes'],
  ['venice', 'POST', CHAT, { ...model('m'), venice_parameters: { enable_web_search: 'auto' } }, 'judged'],
  ['venice', 'POST', CHAT, { ...model('m'), venice_parameters: { enable_web_search: 'off' } }, 'passes'],
  ['venice', 'POST', CHAT, { ...model('m'), venice_parameters: { enable_x_search: true } }, 'judged'],
  ['venice', 'POST', CHAT, { ...model('m'), venice_parameters: { enable_web_scraping: true } }, 'judged'],
  ['open webui', 'POST', '/api/chat/completions', { ...model('m'), tool_ids: ['server:mcp:files'] }, 'judged'],
  ['open webui', 'POST', '/api/chat/completions', { ...model('m'), tool_ids: [] }, 'passes'],
  ['open webui', 'POST', '/api/chat/completions', { ...model('m'), features: { web_search: true } }, 'judged'],
  ['letta', 'POST', '/v1/agents/', { model: 'm', tool_ids: ['tool-1'] }, 'judged'],
  ['vapi', 'POST', '/call', { assistant: { model: { toolIds: ['tool-1'] } } }, 'judged'],
  [
    'llama stack',
    'POST',
    '/v1/agents/a/session/s/turn',
    { messages: TEXT, toolgroups: ['builtin::websearch'] },
    'judged',
  ],
  ['volcengine', 'POST', '/api/v3/bots/chat/completions', model('bot-1'), 'receipt'],
  ['coze', 'POST', '/v3/chat', { bot_id: '1', user_id: 'u' }, 'receipt'],
  ['dashscope', 'POST', '/api/v1/apps/APP/completion', { input: { prompt: 'hi' } }, 'receipt'],
  ['dashscope', 'POST', '/api/v2/apps/agent/APP/compatible-mode/v1/responses', { input: 'hi' }, 'receipt'],
  ['portkey', 'POST', '/v1/prompts/pp-1/completions', { variables: {} }, 'receipt'],
  ['bedrock', 'POST', '/retrieveAndGenerate', { input: { text: 'hi' } }, 'receipt'],
  ['bedrock', 'POST', '/retrieveAndGenerateStream', { input: { text: 'hi' } }, 'receipt'],
  ['sagemaker', 'POST', '/endpoints/e/async-invocations', '', 'receipt'],
  ['fireworks', 'POST', '/v1/accounts/a/batchInferenceJobs', { inputDatasetId: 'd' }, 'receipt'],
  ['openai', 'POST', '/v1/threads/t/runs', { ...RUN, tools: [] }, 'passes'],
  ['azure', 'POST', '/api/projects/p/threads/t/runs', { ...RUN, tools: [] }, 'passes'],
  ...['/threads/t/runs', '/threads/t/runs/stream', '/threads/t/runs/wait', '/runs', '/runs/stream'].flatMap(
    (path): CallRow[] => [
      ['langgraph', 'POST', path, { ...RUN, tools: [] }, 'receipt'],
      ['langgraph', 'POST', path, RUN, 'receipt', OCTETS],
    ],
  ),
  ['langgraph', 'POST', '/runs/batch', [RUN], 'receipt', OCTETS],
  ['google', 'POST', RPC, 'x', 'refused', 'application/x-protobuf'],
  ['google', 'POST', RPC, BY_NUMBER, 'refused', 'application/json+protobuf'],
  ['google', 'POST', RPC, BY_NUMBER, 'refused'],
  ['google', 'POST', RPC.replace('$', '%24'), BY_NUMBER, 'refused'],
  ...['application/grpc-web+proto', 'application/protobuf', 'application/cbor', 'application/x-msgpack'].map(
    (type): CallRow => ['any', 'POST', '/any.Service/Method', 'x', 'refused', type],
  ),
]

test('no call reaches a model with tools of its own that nobody judged', async (t) => {
  assert.deepEqual(await wrongOutcomes(await modelScene(t), CALLS), [])
})
