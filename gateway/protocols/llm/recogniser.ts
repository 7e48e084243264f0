/**
 * Calls of model providers: the tools that a request gives to the model are compared with those pinned for the agent. A
 * call whose tools the provider stores needs a receipt. Requests without tools pass, and so do answers, streamed or
 * not.
 */
import { passingAction, stoppedAction } from '../common/refusal.ts'
import type { LlmRoute } from './settings.ts'
import type { LimitsConfig } from '../../settings/limits.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import { asClause } from '../../json/strict-json.ts'
import type { Action, JudgedAction, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { isJsonType } from '../../network/json-type.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'
import { unpacked } from '../../network/content-coding.ts'
import { hasBody, isRead, callName } from '../common/request-line.ts'
import { agentOf } from './agent.ts'
import { bodyParts, type BodyPart } from './body-parts.ts'
import { headerTools } from './headers.ts'
import { calledPath, isBinaryForm, OTHER, takesTools, type CalledPath, type ModelProvider } from './provider.ts'
import { REFERENCE_MEMBERS, storedToolsOf, type StoredTools } from './stored-tools.ts'
import { toolTableOf, type LlmTools } from './tool-table.ts'
import { overridesMethod } from '../common/method-override.ts'

interface LlmDeps {
  readonly flow: Pick<Flow, 'readJson'>
  readonly config: () => LimitsConfig
}

export function createLlmRecogniser(deps: LlmDeps): Recogniser<LlmRoute> {
  return {
    needsBody: (head) => needsBody(head),
    needsBodyFrom: (head, start) => !isRead(head.method) && MAY_BE_JSON.test(start.toString('latin1')),
    async recognise(call) {
      const called = calledPath(call)
      const provider = called?.provider ?? null
      if (overridesMethod(call)) return refused(call, provider, 'its path or method can be read in two ways')
      // It would stream by unread, and some servers read it whatever the method.
      if (isRead(call.method) && hasBody(call.received.headers))
        return refused(call, provider, `a ${call.method} has no body that could be judged`)
      if (isRead(call.method) || (call.body === null && called !== null)) return passing(call, provider)
      if (called === null) return refused(call, provider, 'its path or method can be read in two ways')
      if (isBinaryForm(call, called))
        return refused(call, provider, 'its body may hold tools in a form that is not read')
      const read = await bodyOf(call, deps)
      if (read.ok) return recogniseBody(call, called, read)
      const mayBeRead = called.provider !== OTHER || isJson(call) || looksLikeJson(call)
      // The header or the path alone may name what keeps the tools.
      return mayBeRead ? refused(call, provider, read.why) : recogniseBody(call, called, NO_BODY)
    },
  }
}

/**
 * Uploads and media are streamed, except to paths that call a model, and where their first bytes may be those of JSON: some
 * servers read it whatever its stated type.
 */
function needsBody(head: CallHead<LlmRoute>): boolean {
  if (isRead(head.method)) return false
  const called = calledPath(head)
  return called === null || takesTools(called) || !isMedia(head) || isCoded(head)
}

function isJson({ headers }: Pick<CallHead<LlmRoute>, 'headers'>): boolean {
  return isJsonType(headers['content-type'] ?? 'application/json')
}

function isCoded({ headers }: Pick<CallHead<LlmRoute>, 'headers'>): boolean {
  return headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity'
}

/** Blanks, marks of byte order and zeros of UTF-16 before a value or a comment; or nothing else that has come yet. */
const MAY_BE_JSON = /^[\s\0\u00ef\u00bb\u00bf\u00fe\u00ff]*(?:[[{"/]|$)/

/** Types that are not JSON by their name; every other type, or none, may be read as JSON. */
function isMedia({ headers }: Pick<CallHead<LlmRoute>, 'headers'>): boolean {
  return /^\s*(?:multipart\/form-data|(?:audio|image|video)\/[\w.+-]+|application\/(?:octet-stream|pdf|zip|gzip))\s*(?:;|$)/i.test(
    headers['content-type'] ?? '',
  )
}

/** Text of another type that has no single reading as JSON, and may have one to a lenient server. */
function looksLikeJson({ body, headers }: Call<LlmRoute>): boolean {
  if (isCoded({ headers })) return true
  return body !== null && /^[\s\0\p{Cc}\u00ef\u00bb\u00bf\u00fe\u00ff]*[[{/]/u.test(body.toString('latin1', 0, 1024))
}

interface ReadBody {
  readonly value: unknown
  /** Decoded. Empty: there is no body. */
  readonly bytes: Uint8Array
}

const NO_BODY: ReadBody = { value: null, bytes: new Uint8Array() }

type LlmBody = (ReadBody & { readonly ok: true }) | { readonly ok: false; readonly why: string }

async function bodyOf({ body, headers }: Call<LlmRoute>, { flow, config }: LlmDeps): Promise<LlmBody> {
  if (body === null || body.length === 0) return { ok: true, ...NO_BODY }
  if (!isUtf8Type(headers['content-type'])) return { ok: false, why: 'the body is in other letters than UTF-8' }
  const { limits } = config()
  const plain = await unpacked(body, headers['content-encoding'], limits.proxied_body)
  if (!plain.ok) return plain
  // A large body is handed over to a worker, and this one still has to be sent.
  const read = await flow.readJson(Uint8Array.from(plain.bytes))
  return read.ok
    ? { ok: true, value: read.value, bytes: plain.bytes }
    : { ok: false, why: `the body has no single reading: ${asClause(read.problem.message)}` }
}

function recogniseBody(call: Call<LlmRoute>, { provider, paths }: CalledPath, body: ReadBody): Action {
  const { agent_field: ownField, agent_header: ownHeader, stored_tools: handling } = call.route.llm
  const read = bodyParts(body.value, REFERENCE_MEMBERS)
  const named = headerTools(call, ownHeader)
  const parts = read.ok ? [...read.parts, ...named.parts] : []
  const table: LlmTools = read.ok ? tableOf(body, parts, named.parts) : { kind: 'unreadable', why: read.why }
  const stored =
    read.ok && handling !== 'pass'
      ? [...storedToolsOf({ name: callName(call), paths, parts, ownField }), ...named.stored]
      : []
  if (table.kind === 'none' && stored.length === 0) return passing(call, provider)
  const agent = agentOf(call, body.value)
  if (!agent.ok) return refused(call, provider, agent.why)
  const [kept] = stored
  // In observe mode nothing is refused; the route records what it would have stopped.
  if (kept !== undefined && handling === 'deny' && call.route.mode !== 'observe')
    return refused(call, provider, `${kept.name}: ${kept.because}, and this route lets none through (llm.stored_tools)`)
  return new ToolTableAction(call, { provider, table, stored, agent: agent.name })
}

/**
 * The tools of a call. Only a body that has some is read again for the digits of its numbers.
 * @param further parts that are not of the body
 */
function tableOf({ value, bytes }: ReadBody, parts: readonly BodyPart[], further: readonly BodyPart[]): LlmTools {
  const table = toolTableOf(parts)
  const written = table.kind === 'tools' ? withWrittenNumbers(new TextDecoder().decode(bytes), value) : value
  const read = written === value ? null : bodyParts(written, REFERENCE_MEMBERS)
  return read?.ok === true ? toolTableOf([...read.parts, ...further]) : table
}

/**
 * The SDKs of OpenAI and Anthropic repeat a request that was answered 503, unless a header says that this is useless.
 */
const NO_RETRY = { 'X-Should-Retry': 'false' }
/** Of a claim (docs/reference/receipts.md#claims). */
const MAX_TARGET = 200

function undecided(message: string): GatewayError {
  return new GatewayError('PREFLIGHT_UNDECIDED', message, { headers: NO_RETRY })
}

interface CalledTools {
  readonly provider: ModelProvider
  readonly table: LlmTools
  readonly stored: readonly StoredTools[]
  /** Null: the route itself. */
  readonly agent: string | null
}

class ToolTableAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call<LlmRoute>
  readonly #tools: CalledTools

  constructor(call: Call<LlmRoute>, tools: CalledTools) {
    this.name = tools.agent === null ? 'tools' : `tools of ${tools.agent}`
    this.#call = call
    this.#tools = tools
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const { table, stored, agent } = this.#tools
    if (table.kind === 'unreadable') throw undecided(`The tools cannot be judged: ${table.why}.`)
    const { name } = this.#call.route
    const contract = agent === null ? name : `${name}/${agent}`
    const receipts = stored.map((one) => this.#receiptQuestion(contract, one))
    if (table.kind === 'none') return Promise.resolve(receipts)
    const resource = { name: this.name, target: `${contract}/tools`, scope: null }
    const { offered } = table
    const basis = { kind: 'contract', offered, isCovered: () => true, baseline: contract } as const
    return Promise.resolve([{ resource, basis }, ...receipts])
  }

  #receiptQuestion(contract: string, { name, because }: StoredTools): ResourceCheck {
    const target = `${contract}/${name}`
    if (target.length > MAX_TARGET) throw undecided('The name of what keeps its tools is too long for a receipt.')
    return { resource: { name: `${name} (${because})`, target, scope: null }, basis: { kind: 'receipt' } }
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return this.#tools.provider.refuse(refusal)
  }
}

function passing(call: Call<LlmRoute>, provider: ModelProvider | null): Action {
  return passingAction(callName(call), (refusal) => (provider ?? OTHER).refuse(refusal))
}

function refused(call: Call<LlmRoute>, provider: ModelProvider | null, why: string): Action {
  const message = `Preflight stopped this call: ${why}.`
  return stoppedAction(call, { name: callName(call), message }, (refusal) => (provider ?? OTHER).refuse(refusal))
}
