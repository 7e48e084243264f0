/** Answers to a call: one that is made here, and the reader of one that an upstream makes. */
import type { Subject } from './subject.ts'

/** An answer made here. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes where the protocol frames its messages. */
  readonly body: string | Buffer
}

/** Sees an upstream's answer go by; never changes or holds it. */
export interface AnswerWatcher {
  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void
  chunk(bytes: Buffer): void
  end(): void
  /** True when the answer itself reports that the execution failed, whatever the HTTP status says. Asked after `end`. */
  readonly hasFailed: boolean
  /** True when the answer ended without a word on what came of the execution. Asked after `end`. */
  readonly isUntold?: boolean
  /** What the answer says of one of several things that were asked for; null: nothing. Absent: it speaks for all of them at once. Asked after `end`. */
  outcomeOf?(subject: Subject): 'SUCCEEDED' | 'FAILED' | null
}
