/**
 * The tool formats of model providers and agent frameworks: one row for each form, with the place of the common parts.
 * The rows are tried in order, and a form excludes the rows below it.
 */
import { isRecord, type JsonRecord } from '../../schema/located.ts'

/** How a tool is called. The provider runs `hosted` tools and defines their arguments. */
export type ToolKind = 'function' | 'custom' | 'hosted'

export interface ToolForm {
  /** The name of the form in results. */
  readonly name: string
  readonly kind: ToolKind
  readonly isOf: (item: JsonRecord) => boolean
  /** Paths to the parts, as member names. The first path that leads to a value counts. */
  readonly parts: {
    readonly name: readonly (readonly string[])[]
    readonly description: readonly (readonly string[])[]
    readonly inputSchema: readonly (readonly string[])[]
    readonly outputSchema?: readonly (readonly string[])[]
    /** Only the properties of the arguments, without the object around them. */
    readonly arguments?: readonly (readonly string[])[]
    /** The arguments by name, each with its own `required` flag, in the types of the provider. */
    readonly definitions?: readonly (readonly string[])[]
    readonly strict?: readonly (readonly string[])[]
    readonly format?: readonly (readonly string[])[]
  }
  /** What the provider demands of the schema of a strict tool. It refuses a request with any other. */
  readonly strictSchema?: StrictSchema
  /** True if tools are strict unless they state that they are not. The provider then closes their objects itself. */
  readonly isStrictByDefault?: true
  /** True if schemas use Gemini's form of OpenAPI. */
  readonly isGemini?: true
  /** True if the tool itself is a schema. A document with a single such schema is read as a schema. */
  readonly isSchema?: true
  /** True if the item contains further tools, whose called names include its name. */
  readonly isNamespace?: true
}

/** Every provider demands that objects exclude further properties. */
export interface StrictSchema {
  /** True if an object has to require all of its properties, and the whole schema has to be a plain object. */
  readonly isOfRequired: boolean
  readonly refusedKeywords: ReadonlySet<string>
}

/** Structured Outputs of OpenAI, as its own library checks them before a request. */
const OPENAI_STRICT: StrictSchema = {
  isOfRequired: true,
  refusedKeywords: new Set(
    `allOf oneOf not if then else contains minContains maxContains prefixItems uniqueItems unevaluatedItems
    propertyNames patternProperties minProperties maxProperties unevaluatedProperties
    dependencies dependentRequired dependentSchemas`.split(/\s+/),
  ),
}

/** Structured outputs of Claude, also at Amazon Bedrock: no bounds of numbers, texts and lists. */
const CLAUDE_STRICT: StrictSchema = {
  isOfRequired: false,
  refusedKeywords: new Set(
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems'.split(' '),
  ),
}

const NAMED = { name: [['name']], description: [['description']] } as const

function isNonEmptyText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Types of JSON values: an object with one of them is a schema, not a provider's tool. */
const JSON_TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** How the Vercel AI SDK versions 5 and 6 mark tools that a provider runs. */
const VERCEL_HOSTED: ReadonlySet<unknown> = new Set(['provider-defined', 'provider'])

/** Arguments by name. A schema would state its object type instead. */
function areDefinitions(value: unknown): boolean {
  if (!isRecord(value)) return false
  const definitions = Object.values(value)
  return definitions.length > 0 && definitions.every((one) => isRecord(one) && isNonEmptyText(one['type']))
}

/** A tool as a member of a function object: OpenAI chat completions, and formats copied from it. */
const NESTED = { name: [['function', 'name']], description: [['function', 'description']] } as const

