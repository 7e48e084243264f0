/** Answers to a call: one of the gateway, and the reader of one of an upstream. */
import type { JudgedResource } from './judged-resource.ts'

/** An answer of the gateway. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes where the protocol frames its messages. */
  readonly body: string | Buffer
}

/** Reads an upstream's answer as it passes; never changes or delays it. */
export interface AnswerWatcher {
  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void
  chunk(bytes: Buffer): void
  end(): void
  /** The upstream could not be reached, or broke off. Called after `end`, and also where no answer began. */
  broken?(): void
  /** True when the answer itself reports that the execution failed, whatever the HTTP status is. Read after `end`. */
  readonly hasFailed: boolean
  /** True when the answer ended without an outcome of the execution. Read after `end`. */
  readonly isUntold?: boolean
  /**
   * The outcome that the answer reports for one resource of several; null: none. If absent, the answer is one outcome
   * for all of them. Called after `end`.
   */
  outcomeOf?(resource: JudgedResource): 'SUCCEEDED' | 'FAILED' | null
}
