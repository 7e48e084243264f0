/** An AdmissionReview (admission.k8s.io/v1) as the API server sends it, read and checked; and its answer. */
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn, textIn } from '../json/unchecked-json.ts'
import type { KubernetesObject } from '../protocols/kubernetes/change.ts'
import type { ResourcePath } from '../protocols/kubernetes/path.ts'

type ReviewOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface ReviewRequest {
  readonly uid: string
  readonly operation: ReviewOperation
  readonly kind: string
  /** With the name that a target states: `PREFIX*` where the API server makes it. */
  readonly path: ResourcePath
  /** Null where the operation has none. */
  readonly object: KubernetesObject | null
  readonly oldObject: KubernetesObject | null
  readonly isDryRun: boolean
}

type ReadReview =
  | { readonly ok: true; readonly request: ReviewRequest }
  | { readonly ok: false; readonly problem: string }

/** The members of metav1.Status that the API server passes on to its client. */
export interface ReviewStatus {
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details?: unknown
}

export interface ReviewResponse {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: ReviewStatus
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
  readonly patchType?: 'JSONPatch'
  /** Base64 of a JSON patch (RFC 6902). */
  readonly patch?: string
}

const API_VERSION = 'admission.k8s.io/v1'
const OPERATIONS: readonly ReviewOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const UID = /^[A-Za-z0-9_.:-]{1,200}$/

export function readReview(value: unknown): ReadReview {
  if (!isJsonObject(value) || value['kind'] !== 'AdmissionReview' || value['apiVersion'] !== API_VERSION)
    return reviewProblem(`The body is not an AdmissionReview of ${API_VERSION}.`)
  const { request } = value
  if (!isJsonObject(request)) return reviewProblem('The review contains no request.')
  const { uid, operation: named, kind, resource, dryRun } = request
  const operation = OPERATIONS.find((known) => known === named)
  if (typeof uid !== 'string' || !UID.test(uid)) return reviewProblem('The request has no usable uid.')
  if (operation === undefined) return reviewProblem(`The operation ${JSON.stringify(named)} is not known.`)
  if (!isJsonObject(resource) || !isJsonObject(kind) || typeof kind['kind'] !== 'string' || kind['kind'] === '')
    return reviewProblem('The request names no resource and kind.')
  const object = objectOrNull(request['object'])
  const oldObject = objectOrNull(request['oldObject'])
  const place = objectIdentity(request, object ?? oldObject)
  if ('problem' in place) return reviewProblem(place.problem)
  const path: ResourcePath = {
    group: textIn(resource['group']) ?? '',
    version: textIn(resource['version']) ?? '',
    resource: textIn(resource['resource']) ?? '',
    subresource: (textIn(request['subResource']) ?? '') || null,
    ...place,
  }
  if (path.resource === '') return reviewProblem('The request names no resource.')
  const read = { uid, operation, kind: kind['kind'], path, object, oldObject, isDryRun: dryRun === true }
  return { ok: true, request: read }
}

export function reviewAnswer(response: ReviewResponse): object {
  return { apiVersion: API_VERSION, kind: 'AdmissionReview', response }
}

/** Name and namespace of the request; the object must not state others. */
function objectIdentity(
  request: Readonly<Record<string, unknown>>,
  object: KubernetesObject | null,
): Pick<ResourcePath, 'namespace' | 'name'> | { readonly problem: string } {
  const metadata = recordIn(object?.['metadata'])
  const named = textIn(request['name']) ?? ''
  const own = textIn(metadata['name']) ?? ''
  // The options of a connection or an eviction have no name of their own.
  if (named !== '' && own !== '' && own !== named)
    return { problem: `The request names ${named} and the object ${JSON.stringify(own)}.` }
  const prefix = textIn(metadata['generateName']) ?? ''
  const name = named !== '' ? named : prefix !== '' ? `${prefix}*` : own
  const namespace = (textIn(request['namespace']) ?? '') || null
  const ownNamespace = textIn(metadata['namespace']) ?? ''
  if (ownNamespace !== '' && namespace !== null && ownNamespace !== namespace)
    return { problem: `The request is for the namespace ${namespace} and the object for ${ownNamespace}.` }
  return { namespace, name: name === '' ? null : name }
}

function objectOrNull(value: unknown): KubernetesObject | null {
  return isJsonObject(value) ? value : null
}

function reviewProblem(text: string): ReadReview {
  return { ok: false, problem: text }
}
