/** `preflight serve`: runs the gateway until a signal, and reports once that it is ready, to a person or to a program. */
import type { Gateway } from '../main.ts'
import { releaseFreeMemory } from '../runtime/free-memory.ts'
import { EXIT, type Command, type ExitCode } from './command.ts'
import { configSource, PLACE_OPTIONS } from './config-option.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'
import { startSummary } from './start-summary.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the gateway: proxy, API and admin listeners.',
  operands: '',
  operandCount: [0, 0],
  options: PLACE_OPTIONS,
  notes: [
    'Environment variables override the file: PREFLIGHT_ and the path of a setting, e.g. PREFLIGHT_LOG_LEVEL.',
    'SIGHUP reloads configuration and policy. SIGUSR2 turns the log level debug on and off. SIGTERM and SIGINT drain and stop; a second one stops immediately.',
  ].join('\n'),
  run: async (args, io) => {
    // The whole gateway is loaded only by this command, so that the others start in a fraction of the time.
    const { startGateway } = await import('../main.ts')
    const gateway = await startGateway(configSource(args, io))
    // Signal handlers are set before the gateway reports that it is ready.
    const stopped = untilStopped(gateway)
    releaseFreeMemory()
    announce(gateway, io)
    void gateway.warmUp()
    return await stopped
  },
}

function announce(gateway: Gateway, io: CommandIo): void {
  const { addresses, bootstrapKey } = gateway
  if (io.isTerminal) {
    writeLine(io.stdout, startSummary(gateway, wantsColour(io)))
    return
  }
  // The key goes to stderr as text: stdout is read by programs and often kept.
  if (bootstrapKey !== null) writeLine(io.stderr, `Admin API key, shown once: ${bootstrapKey}`)
  writeLine(io.stdout, JSON.stringify({ event: 'ready', ...addresses }))
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Exit code of a program that a signal ended, by convention. */
const FORCED_EXIT = 130

/** Ctrl-C under npm arrives twice, from the terminal and from npm: two signals within this time count as one. */
const SAME_SIGNAL_MS = 500

async function untilStopped(gateway: Gateway): Promise<ExitCode> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>()
  const reload = gateway.reload.bind(gateway)
  let stoppingSince: number | null = null
  const onSignal = (signal: string): void => {
    // Ending now loses nothing: every decision that was handed out is durable.
    if (stoppingSince !== null && performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(FORCED_EXIT)
    stoppingSince ??= performance.now()
    stop(signal)
  }
  const toggleDebug = gateway.toggleDebug.bind(gateway)
  process.on('SIGHUP', reload)
  process.on('SIGUSR2', toggleDebug)
  for (const name of SIGNALS) process.on(name, onSignal)
  const signal = await stopped
  gateway.logger.info({ event: 'gateway.stopping', signal }, 'stopping; calls in flight may finish')
  await gateway.close()
  for (const name of SIGNALS) process.off(name, onSignal)
  process.off('SIGHUP', reload)
  process.off('SIGUSR2', toggleDebug)
  return EXIT.good
}
