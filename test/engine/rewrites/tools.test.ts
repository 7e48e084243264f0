/** Tools of MCP servers and agents written in two ways that mean the same. Declarations of one tool in the forms of providers. */
import { checkRewrites, type Written } from './run.ts'

type Json = Readonly<Record<string, unknown>>

const SCHEMA = {
  type: 'object',
  properties: { q: { type: 'string', description: 'd' }, n: { type: 'integer' } },
  required: ['q'],
}
const written = (document: unknown): Written => ({ document })
const named = (more: Json): Json => ({ name: 'search', description: 'finds', ...more })
const OPENAI = { type: 'function', function: named({ parameters: SCHEMA }) }
const GEMINI = {
  type: 'OBJECT',
  properties: { q: { type: 'STRING', description: 'd' }, n: { type: 'INTEGER' } },
  required: ['q'],
}
const ANTHROPIC = named({ input_schema: SCHEMA })

const FORMS: readonly (readonly [what: string, document: unknown])[] = [
  ['OpenAI, responses', [{ type: 'function', strict: false, ...named({ parameters: SCHEMA }) }]],
  ['OpenAI, functions', { functions: [named({ parameters: SCHEMA })] }],
  ['a request of OpenAI', { model: 'm', messages: [], tools: [OPENAI] }],
  ['Anthropic', [ANTHROPIC]],
  ['Gemini', [{ functionDeclarations: [named({ parameters: GEMINI })] }]],
  ['Gemini with a JSON schema', { tools: [{ function_declarations: [named({ parametersJsonSchema: SCHEMA })] }] }],
  ['Bedrock', { toolConfig: { tools: [{ toolSpec: named({ inputSchema: { json: SCHEMA } }) }] } }],
  [
    'Cohere',
    [
      named({
        parameter_definitions: {
          q: { type: 'str', description: 'd', required: true },
          n: { type: 'int', required: false },
        },
      }),
    ],
  ],
  ['Vercel', { tools: { search: { description: 'finds', inputSchema: { jsonSchema: SCHEMA } } } }],
  ['LangChain', [named({ args_schema: SCHEMA })]],
  ['LangChain, serialized', [{ lc: 1, type: 'constructor', id: ['x'], kwargs: named({ schema: SCHEMA }) }]],
]

const CLOSED = { type: 'object', additionalProperties: false }
const alone = (member: string, schema: unknown): Json => named(schema === null ? {} : { [member]: schema })

/** Forms in which a function may state no parameters. */
const EMPTY: readonly (readonly [what: string, tool: (schema: unknown) => unknown])[] = [
  ['OpenAI, chat', (schema) => [{ type: 'function', function: alone('parameters', schema) }]],
  ['OpenAI, responses', (schema) => [{ type: 'function', ...alone('parameters', schema) }]],
  ['OpenAI, responses, with null', (schema) => [{ type: 'function', ...named({ parameters: schema }) }]],
  ['Gemini', (schema) => [{ functionDeclarations: [alone('parametersJsonSchema', schema)] }]],
]

checkRewrites('agent tools', 'agent_tools', [
  ...FORMS.map(([what, document]) => [`OpenAI, chat and ${what}`, written([OPENAI]), written(document)] as const),
  [
    'tools in another order',
    written([OPENAI, { type: 'function', function: { name: 'b' } }]),
    written([{ type: 'function', function: { name: 'b' } }, OPENAI]),
  ],
  [
    'no parameters, and an empty object',
    written([{ type: 'function', function: { name: 'b' } }]),
    written([{ type: 'function', function: { name: 'b', parameters: { type: 'object', properties: {} } } }]),
  ],
  ...EMPTY.flatMap(([what, tool]) =>
    [CLOSED, { ...CLOSED, properties: {} }, { ...CLOSED, required: [] }].map(
      (schema) =>
        [`${what}: no parameters, and a closed empty object`, written(tool(null)), written(tool(schema))] as const,
    ),
  ),
  [
    'a schema in place, and in $defs',
    written([OPENAI]),
    written([
      {
        type: 'function',
        function: named({
          parameters: {
            ...SCHEMA,
            properties: { ...SCHEMA.properties, n: { $ref: '#/$defs/N' } },
            $defs: { N: { type: 'integer' } },
          },
        }),
      },
    ]),
  ],
  ['settings at their defaults', written([ANTHROPIC]), written([{ ...ANTHROPIC, type: 'custom' }])],
])

const tool = (more: Json = {}): Json => ({ name: 'search', description: 'finds', inputSchema: SCHEMA, ...more })
const OTHER = { name: 'b', inputSchema: { type: 'object' } }
checkRewrites('MCP', 'mcp_manifest', [
  ['tools in another order', written({ tools: [tool(), OTHER] }), written({ tools: [OTHER, tool()] })],
  [
    'a list, and an answer',
    written({ tools: [tool()] }),
    written({ jsonrpc: '2.0', id: 1, result: { tools: [tool()] } }),
  ],
  [
    'annotations at their defaults',
    written({ tools: [tool()] }),
    written({
      tools: [
        tool({
          annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
        }),
      ],
    }),
  ],
  [
    'a schema in place, and in $defs',
    written({ tools: [tool()] }),
    written({
      tools: [
        tool({
          inputSchema: {
            ...SCHEMA,
            properties: { ...SCHEMA.properties, n: { $ref: '#/$defs/N' } },
            $defs: { N: { type: 'integer' } },
          },
        }),
      ],
    }),
  ],
  [
    'the dialect written out',
    written({ tools: [tool()] }),
    written({ tools: [tool({ inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...SCHEMA } })] }),
  ],
  [
    'required names in another order',
    written({ tools: [tool({ inputSchema: { ...SCHEMA, required: ['q', 'n'] } })] }),
    written({ tools: [tool({ inputSchema: { ...SCHEMA, required: ['n', 'q'] } })] }),
  ],
  [
    'task support at its default',
    written({ tools: [tool()] }),
    written({ tools: [tool({ execution: { taskSupport: 'forbidden' } })] }),
  ],
])
