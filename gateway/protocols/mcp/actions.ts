/** The actions for MCP requests: how each is judged, observed and, if it may not proceed, answered. */
import { recordIn } from '../../json/unchecked-json.ts'
import type { McpRoute } from './settings.ts'
import type { BaselineText, OfferedContract } from '../../baselines/baselines.ts'
import type { PendingAnswer, JudgedAction, PassingAction, Permit, ResourceCheck, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { GatewayError } from '../../errors/errors.ts'
import { after } from '../../runtime/awaiting.ts'
import { underOf } from '../common/contract-checks.ts'
import { firstId, RPC_ERROR, rpcAnswer, rpcError, type Message, type MessageId, type RpcRequest } from './json-rpc.ts'
import { createAnswerWatcher, SESSION, wantedOf, type Wanted } from './answer.ts'
import { acceptsStream, createPendingAnswer } from './pending-call.ts'
import { itemIn, itemNames } from './manifest-text.ts'
import { differingParam, paramHeaders } from './param-headers.ts'
import { AnsweredElsewhere, type McpAsker } from './gateway-requests.ts'
import type { PendingRequests } from './pending-requests.ts'
import type { EditChecks, McpEdits } from './edits.ts'
import type { ManifestNeed, McpManifests } from './manifests.ts'
import type { McpResults } from './results.ts'
import { isModern, judgedMethod, type JudgedMcpRequest } from './judged-requests.ts'
import { refusalMembers, refusalText } from '../common/refusal.ts'

/** GET (the server's own stream), DELETE (end of a session), OPTIONS and HEAD: nothing in them to judge. */
export class BodilessAction implements PassingAction {
  readonly kind = 'pass'
  readonly name: string
  readonly isStanding: boolean
  readonly #call: Call<McpRoute>
  readonly #manifests: McpManifests

  constructor(call: Call<McpRoute>, manifests: McpManifests) {
    this.name = call.method
    this.isStanding = call.method === 'GET'
    this.#call = call
    this.#manifests = manifests
    if (call.method === 'DELETE') manifests.forget(call)
  }

  watch(): AnswerWatcher | null {
    if (!this.isStanding) return null
    const asker = askerOf(this.#call, [])
    // The answer to a request may come here: on a stream that broke off and is resumed.
    const awaited = this.#manifests.awaitedSession(this.#call)
    const wanted: ReadonlyMap<MessageId, Wanted> = awaited === null ? new Map() : new Map([[awaited, SESSION]])
    return createAnswerWatcher({ asker, manifests: this.#manifests, wanted, isStanding: true })
  }

  refuse(refusal: Refusal): Answer {
    return rpcAnswer(200, rpcError(null, RPC_ERROR.notForwarded, refusal.message, refusalMembers(refusal)), undefined)
  }
}

/** Requests, notifications and responses of which none is judged. */
export class MessagesAction implements PassingAction {
  readonly kind = 'pass'
  readonly isStanding: boolean
  readonly name: string
  readonly #call: Call<McpRoute>
  readonly #manifests: McpManifests
  readonly #messages: readonly Message[]

  constructor(call: Call<McpRoute>, manifests: McpManifests, messages: readonly Message[]) {
    this.name = messages.map(messageName).join(', ')
    this.isStanding = messages.some(
      (message) => message.kind === 'request' && message.method === 'subscriptions/listen',
    )
    this.#call = call
    this.#manifests = manifests
    this.#messages = messages
  }

  watch(): AnswerWatcher | null {
    const wanted = wantedOf(this.#messages)
    const asker = askerOf(this.#call, this.#messages)
    const { isStanding } = this
    return createAnswerWatcher({ asker, manifests: this.#manifests, wanted, isStanding })
  }

  refuse(refusal: Refusal): Answer {
    return rpcAnswer(
      200,
      rpcError(firstId(this.#messages), RPC_ERROR.notForwarded, refusal.message, refusalMembers(refusal)),
      this.#call.headers.accept,
    )
  }
}

export interface JudgedMessages {
  readonly call: Call<McpRoute>
  readonly manifests: McpManifests
  readonly edits: McpEdits
  readonly results: McpResults
  readonly pending: PendingRequests
  readonly messages: readonly Message[]
  /** At least one. */
  readonly resources: readonly JudgedMcpRequest[]
  readonly isBatch: boolean
}

/** One or more requests that are judged, alone or among other messages of a batch. All go on, or none. */
export class JudgedMessagesAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #judged: JudgedMessages
  readonly #asker: McpAsker
  /** What the calls change in files, by the message they came with. */
  #edits: ReadonlyMap<JudgedMcpRequest, EditChecks> | null = null
  /** What the calls are judged by, and what the server had announced until then. */
  #judgedBy: { readonly offered: OfferedContract; readonly changes: object } | null = null
  /** The baseline that the calls are judged by. */
  #pinned: BaselineText | null = null
  /** Of a refusal: clients of the old transport read the answer to a POST only where it failed. */
  #refusalStatus = 200

  constructor(judged: JudgedMessages) {
    this.#judged = judged
    this.#asker = askerOf(judged.call, judged.messages)
  }

  get name(): string {
    return this.#judged.resources.map(({ name }) => name).join(', ')
  }

  gather(): readonly ResourceCheck[] | Promise<readonly ResourceCheck[]> {
    return after(this.#watched(this.#listing()), (offered) => {
      this.#judgedBy = { offered, changes: this.#changes() }
      return this.#checks(offered)
    })
  }

  #listing(): OfferedContract | Promise<OfferedContract> {
    const { manifests, resources } = this.#judged
    return manifests.current(this.#asker, resources.map(needOf))
  }

  #changes(): object {
    const { manifests, call } = this.#judged
    return manifests.changesOf(call.route.name)
  }

  #watched(listing: OfferedContract | Promise<OfferedContract>): OfferedContract | Promise<OfferedContract> {
    if (!(listing instanceof Promise)) return listing
    return listing.catch((error: unknown) => {
      if (error instanceof Error && error.cause instanceof AnsweredElsewhere) this.#refusalStatus = 503
      throw error
    })
  }

  #checks(offered: OfferedContract): readonly ResourceCheck[] | Promise<readonly ResourceCheck[]> {
    const { resources, edits } = this.#judged
    this.#checkCopies(offered)
    return resources.some((resource) => edits.mayChangeFiles(resource, this.#asker))
      ? this.#questionsWithEdits(offered)
      : resources.map((resource) => this.#contractQuestion(resource, offered))
  }

  /** Throws where a header repeats an argument of a tool as another one. */
  #checkCopies(offered: OfferedContract): void {
    const { call, resources } = this.#judged
    const sent = paramHeaders(call.headers)
    if (sent === null) return
    for (const { method, item, params } of resources) {
      if (method !== 'tools/call') continue
      const name = differingParam(sent, itemIn('tools', item, offered)?.['inputSchema'], params['arguments'])
      if (name === null) continue
      const message = `The Mcp-Param-${name} header and the argument of ${item} that it repeats differ.`
      throw new GatewayError('PREFLIGHT_UNDECIDED', message)
    }
  }

  async #questionsWithEdits(offered: OfferedContract): Promise<readonly ResourceCheck[]> {
    const asked = new Map<JudgedMcpRequest, EditChecks>()
    this.#edits = asked
    const checks: ResourceCheck[] = []
    const questions = { asked: 0 }
    for (const resource of this.#judged.resources) {
      const edits = await this.#judged.edits.checksFor(resource, this.#asker, offered, questions)
      asked.set(resource, edits)
      checks.push(this.#contractQuestion(resource, offered), ...edits.checks)
    }
    return checks
  }

  #contractQuestion(resource: JudgedMcpRequest, offered: OfferedContract): ResourceCheck {
    const isCovered = (baseline: BaselineText): boolean => this.#isCovered(resource, offered, baseline)
    return { resource, basis: { kind: 'contract', offered, isCovered } }
  }

  /** Files and lists are still what they were when the calls were judged. */
  confirm(): boolean | Promise<boolean> {
    return this.#edits === null ? this.#isStillOffered() : this.#confirmEdits(this.#edits)
  }

  async #confirmEdits(edits: ReadonlyMap<JudgedMcpRequest, EditChecks>): Promise<boolean> {
    for (const { confirm } of edits.values()) await confirm()
    return this.#isStillOffered()
  }

  /** A judgement may take seconds. A server that announces a change meanwhile is asked again: some announce one for nothing. */
  #isStillOffered(): boolean | Promise<boolean> {
    if (this.#judgedBy === null) return true
    const { offered, changes } = this.#judgedBy
    return this.#changes() === changes || after(this.#listing(), ({ digest }) => digest === offered.digest)
  }

  watch(permit: Permit | null): AnswerWatcher | null {
    const { call, manifests, messages } = this.#judged
    const onResult = call.route.validate === 'off' ? undefined : this.#checkResult(permit)
    const asked = permit?.isMonitored === true ? this.#asked() : undefined
    return createAnswerWatcher({ asker: this.#asker, manifests, wanted: wantedOf(messages), asked, onResult })
  }

  pendingAnswer(): PendingAnswer | null {
    const { call, messages } = this.#judged
    const requests = messages.filter((message) => message.kind === 'request')
    if (requests.length === 0 || !acceptsStream(call.headers.accept)) return null
    return createPendingAnswer(requests)
  }

  onCancelled(listener: () => void): () => void {
    const { call, pending, messages } = this.#judged
    const ids = messages.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
    return pending.add(call, ids, listener)
  }

  refuse(refusal: Refusal): Answer {
    const { call, messages, isBatch } = this.#judged
    const answers = messages.flatMap((message) =>
      message.kind === 'request' ? [this.#answerTo(message, refusal)] : [],
    )
    if (answers.length === 0) return { status: 202, headers: {}, body: '' }
    return rpcAnswer(this.#refusalStatus, isBatch ? answers : answers[0], call.headers.accept)
  }

  #answerTo(message: RpcRequest, refusal: Refusal): unknown {
    const resource = this.#judged.resources.find(({ id }) => id === message.id)
    const isCause = resource !== undefined && (refusal.resource === null || this.#isAbout(refusal.resource, resource))
    if (isCause && resource.method === 'tools/call')
      return asksForTask(resource) ? stoppedTask(message, refusal) : stoppedToolResult(message, refusal)
    const text = isCause ? refusal.message : 'Not forwarded: another call of the same batch may not proceed.'
    return rpcError(message.writtenId, RPC_ERROR.notForwarded, text, refusalMembers(refusal))
  }

  #checkResult(permit: Permit | null): (id: MessageId, result: unknown) => void {
    const { call, results, resources } = this.#judged
    return (id, result) => {
      const resource = resources.find((one) => one.id === id && one.method === 'tools/call')
      if (resource === undefined || this.#pinned === null) return
      results.check({ call, tool: resource.item, result, pinned: this.#pinned }, underOf(permit, resource))
    }
  }

  #isCovered(resource: JudgedMcpRequest, offered: BaselineText, baseline: BaselineText): boolean {
    this.#pinned = baseline
    return isCovered(resource, [offered, baseline])
  }

  /** Each thing that goes on, with the id of the message that asks for it. Notifications are not answered. */
  #asked(): ReadonlyMap<JudgedResource, MessageId> {
    const asked = new Map<JudgedResource, MessageId>()
    for (const resource of this.#judged.resources) {
      if (resource.id === null) continue
      for (const one of [resource, ...this.#filesOf(resource)]) asked.set(one, resource.id)
    }
    return asked
  }

  #filesOf(resource: JudgedMcpRequest): readonly JudgedResource[] {
    return this.#edits?.get(resource)?.checks.map((check) => check.resource) ?? []
  }

  /** The message itself, or a file that it changes. */
  #isAbout({ target }: JudgedResource, resource: JudgedMcpRequest): boolean {
    return target === resource.target || this.#filesOf(resource).some((file) => file.target === target)
  }
}

function askerOf(call: Call<McpRoute>, messages: readonly Message[]): McpAsker {
  const first = messages.find((message) => message.kind !== 'response')
  const params = first?.params ?? {}
  const meta = params['_meta']
  return { call, meta: recordIn(meta), isModern: isModern(params) }
}

function needOf(resource: JudgedMcpRequest): ManifestNeed {
  const { lists, mustBeListed } = judgedMethod(resource)
  return { lists, name: mustBeListed ? resource.item : null }
}

function isCovered(resource: JudgedMcpRequest, sides: readonly BaselineText[]): boolean {
  const { mustBeListed, lists } = judgedMethod(resource)
  return !mustBeListed || sides.some((side) => lists.some((list) => itemNames(list, side).has(resource.item)))
}

/** 2025-11-25: the answer is a task, which a result with content is not. */
function asksForTask({ params }: JudgedMcpRequest): boolean {
  return params['task'] !== undefined && !isModern(params)
}

function stoppedTask({ writtenId }: RpcRequest, refusal: Refusal): unknown {
  return rpcError(writtenId, RPC_ERROR.notForwarded, refusalText(refusal), refusalMembers(refusal))
}

/** A result, not a protocol error: the model sees it and can act on it. */
function stoppedToolResult({ writtenId, params }: RpcRequest, refusal: Refusal): unknown {
  return {
    jsonrpc: '2.0',
    id: writtenId,
    result: {
      ...(isModern(params) ? { resultType: 'complete' } : {}),
      isError: true,
      content: [{ type: 'text', text: refusalText(refusal) }],
      structuredContent: refusalMembers(refusal),
    },
  }
}

function messageName(message: Message): string {
  return message.kind === 'response' ? 'response' : message.method
}