export const TOOL_FORMS: readonly ToolForm[] = [
  {
    name: 'openai-chat',
    kind: 'function',
    isOf: ({ type, function: callable }) =>
      (type === 'function' || type === undefined) && isRecord(callable) && isNonEmptyText(callable['name']),
    parts: { ...NESTED, inputSchema: [['function', 'parameters']], strict: [['function', 'strict']] },
    strictSchema: OPENAI_STRICT,
  },
  {
    name: 'openai-chat',
    kind: 'custom',
    isOf: ({ type, custom }) => type === 'custom' && isRecord(custom) && isNonEmptyText(custom['name']),
    parts: {
      name: [['custom', 'name']],
      description: [['custom', 'description']],
      inputSchema: [],
      format: [['custom', 'format']],
    },
  },
  {
    name: 'vercel',
    kind: 'function',
    isOf: ({ type, name, inputSchema }) => type === 'function' && isNonEmptyText(name) && isRecord(inputSchema),
    parts: { ...NAMED, inputSchema: [['inputSchema', 'jsonSchema'], ['inputSchema']], strict: [['strict']] },
  },
  {
    name: 'openai-responses',
    kind: 'function',
    isOf: ({ type, name }) => type === 'function' && isNonEmptyText(name),
    parts: { ...NAMED, inputSchema: [['parameters']], strict: [['strict']] },
    strictSchema: OPENAI_STRICT,
    isStrictByDefault: true,
  },
  {
    name: 'anthropic',
    kind: 'function',
    isOf: ({ name, input_schema: schema }) => isNonEmptyText(name) && isRecord(schema),
    parts: { ...NAMED, inputSchema: [['input_schema']], strict: [['strict']] },
    strictSchema: CLAUDE_STRICT,
  },
  {
    name: 'openai-responses',
    kind: 'custom',
    isOf: ({ type, name }) => type === 'custom' && isNonEmptyText(name),
    parts: { ...NAMED, inputSchema: [], format: [['format']] },
  },
  {
    // Functions in one namespace, which a model sees first.
    name: 'openai-responses',
    kind: 'hosted',
    isOf: ({ type, name, tools }) => type === 'namespace' && isNonEmptyText(name) && Array.isArray(tools),
    parts: { ...NAMED, inputSchema: [] },
    isNamespace: true,
  },
  {
    // Amazon Bedrock, Converse: each item of the list names its kind.
    name: 'bedrock',
    kind: 'function',
    isOf: ({ toolSpec }) => isRecord(toolSpec) && isNonEmptyText(toolSpec['name']),
    parts: {
      name: [['toolSpec', 'name']],
      description: [['toolSpec', 'description']],
      inputSchema: [
        ['toolSpec', 'inputSchema', 'json'],
        ['toolSpec', 'inputSchema'],
      ],
      strict: [['toolSpec', 'strict']],
    },
    strictSchema: CLAUDE_STRICT,
  },
  {
    name: 'bedrock',
    kind: 'hosted',
    isOf: ({ systemTool }) => isRecord(systemTool) && isNonEmptyText(systemTool['name']),
    parts: { name: [['systemTool', 'name']], description: [], inputSchema: [] },
  },
  {
    name: 'cohere',
    kind: 'function',
    isOf: ({ name, parameter_definitions: definitions }) => isNonEmptyText(name) && areDefinitions(definitions),
    parts: { ...NAMED, inputSchema: [], definitions: [['parameter_definitions']] },
  },
  {
    // The functions of an action group of Bedrock's agents.
    name: 'bedrock-agents',
    kind: 'function',
    isOf: ({ type, name, parameters }) => type === undefined && isNonEmptyText(name) && areDefinitions(parameters),
    parts: { ...NAMED, inputSchema: [], definitions: [['parameters']] },
  },
  {
    name: 'anthropic',
    kind: 'hosted',
    isOf: ({ type, name }) => isNonEmptyText(name) && typeof type === 'string' && /_\d{8}$/.test(type),
    parts: { name: [['name']], description: [], inputSchema: [] },
  },
  {
    name: 'anthropic',
    kind: 'hosted',
    isOf: ({ type, mcp_server_name: server }) => type === 'mcp_toolset' && isNonEmptyText(server),
    parts: { name: [['mcp_server_name']], description: [], inputSchema: [] },
  },
  {
    name: 'vercel',
    kind: 'hosted',
    isOf: ({ type, id, name }) => VERCEL_HOSTED.has(type) && isNonEmptyText(id) && isNonEmptyText(name),
    parts: { name: [['name']], description: [], inputSchema: [] },
  },
  {
    // As LangChain writes objects to JSON.
    name: 'langchain',
    kind: 'function',
    isOf: ({ lc, kwargs }) => lc === 1 && isRecord(kwargs) && isNonEmptyText(kwargs['name']),
    parts: {
      name: [['kwargs', 'name']],
      description: [['kwargs', 'description']],
      inputSchema: [
        ['kwargs', 'args_schema'],
        ['kwargs', 'schema'],
      ],
    },
  },
  {
    name: 'langchain',
    kind: 'function',
    isOf: ({ name, args_schema: argsSchema, schema, args }) =>
      isNonEmptyText(name) && (isRecord(argsSchema) || isRecord(schema) || isRecord(args)),
    parts: { ...NAMED, inputSchema: [['args_schema'], ['schema']], arguments: [['args']] },
  },
  {
    name: 'langchain',
    kind: 'function',
    isOf: ({ $schema, title, type, properties }) =>
      $schema === undefined && isNonEmptyText(title) && type === 'object' && isRecord(properties),
    parts: { name: [['title']], description: [['description']], inputSchema: [[]] },
    isSchema: true,
  },
  {
    name: 'openai-functions',
    kind: 'function',
    isOf: ({ type, name, parameters }) => type === undefined && isNonEmptyText(name) && isRecord(parameters),
    parts: { ...NAMED, inputSchema: [['parameters']] },
  },
  {
    name: 'openai-responses',
    kind: 'hosted',
    isOf: ({ type, name }) => isNonEmptyText(type) && name === undefined && !JSON_TYPES.has(type),
    parts: { name: [['server_label'], ['type']], description: [['server_description']], inputSchema: [] },
  },
]

