/** What a write to the Kubernetes API is judged by, and the operation that a receipt for it must name. */
import { isNamed, knownKind } from './kinds.ts'
import type { ResourcePath } from './path.ts'
import type { KubernetesSection } from './settings.ts'
import type { Write } from './write.ts'

/** The definition that it changes, the contracts in the object, or a receipt alone. */
export type WriteBasis =
  | { readonly kind: 'crd' }
  | { readonly kind: 'contracts'; readonly needsReceipt: boolean }
  | { readonly kind: 'receipt' }

/** Null: the route does not judge it. A subresource (status, scale) holds no contract of the object. */
export function basisOf(
  path: ResourcePath,
  { receipts, contracts }: Pick<KubernetesSection, 'receipts' | 'contracts'>,
): WriteBasis | null {
  const isWhole = path.subresource === null
  if (isWhole && knownKind(path) === 'CustomResourceDefinition') return { kind: 'crd' }
  const needsReceipt = isNamed(receipts, path)
  if (isWhole && isNamed(contracts, path)) return { kind: 'contracts', needsReceipt }
  return needsReceipt ? { kind: 'receipt' } : null
}

/** What grants a credential, by the subresource. */
const OWN_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['token', 'token'],
  ['approval', 'approve'],
])

/**
 * A receipt for deploying an object must not authorize its deletion, a token in its name, or the certificate that it
 * requests. A definition is compared in any case, so its removal is a deployment.
 */
export function receiptOperation({ path, verb }: Pick<Write, 'path' | 'verb'>, basis: WriteBasis): string {
  const own = path.subresource === null ? undefined : OWN_OPERATIONS.get(path.subresource)
  if (own !== undefined) return own
  const isRemoval = verb === 'delete' || verb === 'deletecollection' || path.subresource === 'eviction'
  return isRemoval && basis.kind !== 'crd' ? 'delete' : 'deploy'
}

/** `target_id` of a receipt for one object. */
export function objectTarget(kind: string, namespace: string | null, name: string): string {
  return `k8s:${kind}:${namespace ?? ''}/${name}`
}
