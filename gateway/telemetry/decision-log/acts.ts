/**
 * Acts of people and of the operator, as entries of the decision log: made of the log records that report them, so that none is
 * reported in one place only.
 */
import { randomUUID } from 'node:crypto'
import { textIn } from '../../json/unchecked-json.ts'
import type { Logger, LogFields } from '../log.ts'
import { LOG_EVENTS, type LogEvent } from '../log-events.ts'
import { currentTraceId } from '../trace-context.ts'
import type { DecisionLog } from './decision-log.ts'
import type { EntryFacts } from './entry.ts'

/** The events that are acts. */
const ACTS: ReadonlySet<LogEvent> = new Set<LogEvent>([
  'approval.counted',
  'approval.decided',
  'approval.delegated',
  'approval.delegation_ended',
  'approval.expired',
  'approval.moot',
  'approval.reminded',
  'baseline.promoted',
  'baseline.set',
  'binding.proven',
  'break_glass.opened',
  'break_glass.closed',
  'break_glass.used',
  'console.signed_in',
  'interception.authority_rotated',
  'keys.api_key_changed',
  'keys.receipt_key_changed',
  'keys.reloaded',
  'ledger.accepted',
  'ledger.pruned',
  'log.level_changed',
  'receipt.revoked',
  'settings.rejected',
  'settings.reloaded',
  'settings.weaker',
])

/** An act that waits for its entry, as the store keeps it. */
interface WaitingAct {
  readonly id: string
  readonly at: number
  readonly isLogged: boolean
  readonly facts: EntryFacts
}

export interface ActLogger {
  readonly logger: Logger
  /** From now on, acts are written to it too. */
  attach(log: Pick<DecisionLog, 'isOn' | 'write'>): void
  /** Where acts wait that the decision log did not take. */
  keep(add: (row: WaitingAct) => Promise<void>): void
  /** Logs an act that waited. False: the decision log did not take it. */
  relay(row: WaitingAct): Promise<boolean>
}

export function createActLogger(inner: Logger, onWarning: (fields: LogFields) => void = () => {}): ActLogger {
  let log: Pick<DecisionLog, 'isOn' | 'write'> | null = null
  let add: ((row: WaitingAct) => Promise<void>) | null = null
  const write = async (facts: EntryFacts, id: string, at: number): Promise<boolean> =>
    log?.isOn !== true || (await log.write([{ ...facts, id, time: new Date(at).toISOString() }]))
  const report = async (facts: EntryFacts): Promise<void> => {
    const [id, at] = [actId(facts), Date.now()]
    if (await write(facts, id, at)) return
    await add?.({ id, at, isLogged: true, facts }).catch((error: unknown) =>
      inner.error({ event: 'act.relay_failed', err: error, act: facts.act }, 'an act is not in the decision log'),
    )
  }
  const noted = (level: 'error' | 'warn' | 'info'): Logger['info'] => {
    return (fields, message) => {
      inner[level](fields, message)
      if (level === 'warn') onWarning(fields)
      if (log?.isOn === true && ACTS.has(fields.event)) void report(actOf(fields))
    }
  }
  return {
    logger: {
      error: noted('error'),
      warn: noted('warn'),
      info: noted('info'),
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
    keep(given) {
      add = given
    },
    relay({ id, at, isLogged, facts }) {
      const event = Object.keys(LOG_EVENTS).find((known): known is LogEvent => known === facts.act)
      if (!isLogged && event !== undefined)
        inner.info({ event, ...facts.details }, 'the data directory was changed by a command')
      return write(facts, id, at)
    },
  }
}

/** Each gateway of a store, and the command that opened it, report an exception: their entries have one id. */
export function actId({ act, details }: EntryFacts): string {
  const exception = act === 'break_glass.opened' ? textIn(details?.['break_glass_id']) : null
  return exception === null ? randomUUID() : `${exception}.opened`
}

export function actOf({ event, ...details }: LogFields): EntryFacts {
  return {
    kind: 'act',
    act: event,
    actor: textIn(details['by']) ?? textIn(details['opened_by']) ?? textIn(details['closed_by']),
    correlation_id: textIn(details['correlation_id']),
    trace_id: currentTraceId(),
    tenant: textIn(details['tenant']),
    route: textIn(details['route']),
    decision_id: textIn(details['decision_id']),
    approval_id: textIn(details['approval_id']),
    details: plainDetails(details),
  }
}

/** As JSON: errors and dates of a log record become what a reader of the log sees. */
function plainDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members: Record<string, unknown> = JSON.parse(JSON.stringify(details))
  return members
}
