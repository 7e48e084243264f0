/** What a call to Argo CD does, through either of its two interfaces. */

export type ArgocdCall =
  /** Reads, sign-ins and dry runs: nothing is changed. */
  | { readonly kind: 'read' }
  | {
      readonly kind: 'write'
      /** The verb in the ledger: `sync`, `rollback`. */
      readonly verb: string
      readonly operation: string
      /** `NAMESPACE/NAME` of an application, else the path that is called, from its slash. */
      readonly object: string
      /** The deployed revision, where the call names it. */
      readonly revision: string | null
    }
  | { readonly kind: 'unreadable'; readonly message: string }

export interface Application {
  readonly name: string
  /** Null: the server's own. */
  readonly namespace: string | null
}

/** A receipt for syncing an application must not authorize its deletion. */
export function writeTo(
  { name, namespace }: Application,
  ownNamespace: string,
  verb: string,
  revision: string | null = null,
): ArgocdCall {
  if (name === '') return unreadable('The call names no application.')
  const operation = verb.startsWith('delete') ? 'delete' : 'deploy'
  return { kind: 'write', verb, operation, object: `${namespace ?? ownNamespace}/${name}`, revision }
}

export function unreadable(message: string): ArgocdCall {
  return { kind: 'unreadable', message }
}

/** A text that counts as absent when empty, as in Argo CD. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** One revision, or those of all sources in their order. */
export function revisionOf(revision: unknown, revisions: unknown): string | null {
  const several = Array.isArray(revisions) ? revisions.filter((one) => typeof one === 'string') : []
  return several.length > 0 ? several.join(',') : textOrNull(revision)
}
