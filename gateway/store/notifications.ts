/** What people are notified of: notices of events, and the deliveries of messages about them. */

/** What happened. The text of a message is made from the row that it is about. */
export const NOTICE_KINDS = [
  'approval.requested',
  'approval.granted',
  'approval.denied',
  'approval.expired',
  'approval.moot',
  'approval.reminder',
  'approval.delegated',
  'baseline.candidate',
  'break_glass.opened',
  'break_glass.closed',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** One event, written in the transaction that it is about: whichever process causes it, it is not lost. */
export interface Notice {
  readonly id: string
  readonly kind: NoticeKind
  /** The id of the request or exception, or the name of the baseline. */
  readonly subject: string
  readonly tenant: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A message to one channel. Messages about one subject are delivered in their order. */
export interface NotificationDelivery {
  readonly id: string
  readonly channel: string
  readonly kind: NoticeKind | 'test'
  readonly subject: string
  /** JSON text; the channel defines its form. */
  readonly payload: string
  readonly createdAt: number
}

export interface DeliveryRow extends NotificationDelivery {
  readonly attempts: number
  readonly nextAt: number
  readonly deliveredAt: number | null
  /** Set when it was given up. */
  readonly failedAt: number | null
  readonly problem: string | null
}

export interface ClaimedDelivery extends DeliveryRow {
  /** Where the channel shows the first message about the same subject; null: nowhere, or it cannot be found again. */
  readonly thread: string | null
}

export interface DeliveryResult {
  readonly at: number
  /** Null: it was delivered. */
  readonly problem: string | null
  /** Time of the next try; null: there is none. */
  readonly nextAt: number | null
  /** Where the channel shows the message now; null: the channel names no place, or the message is in a thread. */
  readonly reference: string | null
}

export interface Backlog {
  readonly channel: string
  readonly waiting: number
  /** Creation of the oldest message that waits. */
  readonly oldest: number
}

export interface Notifications {
  /** Oldest first. */
  notices(limit: number): Promise<readonly Notice[]>
  /** Puts the messages in the queue and removes the notices that they are about, or does neither. */
  enqueue(noticeIds: readonly string[], deliveries: readonly NotificationDelivery[]): Promise<void>
  /** Claims due messages until `until`: no other gateway delivers them before. */
  claim(now: number, until: number, limit: number): Promise<readonly ClaimedDelivery[]>
  complete(id: string, result: DeliveryResult): Promise<void>
  /** Newest first. */
  log(limit: number): Promise<readonly DeliveryRow[]>
  backlog(): Promise<readonly Backlog[]>
  /** Removes messages that were delivered or given up before this. */
  forget(before: number): Promise<void>
}
