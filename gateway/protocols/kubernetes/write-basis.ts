/** What a write to the Kubernetes API is judged by, and the operation that a receipt for it must name. */
import { isNamedResource, knownKind } from './kinds.ts'
import type { ResourcePath } from './path.ts'
import type { KubernetesSection } from './settings.ts'
import type { Write } from './write.ts'

/** The definition that it changes, the contracts in the object, or a receipt alone. */
export type WriteBasis =
  | { readonly kind: 'crd' }
  | { readonly kind: 'contracts'; readonly needsReceipt: boolean }
  | { readonly kind: 'receipt' }

/** The API server fills the first with a token of a service account, and accepts the second as a login. */
const TOKEN_SECRETS: ReadonlySet<unknown> = new Set([
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
])

/** True for a Secret that is a token of the cluster. @param type of the written object */
function isToken({ group, resource, subresource }: ResourcePath, type: unknown): boolean {
  return subresource === 'token' || (group === '' && resource === 'secrets' && TOKEN_SECRETS.has(type))
}

/** Null: the route does not judge it. A subresource (status, scale) holds no contract of the object. */
export function basisOf(
  path: ResourcePath,
  { receipts, contracts }: Pick<KubernetesSection, 'receipts' | 'contracts'>,
  type: unknown,
): WriteBasis | null {
  const isWhole = path.subresource === null
  if (isWhole && knownKind(path) === 'CustomResourceDefinition') return { kind: 'crd' }
  // A Secret of such a type is another way to the token of a service account.
  const needsReceipt =
    isNamedResource(receipts, path) || (isToken(path, type) && isNamedResource(receipts, SERVICE_ACCOUNTS))
  if (isWhole && isNamedResource(contracts, path)) return { kind: 'contracts', needsReceipt }
  return needsReceipt ? { kind: 'receipt' } : null
}

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' }

/**
 * A receipt for deploying an object must not authorize its deletion, a token in its name, or the certificate that it
 * requests. A definition is compared in any case, so its removal is a deployment.
 */
export function receiptOperation(
  { path, verb, type }: Pick<Write, 'path' | 'verb' | 'type'>,
  basis: WriteBasis,
): string {
  if (path.subresource === 'approval') return 'approve'
  const isRemoval = verb === 'delete' || verb === 'deletecollection' || path.subresource === 'eviction'
  if (!isRemoval && isToken(path, type)) return 'token'
  return isRemoval && basis.kind !== 'crd' ? 'delete' : 'deploy'
}

/** `target_id` of a receipt for one object. */
export function objectTarget(kind: string, namespace: string | null, name: string): string {
  return `k8s:${kind}:${namespace ?? ''}/${name}`
}
