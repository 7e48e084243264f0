/** What MCP requests become once recognised: how each is judged, watched and, if it may not proceed, answered. */
import type {
  Answer,
  AnswerWatcher,
  Call,
  HeldAnswer,
  JudgedAction,
  PassingAction,
  Question,
  Refusal,
  Subject,
} from './action.ts'
import { firstId, RPC_ERROR, rpcAnswer, rpcError, type Message, type MessageId } from './json-rpc.ts'
import { createAnswerWatcher } from './mcp-answer.ts'
import { acceptsStream, createHeldAnswer } from './mcp-held.ts'
import { toolNames } from './mcp-manifest-text.ts'
import type { McpManifests } from './mcp-manifests.ts'
import { refusalMembers, refusalText } from './refusal.ts'
import { isJsonObject } from './strict-json.ts'

/** The reserved member of `params._meta` by which a 2026-07-28 request names its protocol version. */
export const VERSION_CLAIM = 'io.modelcontextprotocol/protocolVersion'

export type ToolCall = Subject & { readonly id: MessageId | null; readonly tool: string; readonly isModern: boolean }

/** GET (the server's own stream), DELETE (end of a session), OPTIONS and HEAD: nothing in them to judge. */
export class BodilessAction implements PassingAction {
  readonly kind = 'pass'
  readonly name: string
  readonly isStanding: boolean
  readonly #call: Call
  readonly #manifests: McpManifests

  constructor(call: Call, manifests: McpManifests) {
    this.name = call.method
    this.isStanding = call.method === 'GET'
    this.#call = call
    this.#manifests = manifests
    if (call.method === 'DELETE') manifests.forget(call)
  }

  watch(): AnswerWatcher | null {
    if (!this.isStanding) return null
    return createAnswerWatcher({ call: this.#call, manifests: this.#manifests, lists: new Map(), wantsOutcome: false })
  }

  refuse(refusal: Refusal): Answer {
    return rpcAnswer(200, rpcError(null, RPC_ERROR.notForwarded, refusal.message, refusalMembers(refusal)), undefined)
  }
}

/** Requests, notifications and responses among which no tool is called. */
export class MessagesAction implements PassingAction {
  readonly kind = 'pass'
  readonly isStanding: boolean
  readonly name: string
  readonly #call: Call
  readonly #manifests: McpManifests
  readonly #messages: readonly Message[]

  constructor(call: Call, manifests: McpManifests, messages: readonly Message[]) {
    this.name = messages.map(nameOf).join(', ')
    this.isStanding = messages.some(
      (message) => message.kind === 'request' && message.method === 'subscriptions/listen',
    )
    this.#call = call
    this.#manifests = manifests
    this.#messages = messages
  }

  watch(): AnswerWatcher | null {
    const lists = listRequests(this.#messages)
    return createAnswerWatcher({ call: this.#call, manifests: this.#manifests, lists, wantsOutcome: false })
  }

  refuse(refusal: Refusal): Answer {
    return rpcAnswer(
      200,
      rpcError(firstId(this.#messages), RPC_ERROR.notForwarded, refusal.message, refusalMembers(refusal)),
      this.#call.headers.accept,
    )
  }
}

/** One or more tool calls, alone or among other messages of a batch. All go on, or none. */
export class ToolCallsAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #toolCalls: readonly ToolCall[]
  readonly #call: Call
  readonly #manifests: McpManifests
  readonly #messages: readonly Message[]
  readonly #isBatch: boolean

  constructor(
    call: Call,
    manifests: McpManifests,
    messages: readonly Message[],
    toolCalls: readonly ToolCall[],
    isBatch: boolean,
  ) {
    this.#toolCalls = toolCalls
    this.#call = call
    this.#manifests = manifests
    this.#messages = messages
    this.#isBatch = isBatch
  }

  get name(): string {
    return this.#toolCalls.map(({ name }) => name).join(', ')
  }

  async gather(): Promise<readonly Question[]> {
    const first = this.#messages.find((message) => message.kind !== 'response')
    const meta = first !== undefined && isJsonObject(first.params['_meta']) ? first.params['_meta'] : {}
    const asker = { call: this.#call, meta, isModern: VERSION_CLAIM in meta }
    const offered = await this.#manifests.current(
      asker,
      this.#toolCalls.map(({ tool }) => tool),
    )
    return this.#toolCalls.map((subject) => ({
      subject,
      ground: {
        kind: 'contract',
        offered,
        isCovered: (baseline) => toolNames(offered).has(subject.tool) || toolNames(baseline).has(subject.tool),
      },
    }))
  }

  watch(isMonitored: boolean): AnswerWatcher | null {
    const lists = listRequests(this.#messages)
    return createAnswerWatcher({ call: this.#call, manifests: this.#manifests, lists, wantsOutcome: isMonitored })
  }

  heldAnswer(): HeldAnswer | null {
    const requests = this.#messages.filter((message) => message.kind === 'request')
    if (requests.length === 0 || !acceptsStream(this.#call.headers.accept)) return null
    return createHeldAnswer(requests)
  }

  refuse(refusal: Refusal): Answer {
    const answers = this.#messages.flatMap((message) =>
      message.kind === 'request' ? [this.#answerTo(message, refusal)] : [],
    )
    if (answers.length === 0) return { status: 202, headers: {}, body: '' }
    return rpcAnswer(200, this.#isBatch ? answers : answers[0], this.#call.headers.accept)
  }

  #answerTo(message: Extract<Message, { readonly kind: 'request' }>, refusal: Refusal): unknown {
    const toolCall = this.#toolCalls.find(({ id }) => id === message.id)
    const isCause = refusal.subject === null || refusal.subject.target === toolCall?.target
    if (toolCall !== undefined && isCause) return stoppedToolResult(toolCall, refusal)
    return rpcError(
      message.id,
      RPC_ERROR.notForwarded,
      'Not forwarded: another call of the same batch may not proceed.',
      refusalMembers(refusal),
    )
  }
}

/** A result, not a protocol error: the model sees it and can act on it. */
function stoppedToolResult(toolCall: ToolCall, refusal: Refusal): unknown {
  return {
    jsonrpc: '2.0',
    id: toolCall.id,
    result: {
      ...(toolCall.isModern ? { resultType: 'complete' } : {}),
      isError: true,
      content: [{ type: 'text', text: refusalText(refusal) }],
      structuredContent: refusalMembers(refusal),
    },
  }
}

/** Ids of the `tools/list` requests, each with its cursor (null: the first page). */
function listRequests(messages: readonly Message[]): ReadonlyMap<MessageId, string | null> {
  const lists = new Map<MessageId, string | null>()
  for (const message of messages) {
    if (message.kind !== 'request' || message.method !== 'tools/list') continue
    const cursor = message.params['cursor']
    lists.set(message.id, typeof cursor === 'string' ? cursor : null)
  }
  return lists
}

function nameOf(message: Message): string {
  return message.kind === 'response' ? 'response' : message.method
}
