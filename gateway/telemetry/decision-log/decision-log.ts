/**
 * The decision log: an entry for each call, decision and act, to every configured sink. With `block`, nothing takes effect
 * without a durable entry; with `drop_and_count`, a lost entry is counted.
 */
import type { SinkState } from '../sinks/sink.ts'
import type { EntryFacts } from './entry.ts'

export interface DecisionLog {
  /** False: nobody takes entries, so none has to be made. */
  readonly isOn: boolean
  /**
   * True, or resolves to true, when what the entries are about may take effect. False: `on_full` is `block`, and a sink did
   * not take them. Never rejects.
   */
  write(facts: readonly EntryFacts[]): boolean | Promise<boolean>
  sinks(): readonly SinkState[]
  close(): Promise<void>
}

/** For a gateway without sinks, and for tests. */
export const NO_DECISION_LOG: DecisionLog = {
  isOn: false,
  write: () => true,
  sinks: () => [],
  close: () => Promise.resolve(),
}
