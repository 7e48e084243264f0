/**
 * Argo CD: reads and dry runs pass; a call that would change an application, or anything else of the server, needs a
 * receipt.
 */
import type { ArgocdRoute } from './settings.ts'
import type { Action, JudgedAction, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { httpRefusal, jsonAnswer } from '../common/refusal.ts'
import type { ArgocdCall } from './call.ts'
import { grpcMethod, grpcStatus, isArgocdGrpc, isReadingMethod, readGrpcCall } from './grpc.ts'
import { readRestCall } from './rest.ts'
import { isRead, pathOf } from '../common/request-line.ts'

export function createArgocdRecogniser(): Recogniser<ArgocdRoute> {
  return {
    needsBody(head) {
      const named = grpcMethod(head, pathBehindRoot(head))
      return named === null ? !isRead(head.method) : !isReadingMethod(named)
    },
    recognise: recogniseArgocd,
  }
}

function recogniseArgocd(call: Call<ArgocdRoute>): Action {
  const path = pathBehindRoot(call)
  const isGrpcCall = isArgocdGrpc(call)
  const { namespace } = call.route.argocd
  const read = isGrpcCall ? readGrpcCall(call, path, namespace) : readRestCall(call, path, namespace)
  const name = `${call.method} ${path}`
  if (read.kind === 'write') return new WriteAction(call, read)
  const inForm = (answer: Answer): Answer => (isGrpcCall ? grpcAnswer(call, answer) : answer)
  if (read.kind === 'read') {
    return {
      kind: 'pass',
      name,
      isStanding: isStream(path),
      watch: () => null,
      refuse: (refusal) => inForm(httpRefusal(refusal)),
    }
  }
  const members = { error: 'INVALID_INPUT', message: read.message, correlation_id: call.correlationId }
  return { kind: 'refuse', name, answer: inForm(jsonAnswer(400, members)) }
}

/** The path behind the root path of the server (`--rootpath`). */
function pathBehindRoot(call: CallHead<ArgocdRoute>): string {
  const path = pathOf(call)
  const { route } = call
  const base = route.upstream === undefined ? '' : new URL(route.upstream).pathname.replace(/\/$/, '')
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path
}

function isStream(path: string): boolean {
  return path.startsWith('/api/v1/stream/') || /\/Watch\w*$/.test(path)
}

class WriteAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call<ArgocdRoute>
  readonly #write: Extract<ArgocdCall, { readonly kind: 'write' }>

  constructor(call: Call<ArgocdRoute>, write: Extract<ArgocdCall, { readonly kind: 'write' }>) {
    this.name = `${write.verb} ${write.object}`
    this.#call = call
    this.#write = write
  }

  gather(): Promise<readonly ResourceCheck[]> {
    const { target, operation, revision } = this.#write
    const place = revision === null ? {} : { place: { head: revision } }
    const resource: JudgedResource = { name: this.name, target: `argocd:${target}`, scope: null, operation, ...place }
    // What a call without a revision deploys is not known: a receipt for one revision is not for it.
    return Promise.resolve([{ resource, basis: { kind: 'receipt', bound: ['head'] } }])
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    const answer = httpRefusal(refusal)
    return isArgocdGrpc(this.#call) ? grpcAnswer(this.#call, answer, refusal.message) : answer
  }
}

/** Trailers-Only: the answer consists of its head, as gRPC and gRPC-Web both allow. */
function grpcAnswer({ headers, correlationId }: Call<ArgocdRoute>, { status, body }: Answer, message?: string): Answer {
  const document: unknown = message ?? JSON.parse(String(body))
  const text = typeof document === 'string' ? document : messageOfAnswer(document)
  return {
    status: 200,
    headers: {
      'content-type': headers['content-type'] ?? 'application/grpc-web+proto',
      'grpc-status': String(grpcStatus(status)),
      'grpc-message': encodeURIComponent(`${text} (correlation id ${correlationId})`).replaceAll('%20', ' '),
    },
    body: '',
  }
}

function messageOfAnswer(value: unknown): string {
  return typeof value === 'object' && value !== null && 'message' in value
    ? String(value.message)
    : 'The call was not forwarded.'
}
