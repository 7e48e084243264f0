/** AdmissionReviews as an API server sends them, and a client that sends them as one. */
import { request as httpsRequest } from 'node:https'

interface ReviewedObject {
  readonly apiVersion: string
  readonly kind: string
  /** Plural. */
  readonly resource: string
}

export interface ReviewMembers {
  readonly of: ReviewedObject
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly object?: object | null
  readonly oldObject?: object | null
  readonly name?: string
  readonly namespace?: string
  readonly subResource?: string
  readonly dryRun?: boolean
  readonly uid?: string
}

export const DEPLOYMENT: ReviewedObject = { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' }
export const CONFIG_MAP: ReviewedObject = { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' }
export const POD: ReviewedObject = { apiVersion: 'v1', kind: 'Pod', resource: 'pods' }
export const CRD: ReviewedObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
}

let sent = 0

export function admissionReview({ of, operation = 'CREATE', ...members }: ReviewMembers): object {
  const [version = '', group = ''] = of.apiVersion.split('/').toReversed()
  const { object = null, oldObject = null, name = '', namespace, subResource, dryRun = false, uid } = members
  sent += 1
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: uid ?? `705ab4f5-6393-11e8-b7cc-${String(sent).padStart(12, '0')}`,
      kind: { group, version, kind: of.kind },
      resource: { group, version, resource: of.resource },
      ...(subResource !== undefined && { subResource }),
      requestKind: { group, version, kind: of.kind },
      requestResource: { group, version, resource: of.resource },
      name,
      ...(namespace !== undefined && { namespace }),
      operation,
      userInfo: { username: 'alice', groups: ['system:authenticated'] },
      object,
      oldObject,
      dryRun,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  }
}

interface Answered {
  readonly status: number
  readonly body: unknown
}

/** @param ca PEM of the authority that certifies the webhook, as caBundle has it */
export function sendReview(
  url: string,
  ca: string,
  review: object | string,
  further: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const body = typeof review === 'string' ? review : JSON.stringify(review)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...further }
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, { method: 'POST', ca, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece) => (text += piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }))
      answer.on('error', reject)
    })
    request.on('error', reject).end(body)
  })
}
