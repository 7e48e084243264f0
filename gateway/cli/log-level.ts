/** `preflight log-level`: shows or changes the level of the log of a running gateway. */
import { changeLogLevel, gatewayStatus, LogLevelAnswer, StatusAnswer } from '../api/routes/operation.ts'
import { LOG_LEVELS } from '../telemetry/inspection.ts'
import { EXIT, UsageError, type Command } from './command.ts'
import { writeLine } from './io.ts'
import { askLocal, remoteOf, SITE_OPTIONS } from './remote.ts'
import { isJsonObject } from '../json/strict-json.ts'

export const logLevelCommand: Command = {
  name: 'log-level',
  summary: 'Show or change the level of the log of a running gateway.',
  operands: '[LEVEL]',
  operandCount: [0, 1],
  options: SITE_OPTIONS,
  notes: [
    `LEVEL is one of ${LOG_LEVELS.join(', ')}. It holds until a reload or a restart; log.level of the configuration does not change.`,
    'With --url, the key needs the role operator or admin. SIGUSR2 turns the level debug on and off.',
  ].join('\n'),
  run: async (args, io) => {
    const [wanted] = args.operands
    const level = LOG_LEVELS.find((known) => known === wanted)
    if (wanted !== undefined && level === undefined)
      throw new UsageError(`there is no level "${wanted}"; levels: ${LOG_LEVELS.join(', ')}`)
    const remote = remoteOf(args, io)
    if (remote !== null) {
      const answer =
        level === undefined
          ? (await remote.ask(gatewayStatus, StatusAnswer)).status.settings.log_level
          : (await remote.ask(changeLogLevel, LogLevelAnswer, { body: { level } })).level
      writeLine(io.stdout, answer)
      return EXIT.good
    }
    const answer = await (level === undefined
      ? askLocal(args, io, 'GET', '/log_level')
      : askLocal(args, io, 'PUT', `/log_level?level=${level}`))
    writeLine(io.stdout, isJsonObject(answer) ? String(answer['level']) : '')
    return EXIT.good
  },
}
