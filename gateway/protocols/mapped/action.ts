/** A request that a rule of the route's map has judged, or let on only with a receipt. */
import { GatewayError } from '../../errors/errors.ts'
import type { CurrentContractDeps } from '../common/current-contract.ts'
import type { Json, RequestFacts, RequestExpression } from '../../../engine/internal.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { utf8Text } from '../../runtime/regular-file.ts'
import { targetProblem } from '../../routing/target.ts'
import { UpstreamRefusal, type JudgedAction, type ResourceCheck, type Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { askAsCaller, lookupFault } from '../common/caller-request.ts'
import { httpRefusal } from '../common/refusal.ts'
import type { CompiledEffect, CompiledResource, TextSource } from './rules.ts'
import { callName } from '../common/request-line.ts'

interface MatchedRule {
  /** Position in the map, for messages. */
  readonly index: number
  readonly effect: Extract<CompiledEffect, { readonly kind: 'judge' | 'receipt' }>
  readonly facts: RequestFacts
  /** With the path as many servers read it; null when that is no other one. */
  readonly loose: RequestFacts | null
}

/** Reads a document at an address of the configuration, with the files that it refers to. */
export type ContractReader = Pick<CurrentContractDeps, 'readSource'>

abstract class MappedRequest implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string

  constructor(call: CallHead) {
    this.name = callName(call)
  }

  abstract gather(): Promise<readonly ResourceCheck[]>

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return httpRefusal(refusal)
  }
}

/** No rule could be asked about it, so nobody can say what it is: undecided, as its route says of such calls. */
export class UnmappedRequest extends MappedRequest {
  readonly #reason: string

  constructor(call: CallHead, reason: string) {
    super(call)
    this.#reason = reason
  }

  gather(): Promise<readonly ResourceCheck[]> {
    return Promise.reject(
      new GatewayError('PREFLIGHT_UNDECIDED', `The gateway cannot determine what this request does: ${this.#reason}.`),
    )
  }
}

export class MatchedRequest extends MappedRequest {
  /** Its rule is about the request that asks for the switch. */
  readonly coversUpgrade = true
  readonly #call: Call
  readonly #matched: MatchedRule
  readonly #upstreams: Upstreams
  readonly #readSource: ContractReader['readSource']

  constructor(
    call: Call,
    matched: MatchedRule,
    { upstreams, readSource }: ContractReader & { readonly upstreams: Upstreams },
  ) {
    super(call)
    this.#call = call
    this.#matched = matched
    this.#upstreams = upstreams
    this.#readSource = readSource
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const { effect } = this.#matched
    const resource = this.#resource(effect.resource)
    if (effect.kind === 'receipt') return [{ resource, basis: { kind: 'receipt' } }]
    const before = await this.#text(effect.before, 'artifact.before')
    const after = await this.#text(effect.after, 'artifact.after')
    const artifact = { id: resource.target, type: effect.type, before, after }
    return [{ resource, basis: { kind: 'change_set', artifacts: [artifact], unreadable: [] } }]
  }

  #resource({ target, operation, places }: CompiledResource): JudgedResource {
    const value = this.#evaluate(target, 'target')
    if (typeof value !== 'string' || value === '' || value.length > MAX_TARGET)
      throw this.#fault('target', `it is not a text of 1 to ${MAX_TARGET} characters`)
    const place = Object.fromEntries(
      [...places].flatMap(([name, expression]) => {
        const evaluated = this.#evaluate(expression, name)
        if (evaluated === null || evaluated === '') return []
        if (typeof evaluated !== 'string' && typeof evaluated !== 'number') throw this.#fault(name, 'it is not a text')
        return [[name, String(evaluated)] as const]
      }),
    )
    return {
      name: `${this.name} ${value}`,
      target: value,
      scope: null,
      place,
      ...(operation === null ? {} : { operation }),
    }
  }

  async #text(source: TextSource, member: string): Promise<string> {
    if (source.kind === 'url') return this.#readSource({ url: source.url }, this.#call.route)
    const value = this.#evaluate(source.kind === 'value' ? source.value : source.path, member)
    if (source.kind === 'value') return textOf(value)
    if (typeof value !== 'string' || targetProblem(value) !== null) throw this.#fault(member, 'it is not a path')
    return this.#read(value, member)
  }

  /** As the caller, from where the call goes. */
  async #read(path: string, member: string): Promise<string> {
    try {
      const answer = await askAsCaller(this.#call, { method: 'GET', path, body: null, accept: '*/*' }, this.#upstreams)
      if (answer.status === 404) return ''
      if (answer.status === 401 || answer.status === 403) throw new UpstreamRefusal(answer.status, {})
      if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
      return utf8Text(answer.body)
    } catch (error) {
      if (error instanceof UpstreamRefusal) throw error
      throw this.#fault(member, `the upstream could not be asked for it: ${lookupFault(error)}`, error)
    }
  }

  #evaluate(expression: RequestExpression, member: string): Json {
    const { facts, loose } = this.#matched
    const value = expression.evaluate(facts)
    if (!value.ok) throw this.#fault(member, value.problem)
    const other = loose === null ? value : expression.evaluate(loose)
    if (other.ok && JSON.stringify(other.value) === JSON.stringify(value.value)) return value.value
    throw this.#fault(member, 'it is another one for servers that overlook empty segments or parameters of a path')
  }

  #fault(member: string, reason: string, cause?: unknown): GatewayError {
    const { route } = this.#call
    const message = `The gateway cannot determine what this request does: map[${this.#matched.index}].${member} of the route "${route.name}": ${reason}.`
    return new GatewayError('PREFLIGHT_UNDECIDED', message, { cause })
  }
}

const MAX_TARGET = 1000

function textOf(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
