/** The actions for MCP requests: how each is judged, observed and, if it may not proceed, answered. */
import { recordIn } from '../../json/unchecked-json.ts'
import type { McpRoute } from './settings.ts'
import type { BaselineText, OfferedContract } from '../../baselines/baselines.ts'
import type { HeldAnswer, JudgedAction, PassingAction, Permit, ResourceCheck, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Subject } from '../../calls/subject.ts'
import type { Call } from '../../calls/call.ts'
import { after } from '../../runtime/awaiting.ts'
import { underOf } from '../common/contract-checks.ts'
import { firstId, RPC_ERROR, rpcAnswer, rpcError, type Message, type MessageId } from './json-rpc.ts'
import { createAnswerWatcher, wantedOf } from './answer.ts'
import { acceptsStream, createHeldAnswer } from './pending-call.ts'
import { itemNames } from './manifest-text.ts'
import type { McpAsker } from './gateway-requests.ts'
import type { EditChecks, McpEdits } from './edits.ts'
import type { ManifestNeed, McpManifests } from './manifests.ts'
import type { McpResults } from './results.ts'
import { isModern, judgedMethod, type McpSubject } from './judged-requests.ts'
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
    return createAnswerWatcher({ asker, manifests: this.#manifests, wanted: new Map() })
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
    return createAnswerWatcher({ asker: askerOf(this.#call, this.#messages), manifests: this.#manifests, wanted })
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
  readonly messages: readonly Message[]
  /** At least one. */
  readonly subjects: readonly McpSubject[]
  readonly isBatch: boolean
}

/** One or more requests that are judged, alone or among other messages of a batch. All go on, or none. */
export class JudgedMessagesAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #judged: JudgedMessages
  readonly #asker: McpAsker
  /** What the calls change in files, by the message they came with. */
  #edits: ReadonlyMap<McpSubject, EditChecks> | null = null
  /** The baseline that the calls are judged by. */
  #pinned: BaselineText | null = null

  constructor(judged: JudgedMessages) {
    this.#judged = judged
    this.#asker = askerOf(judged.call, judged.messages)
  }

  get name(): string {
    return this.#judged.subjects.map(({ name }) => name).join(', ')
  }

  gather(): readonly ResourceCheck[] | Promise<readonly ResourceCheck[]> {
    const { manifests, subjects } = this.#judged
    const listing = manifests.current(this.#asker, subjects.map(needOf))
    return after(listing, (offered) => this.#checks(offered))
  }

  #checks(offered: OfferedContract): readonly ResourceCheck[] | Promise<readonly ResourceCheck[]> {
    const { subjects, edits } = this.#judged
    return subjects.some((subject) => edits.mayChangeFiles(subject, this.#asker))
      ? this.#questionsWithEdits(offered)
      : subjects.map((subject) => this.#contractQuestion(subject, offered))
  }

  async #questionsWithEdits(offered: OfferedContract): Promise<readonly ResourceCheck[]> {
    const asked = new Map<McpSubject, EditChecks>()
    this.#edits = asked
    const checks: ResourceCheck[] = []
    for (const subject of this.#judged.subjects) {
      const edits = await this.#judged.edits.checksFor(subject, this.#asker, offered)
      asked.set(subject, edits)
      checks.push(this.#contractQuestion(subject, offered), ...edits.checks)
    }
    return checks
  }

  #contractQuestion(subject: McpSubject, offered: OfferedContract): ResourceCheck {
    const isCovered = (baseline: BaselineText): boolean => this.#isCovered(subject, offered, baseline)
    return { subject, basis: { kind: 'contract', offered, isCovered } }
  }

  /** Files are still what they were when they were judged. */
  confirm(): Promise<void> | undefined {
    return this.#edits === null ? undefined : this.#confirmEdits(this.#edits)
  }

  async #confirmEdits(edits: ReadonlyMap<McpSubject, EditChecks>): Promise<void> {
    for (const { confirm } of edits.values()) await confirm()
  }

  watch(permit: Permit | null): AnswerWatcher | null {
    const { call, manifests, messages } = this.#judged
    const onResult = call.route.validate === 'off' ? undefined : this.#checkResult(permit)
    const asked = permit?.isMonitored === true ? this.#asked() : undefined
    return createAnswerWatcher({ asker: this.#asker, manifests, wanted: wantedOf(messages), asked, onResult })
  }

  heldAnswer(): HeldAnswer | null {
    const { call, messages } = this.#judged
    const requests = messages.filter((message) => message.kind === 'request')
    if (requests.length === 0 || !acceptsStream(call.headers.accept)) return null
    return createHeldAnswer(requests)
  }

  refuse(refusal: Refusal): Answer {
    const { call, messages, isBatch } = this.#judged
    const answers = messages.flatMap((message) =>
      message.kind === 'request' ? [this.#answerTo(message, refusal)] : [],
    )
    if (answers.length === 0) return { status: 202, headers: {}, body: '' }
    return rpcAnswer(200, isBatch ? answers : answers[0], call.headers.accept)
  }

  #answerTo(message: Extract<Message, { readonly kind: 'request' }>, refusal: Refusal): unknown {
    const subject = this.#judged.subjects.find(({ id }) => id === message.id)
    const isCause = subject !== undefined && (refusal.subject === null || this.#isAbout(refusal.subject, subject))
    if (isCause && subject.method === 'tools/call') return stoppedToolResult(subject, refusal)
    const text = isCause ? refusal.message : 'Not forwarded: another call of the same batch may not proceed.'
    return rpcError(message.id, RPC_ERROR.notForwarded, text, refusalMembers(refusal))
  }

  #checkResult(permit: Permit | null): (id: MessageId, result: unknown) => void {
    const { call, results, subjects } = this.#judged
    return (id, result) => {
      const subject = subjects.find((one) => one.id === id && one.method === 'tools/call')
      if (subject === undefined || this.#pinned === null) return
      results.check({ call, tool: subject.item, result, pinned: this.#pinned }, underOf(permit, subject))
    }
  }

  #isCovered(subject: McpSubject, offered: BaselineText, baseline: BaselineText): boolean {
    this.#pinned = baseline
    return isCovered(subject, [offered, baseline])
  }

  /** Each thing that goes on, with the id of the message that asks for it. Notifications are not answered. */
  #asked(): ReadonlyMap<Subject, MessageId> {
    const asked = new Map<Subject, MessageId>()
    for (const subject of this.#judged.subjects) {
      if (subject.id === null) continue
      for (const one of [subject, ...this.#filesOf(subject)]) asked.set(one, subject.id)
    }
    return asked
  }

  #filesOf(subject: McpSubject): readonly Subject[] {
    return this.#edits?.get(subject)?.checks.map((check) => check.subject) ?? []
  }

  /** The message itself, or a file that it changes. */
  #isAbout({ target }: Subject, subject: McpSubject): boolean {
    return target === subject.target || this.#filesOf(subject).some((file) => file.target === target)
  }
}

function askerOf(call: Call<McpRoute>, messages: readonly Message[]): McpAsker {
  const first = messages.find((message) => message.kind !== 'response')
  const params = first?.params ?? {}
  const meta = params['_meta']
  return { call, meta: recordIn(meta), isModern: isModern(params) }
}

function needOf(subject: McpSubject): ManifestNeed {
  const { lists, mustBeListed } = judgedMethod(subject)
  return { lists, name: mustBeListed ? subject.item : null }
}

function isCovered(subject: McpSubject, sides: readonly BaselineText[]): boolean {
  const { mustBeListed, lists } = judgedMethod(subject)
  return !mustBeListed || sides.some((side) => lists.some((list) => itemNames(list, side).has(subject.item)))
}

/** A result, not a protocol error: the model sees it and can act on it. */
function stoppedToolResult({ id, params }: McpSubject, refusal: Refusal): unknown {
  return {
    jsonrpc: '2.0',
    id,
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
