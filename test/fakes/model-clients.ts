/** The SDKs of the model providers as their users write them: one question with tools, whole or streamed. */
import Anthropic from '@anthropic-ai/sdk'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type BedrockRuntimeClientConfig,
} from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'

export interface FunctionTool {
  readonly name: string
  readonly description: string
  /** Names of text parameters, all of them required. */
  readonly parameters: readonly string[]
}

export interface ModelClient {
  ask(tools: readonly FunctionTool[]): Promise<string>
  /** The texts as they come. */
  stream(tools: readonly FunctionTool[]): AsyncGenerator<string>
}

function schemaOf({ parameters }: FunctionTool) {
  const properties = Object.fromEntries(parameters.map((name) => [name, { type: 'string' }]))
  return { type: 'object' as const, properties, required: [...parameters] }
}

const question = { role: 'user', content: 'What is in the file?' } as const

const chatBody = (tools: readonly FunctionTool[]) => ({
  model: 'm',
  messages: [question],
  tools: tools.map((tool) => ({
    type: 'function' as const,
    function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) },
  })),
})

function chatCompletions(base: string): ModelClient {
  const client = new OpenAI({ apiKey: 'key', baseURL: `${base}/v1` })
  return {
    async ask(tools) {
      const { choices } = await client.chat.completions.create(chatBody(tools))
      return choices[0]?.message.content ?? ''
    },
    async *stream(tools) {
      const chunks = await client.chat.completions.create({ ...chatBody(tools), stream: true })
      for await (const { choices } of chunks) yield choices[0]?.delta.content ?? ''
    },
  }
}

const responsesBody = (tools: readonly FunctionTool[]) => ({
  model: 'm',
  input: question.content,
  tools: tools.map((tool) => ({
    type: 'function' as const,
    name: tool.name,
    description: tool.description,
    parameters: schemaOf(tool),
    strict: false,
  })),
})

function responses(base: string): ModelClient {
  const client = new OpenAI({ apiKey: 'key', baseURL: `${base}/v1` })
  return {
    async ask(tools) {
      return (await client.responses.create(responsesBody(tools))).output_text
    },
    async *stream(tools) {
      for await (const event of await client.responses.create({ ...responsesBody(tools), stream: true }))
        yield event.type === 'response.output_text.delta' ? event.delta : ''
    },
  }
}

const messagesBody = (tools: readonly FunctionTool[]) => ({
  model: 'm',
  max_tokens: 100,
  messages: [question],
  tools: tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: schemaOf(tool) })),
})

function anthropic(base: string): ModelClient {
  const client = new Anthropic({ apiKey: 'key', baseURL: base })
  return {
    async ask(tools) {
      const { content } = await client.messages.create(messagesBody(tools))
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    },
    async *stream(tools) {
      for await (const event of await client.messages.create({ ...messagesBody(tools), stream: true }))
        yield event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : ''
    },
  }
}

const contentsBody = (tools: readonly FunctionTool[]) => ({
  model: 'gemini-m',
  contents: question.content,
  config: {
    tools: [
      {
        functionDeclarations: tools.map((tool) => ({
          name: tool.name,
          description: tool.description,
          parametersJsonSchema: schemaOf(tool),
        })),
      },
    ],
  },
})

function gemini(base: string): ModelClient {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: base } })
  return {
    async ask(tools) {
      return (await client.models.generateContent(contentsBody(tools))).text ?? ''
    },
    async *stream(tools) {
      for await (const part of await client.models.generateContentStream(contentsBody(tools))) yield part.text ?? ''
    },
  }
}

function bedrock(base: string): ModelClient {
  return bedrockClient({ endpoint: base })
}

const converseBody = (tools: readonly FunctionTool[]) => ({
  modelId: 'm',
  messages: [{ role: 'user' as const, content: [{ text: question.content }] }],
  toolConfig: {
    tools: tools.map((tool) => ({
      toolSpec: {
        name: tool.name,
        description: tool.description,
        inputSchema: { json: schemaOf(tool) },
      },
    })),
  },
})

/** @param options of the client besides region and credentials */
export function bedrockClient(options: BedrockRuntimeClientConfig): ModelClient {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
  const client = new BedrockRuntimeClient({ region: 'us-east-1', credentials, ...options })
  return {
    async ask(tools) {
      const { output } = await client.send(new ConverseCommand(converseBody(tools)))
      return output?.message?.content?.map(({ text }) => text ?? '').join('') ?? ''
    },
    async *stream(tools) {
      const { stream = [] } = await client.send(new ConverseStreamCommand(converseBody(tools)))
      for await (const event of stream) yield event.contentBlockDelta?.delta?.text ?? ''
    },
  }
}

const ollamaBody = (tools: readonly FunctionTool[]) => ({
  model: 'm',
  messages: [question],
  tools: tools.map((tool) => ({
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: schemaOf(tool),
    },
  })),
})

function ollama(base: string): ModelClient {
  const client = new Ollama({ host: base })
  return {
    async ask(tools) {
      return (await client.chat(ollamaBody(tools))).message.content
    },
    async *stream(tools) {
      for await (const part of await client.chat({ ...ollamaBody(tools), stream: true })) yield part.message.content
    },
  }
}

/** Provider → its client for a base address. */
export const MODEL_CLIENTS = {
  'openai (chat completions)': chatCompletions,
  'openai (responses)': responses,
  '@anthropic-ai/sdk': anthropic,
  '@google/genai': gemini,
  '@aws-sdk/client-bedrock-runtime': bedrock,
  ollama,
} as const satisfies Readonly<Record<string, (base: string) => ModelClient>>
