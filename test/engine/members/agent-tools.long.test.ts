/** The members of a tool in the forms of the providers: what the change of each one is at the worst. */
import { checkMembers } from './run.ts'

const S = {
  type: 'object',
  required: ['q'],
  properties: { q: { type: 'string', description: 'd' } },
  additionalProperties: false,
}

checkMembers('Agent tools', {
  type: 'agent_tools',
  grammar: `
request: tools=tool[]
tool: type name description strict parameters input_schema function=function custom=custom format cache_control input_examples toolSpec=spec parameter_definitions defer_loading allowed_callers max_uses server_label server_url allowed_tools require_approval server_description headers user_location allowed_domains functionDeclarations=declaration[] googleSearch args_schema metadata tags return_direct
function: name description parameters strict
custom: name description format
spec: name description inputSchema strict
declaration: name description parameters response behavior
`,
  document: {
    tools: [
      { type: 'function', function: { name: 'chat', description: 'd', parameters: S, strict: false } },
      {
        type: 'custom',
        custom: {
          name: 'custom',
          description: 'd',
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'a' } },
        },
      },
      { type: 'function', name: 'responses', description: 'd', parameters: S, strict: true },
      { type: 'custom', name: 'own', description: 'd', format: { type: 'text' } },
      {
        name: 'anthropic',
        description: 'd',
        input_schema: S,
        strict: true,
        cache_control: { type: 'ephemeral' },
        input_examples: [{ q: 'a' }],
        defer_loading: true,
        allowed_callers: ['code_execution_20250825'],
      },
      {
        type: 'web_search_20250305',
        name: 'web',
        max_uses: 3,
        user_location: { type: 'approximate', city: 'a' },
        allowed_domains: ['a.example'],
      },
      {
        type: 'mcp',
        server_label: 'l',
        server_url: 'https://m.example',
        allowed_tools: ['a', 'b'],
        require_approval: 'always',
        server_description: 'd',
        headers: { a: 'b' },
      },
      { toolSpec: { name: 'bedrock', description: 'd', inputSchema: { json: S }, strict: true } },
      {
        name: 'cohere',
        description: 'd',
        parameter_definitions: { q: { type: 'str', description: 'd', required: true } },
      },
      {
        functionDeclarations: [
          {
            name: 'gemini',
            description: 'd',
            parameters: { type: 'OBJECT', properties: { q: { type: 'STRING' } } },
            response: { type: 'OBJECT', properties: { r: { type: 'STRING' } } },
            behavior: 'NON_BLOCKING',
          },
        ],
        googleSearch: { a: {} },
      },
      {
        name: 'langchain',
        description: 'd',
        args_schema: S,
        metadata: { a: 1 },
        tags: ['a', 'b'],
        return_direct: true,
      },
      { name: 'legacy', description: 'd', parameters: S },
    ],
  },
  silent: {
    'tool.cache_control': 'Providers cache what they read. The tool stays the same.',
    'tool.metadata': 'It is for traces. Models do not get it.',
    'tool.tags': 'They are for traces. Models do not get them.',
  },
  harmless: {},
})
