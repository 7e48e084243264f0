/** Acts of people and of the operator, as entries of the decision log: made of the log records that report them, so that none is reported in one place only. */
import type { Logger, LogFields } from '../log.ts'
import type { LogEvent } from '../log-events.ts'
import { currentTraceId } from '../trace-context.ts'
import type { DecisionLog } from './decision-log.ts'
import type { EntryFacts } from './entry.ts'

/** The events that are acts. */
export const ACTS: ReadonlySet<LogEvent> = new Set<LogEvent>([
  'approval.decided',
  'baseline.promoted',
  'baseline.set',
  'binding.proven',
  'break_glass.opened',
  'break_glass.closed',
  'break_glass.used',
  'keys.reloaded',
  'receipt.revoked',
  'settings.rejected',
  'settings.reloaded',
  'settings.weaker',
])

export interface ActLogger {
  readonly logger: Logger
  /** From now on, acts are written to it too. */
  attach(log: Pick<DecisionLog, 'isOn' | 'write'>): void
}

export function createActLogger(inner: Logger): ActLogger {
  let log: Pick<DecisionLog, 'isOn' | 'write'> | null = null
  const noted = (write: Logger['info']): Logger['info'] => {
    return (fields, message) => {
      write(fields, message)
      if (log?.isOn === true && ACTS.has(fields.event)) void log.write([actOf(fields)])
    }
  }
  return {
    logger: {
      error: noted((fields, message) => inner.error(fields, message)),
      warn: noted((fields, message) => inner.warn(fields, message)),
      info: noted((fields, message) => inner.info(fields, message)),
      debug: (fields, message) => inner.debug(fields, message),
      get level() {
        return inner.level
      },
      set level(level) {
        inner.level = level
      },
    },
    attach(attached) {
      log = attached
    },
  }
}

function actOf({ event, ...details }: LogFields): EntryFacts {
  return {
    kind: 'act',
    act: event,
    actor: textOf(details['by']) ?? textOf(details['opened_by']) ?? textOf(details['closed_by']),
    correlation_id: textOf(details['correlation_id']),
    trace_id: currentTraceId(),
    route: textOf(details['route']),
    decision_id: textOf(details['decision_id']),
    approval_id: textOf(details['approval_id']),
    details: plain(details),
  }
}

/** As JSON: errors and dates of a log record become what a reader of the log sees. */
function plain(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members: Record<string, unknown> = JSON.parse(JSON.stringify(details))
  return members
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
