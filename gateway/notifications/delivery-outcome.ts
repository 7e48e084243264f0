/** The outcome of one delivery, and of the HTTP request behind it. */
import type { DeliveryResult } from '../store/notifications.ts'

/** `problem` null: it arrived; else why not. */
export type DeliveryOutcome = Pick<DeliveryResult, 'problem' | 'reference'>

export interface PostedAnswer {
  readonly status: number
  readonly text: string
}
