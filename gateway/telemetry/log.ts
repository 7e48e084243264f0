/** The gateway's logger: JSON lines on stderr, with every credential cut out before a line is written. Stdout belongs to the `ready` line and the log sink. */
import { pino, type DestinationStream } from 'pino'
import type { LogEvent } from './log-events.ts'
import { LogLines, stderrLines } from './log-lines.ts'
import { redactText } from './redaction.ts'
import { traceMember } from './trace-context.ts'

/** Members of a record beside level, time and message. `err` is an error with its causes. */
export interface LogFields {
  readonly event: LogEvent
  readonly [member: string]: unknown
}

type WriteRecord = (fields: LogFields, message: string) => void

/** Writes records of one line. `error`: somebody has to act. `warn`: enforcement had an effect, or something was lost. */
export interface Logger {
  readonly error: WriteRecord
  readonly warn: WriteRecord
  readonly info: WriteRecord
  readonly debug: WriteRecord
  /** pino level or `silent`; may be changed. */
  level: string
}

/** Members that carry a credential wherever they turn up in a logged object. */
const SECRET_MEMBERS = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-scm-token',
  'cookie',
  'set-cookie',
  'preflight-receipt',
  'preflight-decision',
  'token',
  'api_key',
  'chain_receipt',
  'previous_receipt',
] as const

/** Objects are logged flat or one or two levels deep (`headers`, `request.headers`); deeper ones are not logged at all. */
const REDACTED_PATHS = SECRET_MEMBERS.flatMap((member) => [`["${member}"]`, `*["${member}"]`, `*.*["${member}"]`])

/**
 * @param level pino level or `silent`
 * @param destination where lines go; stderr by default
 */
export function createLogger(level: string, destination: DestinationStream = stderrLines()): Logger {
  const logger: Logger = pino(
    {
      level,
      base: null,
      mixin: traceMember,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...REDACTED_PATHS], censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination,
  )
  if (destination instanceof LogLines)
    destination.whenWritable((lines) => {
      logger.warn({ event: 'log.lines_lost', lines }, 'log lines were lost, since they could not be written')
    })
  return logger
}

/** An error as logged: name, code, message and the chain of causes; the stack only for what nobody foresaw. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactText(String(error))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    name: error.name,
    ...(code === undefined ? { stack: redactText(error.stack ?? '') } : { code }),
    message: redactText(error.message),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
