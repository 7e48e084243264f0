/** Opens the sinks of the decision log. Loaded only where one is configured. */
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { packageVersion } from '../../runtime/package-files.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { jsonBatches } from '../sinks/http.ts'
import { createLogSink } from '../sinks/log.ts'
import { otlpEntries } from '../sinks/otlp.ts'
import { createReceiver } from '../sinks/receiver.ts'
import type { Sink } from '../sinks/sink.ts'
import { createSpooledSink, sinkName } from '../sinks/spooled.ts'
import { createFileSink } from './file-sink.ts'
import { createEntryFilter } from './filters.ts'
import type { DecisionLog } from './decision-log.ts'
import { decisionLogEntry, type DecisionLogEntry } from './entry.ts'
import type { DecisionLogSettings, DecisionSink } from './settings.ts'
import { createSyslogReceiver } from './syslog.ts'

interface DecisionLogDeps {
  readonly settings: DecisionLogSettings
  readonly dataDir: string
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Where the stdout sink writes. */
  readonly output: Writable
}

export function createDecisionLog(deps: DecisionLogDeps): DecisionLog {
  const { settings, metrics, now } = deps
  const sinks = settings.sinks.map((sink) => createSink(sink, deps))
  const filter = createEntryFilter(settings)
  const count = (result: 'written' | 'lost' | 'dropped', by: number): void =>
    metrics.count('preflight_decision_log_entries_total', { result }, by)
  for (const result of ['written', 'lost', 'dropped'] as const) count(result, 0)
  const accept = async (entries: readonly DecisionLogEntry[]): Promise<boolean> => {
    const taken = await Promise.all(sinks.map((sink) => sink.accept(entries, false)))
    const isWhole = taken.every(Boolean)
    count(isWhole ? 'written' : 'lost', entries.length)
    return isWhole
  }
  return {
    isOn: true,
    write(facts) {
      const at = now()
      const entries = facts.flatMap((one) => filter(decisionLogEntry(one, randomUUID(), at)) ?? [])
      if (entries.length < facts.length) count('dropped', facts.length - entries.length)
      if (entries.length === 0) return true
      const accepted = accept(entries)
      return settings.on_full === 'block' ? accepted : true
    },
    sinks: () => sinks.map((sink) => sink.state()),
    async close() {
      await Promise.all(sinks.map((sink) => sink.close()))
    },
  }
}

/** Sinks of the decision log have names of their own: a receiver may serve both logs, from two spools. */
function createSink(sink: DecisionSink, { settings, dataDir, metrics, logger, output }: DecisionLogDeps): Sink {
  if (sink.type === 'file') return createFileSink(sink, metrics)
  if (sink.type === 'stdout') return createLogSink(metrics, output, 'decisions-stdout')
  const shared = { dataDir, bound: settings.spool, metrics, logger }
  const timeout = sink.timeout * 1000
  if (sink.type === 'syslog')
    return createSpooledSink(`decisions-${sinkName('syslog', sink.address)}`, createSyslogReceiver(sink), sink, shared)
  const protocol = sink.type === 'http' ? jsonBatches(sink) : otlpEntries(sink, packageVersion())
  const name = `decisions-${sinkName(sink.type, protocol.url)}`
  return createSpooledSink(name, createReceiver(protocol, timeout), sink, shared)
}
