/**
 * npm registries. Publications and moves of dist-tags are judged by the contracts that they change for those who
 * install. Removals, deprecations and changes of owners need a receipt or follow the route's rule. Reads and sign-ins
 * pass, and nothing unknown does.
 */
import { passingAction, stoppedAction } from '../common/refusal.ts'
import type { NpmRoute } from './settings.ts'
import type { ScmConfig } from '../../scm/settings.ts'
import type { Flow } from '../../flow/flow.ts'
import { asClause } from '../../json/strict-json.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { type ContractTexts, derivationTerms } from '../../scm/selector.ts'
import type { Action, JudgedAction, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Call } from '../../calls/call.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { overridesMethod } from '../common/method-override.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { requestDigest } from '../common/request-digest.ts'
import { callName } from '../common/request-line.ts'
import { unread } from './document.ts'
import { DeniedWrite, checksOf, type NpmScene, type NpmWrite } from './checks.ts'
import { npmRefusal } from './refusal.ts'
import { createRegistryClient } from './registry.ts'
import { readNpmRequest, type NpmRequest } from './request.ts'

interface NpmDeps {
  readonly upstreams: Upstreams
  readonly flow: ContractTexts & Pick<Flow, 'readJson'>
  readonly config: () => ScmConfig
}

const WITH_BODY: ReadonlySet<NpmRequest['kind']> = new Set(['document', 'stage', 'tag', 'tags', 'owners'])

export function createNpmRecogniser(deps: NpmDeps): Recogniser<NpmRoute> {
  return {
    needsBody: (head) => WITH_BODY.has(readNpmRequest(head).kind),
    renderFault: (fault) => npmRefusal({ ...fault, envelope: null, resource: null }),
    recognise(call) {
      const request = readNpmRequest(call)
      if (overridesMethod(call)) return refusedNpmCall(call, 'the method is overridden, so it can be read in two ways.')
      if (request.kind === 'pass') return passingAction(callName(call), npmRefusal)
      if (request.kind === 'unknown') return refusedNpmCall(call, `${request.why}: ${callName(call)}.`)
      const { 'content-encoding': encoding = 'identity' } = call.headers
      if (encoding !== 'identity') return refusedNpmCall(call, 'its body is encoded; send it without Content-Encoding.')
      if (!isUtf8Type(call.headers['content-type']))
        return refusedNpmCall(call, 'its body is in another charset than UTF-8.')
      return recogniseNpmWrite(call, request, deps)
    },
  }
}

/** The rules of the route apply only once the request is read; the pipeline reports a failure of reading. */
async function recogniseNpmWrite(call: Call<NpmRoute>, request: NpmWrite, deps: NpmDeps): Promise<Action> {
  const look = (): Promise<readonly ResourceCheck[]> =>
    checksOf(request, () => publishedDocument(call, deps), sceneOf(call, deps))
  const [first] = await Promise.allSettled([look()])
  if (first.status === 'rejected' && first.reason instanceof DeniedWrite)
    return refusedNpmCall(call, first.reason.message)
  if (first.status === 'fulfilled' && first.value.length === 0) return passingAction(callName(call), npmRefusal)
  return new NpmAction(callName(call), first, look)
}

class NpmAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  /** Result of the first look, which recognised the request; a pending call looks again. */
  #first: PromiseSettledResult<readonly ResourceCheck[]> | null
  readonly #look: () => Promise<readonly ResourceCheck[]>

  constructor(
    name: string,
    first: PromiseSettledResult<readonly ResourceCheck[]>,
    look: () => Promise<readonly ResourceCheck[]>,
  ) {
    this.name = name
    this.#first = first
    this.#look = look
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const first = this.#first
    this.#first = null
    if (first === null) return this.#look()
    if (first.status === 'rejected') throw first.reason
    return first.value
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return npmRefusal(refusal)
  }
}

function sceneOf(call: Call<NpmRoute>, { upstreams, flow, config }: NpmDeps): NpmScene {
  const { scm, limits } = config()
  const maxBytes = Math.max(limits.artifact_side, limits.proxied_body)
  return {
    rules: call.route.npm,
    registry: createRegistryClient(call, { upstreams, readJson: (bytes) => flow.readJson(bytes, 'answer'), maxBytes }),
    terms: derivationTerms({ scm, limits }, flow),
    requestDigest: () => sha256Hex(`${call.method} ${requestDigest(call) ?? ''}`),
  }
}

async function publishedDocument({ body }: Call<NpmRoute>, { flow }: NpmDeps): Promise<unknown> {
  // A large body is handed over to a worker, and this one still has to be sent.
  const read = await flow.readJson(Uint8Array.from(body ?? []))
  if (!read.ok) throw unread(asClause(read.problem.message))
  return read.value
}

function refusedNpmCall(call: Call<NpmRoute>, why: string): Action {
  const message = `Preflight stopped this request: ${why}`
  return stoppedAction(call, { name: callName(call), message, why }, npmRefusal)
}
