/** The actions for requests to the Kubernetes API: what passes, and what each write is judged by. */
import { recordIn } from '../../json/unchecked-json.ts'
import type {
  ResourceChecks,
  JudgedAction,
  PassingAction,
  PresentedReceipt,
  ResourceCheck,
  Refusal,
} from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { GatewayError } from '../../errors/errors.ts'
import { authoredText, contentDigest, contractChecks, type KubernetesObject, type Sniff } from './change.ts'
import type { Cluster } from './cluster.ts'
import { objectPath, resourceText, type ResourcePath } from './path.ts'
import { ClusterRefusal, writtenContent, discoveredKind, standingReceipts, statesOf } from './object-states.ts'
import { refusalStatus } from './status.ts'
import type { Write } from './write.ts'
import { receiptOperation, objectTarget, type WriteBasis } from './write-basis.ts'
import { watchWrittenObject, type WriteResult } from './written-object.ts'

export interface KubernetesDeps {
  readonly cluster: Cluster
  readonly sniff: Sniff
  /** Reports the result of a write whose outcome was known beforehand. */
  readonly onWritten: (call: Call, name: string, result: WriteResult) => void
}

/** Reads, reviews, dry runs, and requests that the route does not judge. */
export class PassingRequest implements PassingAction {
  readonly kind = 'pass'
  readonly name: string
  readonly isStanding: boolean
  readonly coversUpgrade: boolean

  /** @param coversUpgrade traffic after a switch of protocols does not change the cluster, or the route allows it */
  constructor(name: string, isStanding: boolean, coversUpgrade = false) {
    this.name = name
    this.isStanding = isStanding
    this.coversUpgrade = coversUpgrade
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return refusalStatus(refusal, null, null)
  }
}

/** The resource of a request. */
interface Named {
  /** Null: the cluster is asked for it. */
  readonly kind: string | null
  /** Path of the upstream, which the API stands under. */
  readonly base: string
  readonly path: ResourcePath
  /** Of the object in the target. */
  readonly object: string
  readonly verb: string
  readonly operation: string
}

