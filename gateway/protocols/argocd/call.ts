/** What a call to Argo CD does, whichever of its two interfaces it comes by. */

export type ArgocdCall =
  /** Reads, log-ins and rehearsals: nothing is changed. */
  | { readonly kind: 'read' }
  | {
      readonly kind: 'write'
      /** In words for the ledger: `sync`, `rollback`. */
      readonly verb: string
      readonly operation: string
      /** `NAMESPACE/NAME` of an application, else the path of what is called, from its slash. */
      readonly object: string
      /** What is put in effect, where the call says so. */
      readonly revision: string | null
    }
  | { readonly kind: 'unreadable'; readonly message: string }

export interface Application {
  readonly name: string
  /** Null: the server's own. */
  readonly namespace: string | null
}

/** A receipt that lets an application be synced must not let it be deleted. */
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

/** Names of texts that are absent when empty, as Argo CD takes them. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** One revision, or those of all sources in their order. */
export function revisionOf(revision: unknown, revisions: unknown): string | null {
  const several = Array.isArray(revisions) ? revisions.filter((one) => typeof one === 'string') : []
  return several.length > 0 ? several.join(',') : textOrNull(revision)
}
