/** What the API listener is built from: everything with a life of its own is handed in, so that tests can hand in fakes. */
import type { Logger } from 'pino'
import type { KeySet } from '../../engine/index.ts'
import type { Flow } from '../flow/flow.ts'
import type { CurrentSettings } from '../settings.ts'
import type { Store } from '../store/store.ts'

/** A JWK Set as published (wire.md §2), receipts' keys only. */
export interface PublishedKeys {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

export interface ReceiptKeys {
  /** Keys by id, for verification here. */
  keySet(): KeySet
  /** The same keys as a JWK Set, for verification elsewhere. */
  published(): PublishedKeys
}

/** One execution event of a direct caller (wire.md §8), already checked against its schema. */
export interface ReportedEvent {
  readonly id: string
  readonly type: 'preflight.execution.started' | 'preflight.execution.finished'
  readonly time: string | null
  readonly correlationId: string
  readonly outcome: 'SUCCEEDED' | 'FAILED' | 'NOT_SENT' | 'UNKNOWN' | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Monitoring windows of direct callers; the proxy opens and closes its own. */
export interface MonitoringIntake {
  /** Opens the window of a CONTINUE_WITH_MONITORING decision; resolves when it is durable. */
  open(window: { readonly correlationId: string; readonly decisionId: string; readonly tenant: string }): Promise<void>
  /** False when the tenant has no open window with this correlation id. */
  report(tenant: string, event: ReportedEvent): Promise<boolean>
}

/** What a promotion came to: the new baseline's digest, or why there is none. */
export type Promotion =
  | { readonly ok: true; readonly digest: string }
  | { readonly ok: false; readonly reason: 'unknown_route' | 'no_candidate' | 'digest_mismatch' }

export interface BaselinePromotion {
  /** Makes the observed contract the baseline of the route, when its digest is the reviewed one (wire.md §9). */
  promote(request: { readonly route: string; readonly digest: string; readonly by: string }): Promise<Promotion>
}

export interface ApiDeps {
  readonly settings: CurrentSettings
  readonly store: Store
  readonly flow: Flow
  readonly keys: ReceiptKeys
  readonly monitoring: MonitoringIntake
  readonly baselines: BaselinePromotion
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Told after a receipt was revoked or consumed through the API, so that cached decisions of the road can be dropped. */
  readonly receiptChanged: (decisionId: string) => void
  /** Called once for every answered request: metrics. */
  readonly answered: (request: { readonly route: string; readonly status: number; readonly seconds: number }) => void
}