/** An item of `functions` in a request, which may leave out its parameters: it takes none then. */
export const FUNCTION_FORM: ToolForm = {
  name: 'openai-functions',
  kind: 'function',
  isOf: ({ name, parameters, ...others }) =>
    isNonEmptyText(name) && (parameters ?? null) === null && Object.keys(others).every((one) => one === 'description'),
  parts: { ...NAMED, inputSchema: [['parameters']] },
}

/** A server in `mcp_servers` of a request. The name is that of the server. */
export const SERVER_FORM: ToolForm = {
  name: 'anthropic',
  kind: 'hosted',
  isOf: ({ name }) => isNonEmptyText(name),
  parts: { name: [], description: [], inputSchema: [] },
}

/** A declaration within Gemini's `functionDeclarations`. */
export const GEMINI_FORM: ToolForm = {
  name: 'gemini',
  kind: 'function',
  isOf: ({ name }) => isNonEmptyText(name),
  parts: {
    ...NAMED,
    inputSchema: [['parameters'], ['parametersJsonSchema'], ['parameters_json_schema']],
    outputSchema: [['response'], ['responseJsonSchema'], ['response_json_schema']],
  },
  isGemini: true,
}

/** A tool that Gemini runs itself: the name is that of the member, which holds its settings. */
export const GEMINI_HOSTED_FORM: ToolForm = {
  name: 'gemini',
  kind: 'hosted',
  isOf: () => true,
  parts: { name: [], description: [], inputSchema: [] },
  isGemini: true,
}

/** A member of the Vercel AI SDK's tool record. Its key is the name. */
export const VERCEL_MEMBER_FORM: ToolForm = {
  name: 'vercel',
  kind: 'function',
  isOf: ({ inputSchema, parameters }) => isRecord(inputSchema) || isRecord(parameters),
  parts: {
    name: [],
    description: [['description']],
    inputSchema: [['inputSchema', 'jsonSchema'], ['inputSchema'], ['parameters', 'jsonSchema'], ['parameters']],
    outputSchema: [['outputSchema', 'jsonSchema'], ['outputSchema']],
    strict: [['strict']],
  },
}

/** A member of that record that a provider runs. */
export const VERCEL_HOSTED_MEMBER_FORM: ToolForm = {
  name: 'vercel',
  kind: 'hosted',
  isOf: ({ type, id }) => VERCEL_HOSTED.has(type) && isNonEmptyText(id),
  parts: { name: [], description: [], inputSchema: [] },
}
