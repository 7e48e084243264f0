/**
 * Calls of model providers: the tools that a request gives to the model are held against those pinned for the agent. Requests
 * without tools pass, as answers do, streamed or not.
 */
import type { Config } from '../../config/schema.ts'
import { GatewayError } from '../../errors.ts'
import type { Flow } from '../../flow/flow.ts'
import type {
  Action,
  Answer,
  AnswerWatcher,
  Call,
  CallHead,
  JudgedAction,
  Question,
  Recogniser,
  Refusal,
} from '../action.ts'
import { unpacked } from '../encoded-body.ts'
import { overridesMethod } from '../method-override.ts'
import { isRead } from '../request-line.ts'
import { agentOf } from './agent.ts'
import { OTHER, providerOf, takesTools, type Provider } from './provider.ts'
import { toolTableOf, type ToolTable } from './tool-table.ts'

export interface LlmDeps {
  readonly flow: Pick<Flow, 'readJson'>
  readonly config: () => Pick<Config, 'limits'>
}

export function createLlmRecogniser(deps: LlmDeps): Recogniser {
  return {
    needsBody: (head) => needsBody(head),
    async recognise(call) {
      const provider = providerOf(call)
      if (overridesMethod(call)) return refused(call, provider, 'its path or method can be read in two ways')
      if (isRead(call.method) || (call.body === null && provider !== null)) return passing(call, provider)
      if (provider === null) return refused(call, provider, 'its path or method can be read in two ways')
      const read = await bodyOf(call, deps)
      if (!read.ok)
        return takesTools(provider) || isJson(call) || looksLikeJson(call)
          ? refused(call, provider, read.why)
          : passing(call, provider)
      const table = toolTableOf(read.value)
      return table.kind === 'none' ? passing(call, provider) : judged(call, provider, table, read.value)
    },
  }
}

/** Uploads and media stream by, unless they go to where a model is called: some servers read JSON whatever it is called. */
function needsBody(head: CallHead): boolean {
  if (isRead(head.method)) return false
  const provider = providerOf(head)
  return provider === null || takesTools(provider) || !isMedia(head)
}

function isJson({ headers }: Pick<CallHead, 'headers'>): boolean {
  return /^[^;]*[/+]json\b/i.test(headers['content-type'] ?? 'application/json')
}

/** What is known to be no JSON; every other type, and none, may be read as such. */
function isMedia({ headers }: Pick<CallHead, 'headers'>): boolean {
  return /^\s*(?:multipart\/form-data|(?:audio|image|video)\/[\w.+-]+|application\/(?:octet-stream|pdf|zip|gzip))\s*(?:;|$)/i.test(
    headers['content-type'] ?? '',
  )
}

/** Text of another type that has no single reading as JSON, and may have one to a lenient server. */
function looksLikeJson({ body, headers }: Call): boolean {
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') return true
  return body !== null && /^[\s\0\p{Cc}\u00ef\u00bb\u00bf\u00fe\u00ff]*[[{/]/u.test(body.toString('latin1', 0, 1024))
}

/** Letters of another coding can be other JSON (UTF-7, UTF-16). */
function charsetProblem({ headers }: Pick<CallHead, 'headers'>): string | null {
  const charsets = (headers['content-type'] ?? '').match(/charset[^;]*/gi) ?? []
  const isPlain =
    charsets.length <= 1 && charsets.every((one) => /^charset\s*=\s*"?(?:utf-?8|us-ascii)"?\s*$/i.test(one))
  return isPlain ? null : 'the body is in other letters than UTF-8'
}

type FoundTable = Exclude<ToolTable, { readonly kind: 'none' }>

type ReadBody = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

async function bodyOf({ body, headers }: Call, { flow, config }: LlmDeps): Promise<ReadBody> {
  if (body === null || body.length === 0) return { ok: true, value: null }
  const charset = charsetProblem({ headers })
  if (charset !== null) return { ok: false, why: charset }
  const { limits } = config()
  const plain = await unpacked(body, headers['content-encoding'], limits.proxied_body)
  if (!plain.ok) return plain
  // A large body is handed over to a worker, and this one still has to be sent.
  const read = await flow.readJson(Uint8Array.from(plain.bytes))
  return read.ok
    ? { ok: true, value: read.value }
    : { ok: false, why: `the body has no single reading: ${read.problem.message}` }
}

function judged(call: Call, provider: Provider, table: FoundTable, body: unknown): Action {
  const agent = agentOf(call, body)
  return agent.ok ? new ToolTableAction(call, provider, table, agent.name) : refused(call, provider, agent.why)
}

/** The SDKs of OpenAI and Anthropic send what was answered 503 again, unless they are told that it would not help. */
const NO_RETRY = { 'X-Should-Retry': 'false' }

class ToolTableAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call
  readonly #provider: Provider
  readonly #table: FoundTable
  readonly #agent: string | null

  constructor(call: Call, provider: Provider, table: FoundTable, agent: string | null) {
    this.name = agent === null ? 'tools' : `tools of ${agent}`
    this.#call = call
    this.#provider = provider
    this.#table = table
    this.#agent = agent
  }

  async gather(): Promise<readonly Question[]> {
    if (this.#table.kind === 'unreadable')
      throw new GatewayError('PREFLIGHT_UNDECIDED', `The tools cannot be judged: ${this.#table.why}.`, {
        headers: NO_RETRY,
      })
    const { name } = this.#call.route
    const contract = this.#agent === null ? name : `${name}/${this.#agent}`
    const { offered } = this.#table
    const subject = { name: this.name, target: `${contract}/tools`, scope: null }
    return Promise.resolve([
      { subject, ground: { kind: 'contract', offered, isCovered: () => true, baseline: contract } },
    ])
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return this.#provider.refuse(refusal)
  }
}

function nameOf({ method, upstreamPath }: Call): string {
  return `${method} ${upstreamPath.split('?', 1)[0] ?? ''}`
}

function passing(call: Call, provider: Provider | null): Action {
  const refuse = (refusal: Refusal): Answer => (provider ?? OTHER).refuse(refusal)
  return { kind: 'pass', name: nameOf(call), isStanding: false, watch: () => null, refuse }
}

function refused(call: Call, provider: Provider | null, why: string): Action {
  const refusal: Refusal = {
    code: 'PREFLIGHT_STOP',
    message: `Preflight stopped this call: ${why}.`,
    correlationId: call.correlationId,
    envelope: null,
    subject: null,
  }
  const answer = (provider ?? OTHER).refuse(refusal)
  return {
    kind: 'refuse',
    name: nameOf(call),
    answer: { ...answer, headers: { ...answer.headers, 'Preflight-Action': 'STOP' } },
  }
}
