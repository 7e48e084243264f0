/** What a call to Argo CD does, through either of its two interfaces. */
import { digestJson } from '../../../engine/base.ts'
import { sha256Hex } from '../../runtime/hash.ts'

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
  if (name === '') return unreadableArgocdCall('The call names no application.')
  const operation = verb.startsWith('delete') ? 'delete' : 'deploy'
  return { kind: 'write', verb, operation, object: `${namespace ?? ownNamespace}/${name}`, revision }
}

export function unreadableArgocdCall(message: string): ArgocdCall {
  return { kind: 'unreadable', message }
}

/** A text that counts as absent when empty, as in Argo CD. */
export function nonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** What a sync deploys: a revision for its one source, revisions for sources by position, or manifests of the caller. */
interface SyncRequest {
  readonly revision?: unknown
  readonly revisions?: unknown
  readonly sourcePositions?: unknown
  readonly manifests?: unknown
}

type DeployedState =
  | { readonly ok: true; readonly revision: string | null }
  | { readonly ok: false; readonly message: string }

/**
 * The text by which a receipt names what is deployed; null: the state that the application names itself. Revisions of
 * all sources in their order stand alone. Others have their position before them; Argo CD ignores one without a position.
 */
export function deployedState({ revision, revisions, sourcePositions, manifests }: SyncRequest): DeployedState {
  const one = nonEmptyText(revision)
  const several = listOrEmpty(revisions).map(String)
  // Of an application with one source Argo CD reads the first, of others the second.
  if (one !== null && several.length > 0)
    return { ok: false, message: 'The call states both "revision" and "revisions", and Argo CD reads one of them.' }
  // They are deployed in place of what the repository has.
  if (manifests !== undefined && manifests !== null) {
    const [, digest = ''] = digestJson(listOrEmpty(manifests), sha256Hex).split(':')
    return { ok: true, revision: `manifests:${digest}` }
  }
  if (several.length === 0) return { ok: true, revision: one }
  const positions = listOrEmpty(sourcePositions).map(String)
  const isWhole = several.length > 1 && several.every((_, index) => positions[index] === String(index + 1))
  const named = several.map((text, index) => `${positions[index] ?? '?'}:${text}`)
  return { ok: true, revision: (isWhole ? several : named).join(',') }
}

function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
