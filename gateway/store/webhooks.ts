/**
 * Deliveries of the webhooks of source-control platforms, and the checks that they lead to. A delivery is a task in a queue: it
 * survives a restart, is taken once, and is carried out by one gateway at a time.
 */
import type { BindingRow } from './bindings.ts'

/** A task of one delivery. Times are milliseconds since the epoch. */
export interface WebhookDelivery {
  readonly platform: BindingRow['platform']
  /** Given by the platform. A delivery with the same id is the same one. */
  readonly deliveryId: string
  /** Of the body: the same body under another id is a replay. */
  readonly digest: string
  /** The pull request or merge group that it is about; tasks about one subject are carried out one after the other. */
  readonly subject: string
  /** JSON text; the receiver defines its form. */
  readonly task: string
  readonly receivedAt: number
}

export interface WebhookDeliveryRow extends WebhookDelivery {
  readonly attempts: number
}

interface WebhookResult {
  readonly at: number
  /** Null: the task is done. */
  readonly problem: string | null
  /** Time of the next try; null: there is none. */
  readonly nextAt: number | null
}

/** What is shown at a commit about one subject. */
export interface MergeCheck {
  readonly platform: BindingRow['platform']
  /** In lower case. */
  readonly repository: string
  readonly commit: string
  readonly subject: string
  readonly tenant: string
  /** The task that makes it anew. */
  readonly task: string
  /** Null: no decision was made. */
  readonly decisionId: string | null
  /** The request that it waits for; null: none. */
  readonly approvalId: string | null
  /** JSON text of the report. */
  readonly report: string
  /** Id of the check run at the platform; null: a status, found by its name. */
  readonly shown: string | null
  readonly at: number
}

export interface WebhookQueue {
  /** False: the delivery, or its body, is known. Tasks about the same subject that nobody has begun are replaced by it. */
  accept(delivery: WebhookDelivery): Promise<boolean>
  /** Claims due tasks until `until`, oldest first, one of each subject: no other gateway takes them before. */
  claim(now: number, until: number, limit: number): Promise<readonly WebhookDeliveryRow[]>
  complete(platform: WebhookDelivery['platform'], deliveryId: string, result: WebhookResult): Promise<void>
  /** Replaces the check of the same commit and subject. */
  saveCheck(check: MergeCheck): Promise<void>
  /** All at one commit. */
  checksAt(platform: MergeCheck['platform'], repository: string, commit: string): Promise<readonly MergeCheck[]>
  /** Removes the checks of a subject that is closed, and returns the commits that had one. */
  removeChecks(platform: MergeCheck['platform'], subject: string): Promise<readonly string[]>
  /** Puts a task in the queue for each check whose approval was granted, denied or has expired; each once. */
  queueDecided(now: number, limit: number): Promise<number>
  backlog(): Promise<WebhookBacklog>
  /** Removes deliveries that were done before this, and checks of that age. */
  forget(before: number): Promise<void>
}

export interface WebhookBacklog {
  readonly waiting: number
  /** Of the oldest that waits; null: none does. */
  readonly oldestAt: number | null
}