abstract class JudgedRequest implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  protected readonly call: Call
  protected readonly deps: KubernetesDeps
  readonly #named: Named
  #kind: string | null
  #refusal: Answer | null = null

  constructor(call: Call, named: Named, deps: KubernetesDeps) {
    const { path, object, verb } = named
    this.name = `${verb} ${resourceText(path)} ${placed(path.namespace, object)}`
    this.call = call
    this.deps = deps
    this.#named = named
    this.#kind = named.kind
  }

  async gather(): Promise<ResourceChecks> {
    try {
      const { path, base } = this.#named
      this.#kind ??= await discoveredKind(this.call, path, base, this.deps.cluster)
      return await this.checks(this.#resource(this.#kind))
    } catch (error) {
      if (error instanceof ClusterRefusal) this.#refusal = error.answer
      throw error
    }
  }

  /**
   * @param given in what is written
   * @param isWhole nothing of the object as it stands is left by it; else its own annotations are looked at too, when neither
   * the request nor its header holds a receipt
   */
  protected async receiptCheck(
    resource: JudgedResource,
    given: readonly PresentedReceipt[],
    isWhole: boolean,
  ): Promise<ResourceCheck> {
    const isGiven = given.length > 0 || this.call.received.headers['preflight-receipt'] !== undefined
    const path = isWhole || isGiven ? null : objectPath(this.#named.path, this.#named.base)
    const receipts = path === null ? given : await standingReceipts(this.call, path, this.deps.cluster)
    return { resource, basis: { kind: 'receipt' }, receipts }
  }

  protected abstract checks(resource: JudgedResource): Promise<ResourceChecks>

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    // The API server's own words, where it was the API server that said no.
    if (this.#refusal !== null && refusal.envelope === null) return this.#refusal
    return refusalStatus(refusal, this.#named.path, this.#kind)
  }

  #resource(kind: string): JudgedResource {
    const { path, object, operation } = this.#named
    return { name: this.name, target: objectTarget(kind, path.namespace, object), scope: null, operation }
  }
}

function placed(namespace: string | null, object: string): string {
  return namespace === null ? object : `${namespace}/${object}`
}

/**
 * exec, attach, portforward, proxy: nothing is written that could be compared. Each is an operation of its own name.
 */
export class ConnectRequest extends JudgedRequest {
  readonly coversUpgrade = true

  constructor(call: Call, named: Pick<Named, 'path' | 'kind' | 'base'>, deps: KubernetesDeps) {
    const { path } = named
    super(call, { ...named, object: path.name ?? '*', verb: 'connect', operation: path.subresource ?? 'connect' }, deps)
  }

  protected async checks(resource: JudgedResource): Promise<readonly ResourceCheck[]> {
    return [await this.receiptCheck(resource, [], false)]
  }
}

interface WriteTerms extends Pick<Named, 'kind' | 'base'> {
  readonly write: Write
  readonly basis: WriteBasis
  /** A receipt must name the content of the object too. */
  readonly bindsContent: boolean
}

/** A receipt for it must name this content too. */
function boundResource(
  resource: JudgedResource,
  content: KubernetesObject | null,
  subresource: string | null,
): JudgedResource {
  return { ...resource, place: { head: contentDigest(content, subresource) } }
}

export class WriteRequest extends JudgedRequest {
  readonly #write: Write
  readonly #basis: WriteBasis
  readonly #bindsContent: boolean
  readonly #base: string
  #judged: KubernetesObject | null = null

  constructor(call: Call, { write, basis, kind, base, bindsContent }: WriteTerms, deps: KubernetesDeps) {
    const { path, name: object, verb } = write
    super(call, { path, object, verb, kind, base, operation: receiptOperation(write, basis) }, deps)
    this.#write = write
    this.#basis = basis
    this.#bindsContent = bindsContent
    this.#base = base
  }

  protected async checks(resource: JudgedResource): Promise<ResourceChecks> {
    const { receipts, verb, path } = this.#write
    const isWhole = path.subresource === null && (verb === 'create' || verb === 'update')
    if (this.#basis.kind === 'receipt' && !this.#bindsContent)
      return [await this.receiptCheck(resource, receipts, isWhole)]
    if (this.#basis.kind === 'receipt') {
      const content = await writtenContent(this.call, this.#write, this.#base, this.deps.cluster)
      return [await this.receiptCheck(boundResource(resource, content, path.subresource), receipts, isWhole)]
    }
    const { before, after } = await statesOf(this.call, this.#write, this.#base, this.deps.cluster)
    if (this.#bindsContent) resource = boundResource(resource, after ?? before, null)
    this.#requireNamed(after)
    this.#judged = after
    if (this.#basis.kind === 'crd') {
      const sides = { before: authoredText(before), after: authoredText(after) }
      const artifact = { id: resource.target, type: 'k8s_crd', ...sides } as const
      return [{ resource, basis: { kind: 'change_set', artifacts: [artifact], unreadable: [] }, receipts }]
    }
    const otherChange = this.#basis.needsReceipt ? () => this.receiptCheck(resource, receipts, isWhole) : null
    return contractChecks(resource, { before, after, receipts, otherChange, sniff: this.deps.sniff })
  }

  /** The API server must read the same object from the request as the one judged here. */
  #requireNamed(after: KubernetesObject | null): void {
    const { name } = this.#write
    const metadata = recordIn(after?.['metadata'])
    if (after === null || name.endsWith('*') || metadata['name'] === name) return
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `The API server takes this for a write to ${JSON.stringify(metadata['name'])}, and it names ${name}.`,
    )
  }

  override watch(): AnswerWatcher | null {
    // A name that the API server generates differs at each try.
    if (this.#judged === null || this.#write.name.endsWith('*')) return null
    return watchWrittenObject(this.#judged, (result) => this.deps.onWritten(this.call, this.name, result))
  }
}
