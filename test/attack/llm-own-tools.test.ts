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
