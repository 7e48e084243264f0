/** What a call to Argo CD does, through either of its two interfaces. */
import { digestJson } from '../../../engine/base.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { withContent } from '../common/request-digest.ts'

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
      /** What receipts for it name: the object, and all of the call but what a plain sync states. */
      readonly target: string
      /** The deployed revision, where the call names it. */
      readonly revision: string | null
    }
  | { readonly kind: 'unreadable'; readonly message: string }

export interface Application {
  readonly name: string
  /** Null: the server's own. */
  readonly namespace: string | null
}

/** What is done to an application. */
interface ApplicationWrite {
  readonly verb: string
  /** The part of the application or the call that a receipt names; empty for a sync and for a deletion of the whole. */
  readonly part: string
  /** Digest of what else the call says (request-digest.ts); null: nothing. */
  readonly content: string | null
  readonly revision?: string | null
}

/** A receipt for syncing an application must not authorize its deletion, nor that of a resource the one of the application. */
export function writeTo(
  { name, namespace }: Application,
  ownNamespace: string,
  { verb, part, content, revision = null }: ApplicationWrite,
): ArgocdCall {
  if (name === '') return unreadableArgocdCall('The call names no application.')
  const operation = verb.startsWith('delete') ? 'delete' : 'deploy'
  const object = `${namespace ?? ownNamespace}/${name}`
  const target = withContent(part === '' ? object : `${object}/${part}`, content)
  return { kind: 'write', verb, operation, object, target, revision }
}

/** Members of a sync that its receipt names by target and head, and the project, which only grants the right to it. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set([
  ...(['name', 'appNamespace', 'project', 'dryRun'] as const),
  ...(['revision', 'revisions', 'sourcePositions', 'manifests'] as const),
])

/** Whether a sync asks for more than to deploy a state: to prune, to force, or for some resources only. */
export function hasSyncOptions(request: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(request).some(([name, value]) => !PLAIN_MEMBERS.has(name) && isStated(name, value))
}

/** A member that is false, zero or empty is absent to Go. A strategy `apply` counts however empty: it leaves hooks out. */
function isStated(name: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  if (name === 'apply') return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0
  return Object.entries(value).some(([key, member]) => isStated(key, member))
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
