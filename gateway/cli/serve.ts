/** `preflight serve`: runs the gateway until a signal, and reports once that it is ready, to a person or to a program. */
import type { Gateway } from '../main.ts'
import { keepTick, releaseFreeMemory } from '../runtime/free-memory.ts'
import { EXIT, type Command, type ExitCode, columns } from './command.ts'
import { configSource, PLACE_OPTIONS } from './config-option.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the gateway: proxy, API and admin listeners.',
  operands: '',
  operandCount: [0, 0],
  options: PLACE_OPTIONS,
  notes: [
    'Environment variables override the file: PREFLIGHT_ and the path of a setting, e.g. PREFLIGHT_LOG_LEVEL.',
    'SIGHUP reloads configuration and policy; it stops the gateway when the terminal that it runs in is closed. SIGUSR2 turns the log level debug on and off. SIGTERM and SIGINT drain and stop; a second one stops immediately.',
  ].join('\n'),
  run: async (args, io) => {
    keepTick()
    // The whole gateway is loaded only by this command, so that the others start in a fraction of the time.
    const { startGateway } = await import('../main.ts')
    const gateway = await startGateway(configSource(args, io))
    // Signal handlers are set before the gateway reports that it is ready.
    const stopped = untilStopped(gateway)
    releaseFreeMemory()
    announce(gateway, io)
    // What follows goes to the log sink, which says by itself that it cannot be written.
    io.stdout.write('', (error) => {
      if (error == null) io.continueUnwritten?.()
    })
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

const STANDARD_STREAMS = [0, 1, 2] as const

/** A signal stops it. SIGHUP reloads, unless it comes because the terminal was closed that the gateway runs in. */
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
  const terminals = STANDARD_STREAMS.filter((fd) => isatty(fd))
  const onHangUp = (signal: string): void => {
    if (terminals.every((fd) => isatty(fd))) reload()
    else onSignal(signal)
  }
  // The runtime prints the error and ends the process, as without this.
  const onFailure = (error: Error): void => {
    gateway.logger.error({ event: 'process.failed', err: error }, 'the process ends: this is an error of the gateway')
  }
  process.on('uncaughtExceptionMonitor', onFailure)
  process.on('SIGHUP', onHangUp)
  process.on('SIGUSR2', toggleDebug)
  for (const name of SIGNALS) process.on(name, onSignal)
  const signal = await stopped
  gateway.logger.info({ event: 'gateway.stopping', signal }, 'stopping; calls in flight may finish')
  await gateway.close()
  for (const name of SIGNALS) process.off(name, onSignal)
  process.off('SIGHUP', onHangUp)
  process.off('SIGUSR2', toggleDebug)
  process.off('uncaughtExceptionMonitor', onFailure)
  return EXIT.good
}

const SHORT_HASH = 'sha256:'.length + 12

export function startSummary(gateway: Gateway, isColoured: boolean): string {
  const { config, policy } = gateway.settings()
  const { proxy, api, admin, transparent, ext_authz: asked, webhooks } = gateway.addresses
  const strong = (text: string): string => (isColoured ? styleText('bold', text, { validateStream: false }) : text)
  const routes = config.routes.map(({ name, match, upstream, protocol, mode }) => {
    const host = match.host ?? ''
    return [
      '',
      `${host}${match.path} → ${upstream ?? 'the host that is named'} (${name}, ${protocol}, ${mode})`,
    ] as const
  })
  const rows: readonly (readonly [string, string])[] = [
    ['proxy', proxy],
    ...(transparent === undefined ? [] : [['redirected', transparent] as const]),
    ['api', `${api}  (POST /api/v1/preflight, /api/diff, /mcp; GET /openapi.json)`],
    ...(asked === undefined ? [] : [['ext_authz', `${asked}  (gRPC)`] as const]),
    ...(webhooks === undefined ? [] : [['webhooks', `${webhooks}  (/admission/ROUTE, /injector)`] as const]),
    ['admin', `${admin}  (/livez, /readyz, /metrics)`],
    ['policy', `${policy.name}, ${policy.mode}, ${policy.hash.slice(0, SHORT_HASH)}`],
    ['receipt key', gateway.keyId],
    [
      'egress',
      `${config.egress.default} by default, ${config.egress.allow.length} allowed, ${config.egress.deny.length} denied`,
    ],
    ['tier', config.tier],
    ['store', gateway.store],
    ['telemetry', config.monitoring.sinks.map(({ type }) => type).join(', ') || 'none'],
    ['routes', routes.length === 0 ? 'none yet: name some in the configuration (routes)' : `${routes.length}`],
    ...routes,
  ]
  return ['', strong('Preflight Gateway is ready.'), '', ...columns(rows), '', ...nextStep(gateway, strong), ''].join(
    '\n',
  )
}

function nextStep({ addresses, bootstrapKey }: Gateway, strong: (text: string) => string): readonly string[] {
  // The shell expands the variable between double quotes only.
  const authorization =
    bootstrapKey === null ? '"Authorization: Bearer $PREFLIGHT_API_KEY"' : `'Authorization: Bearer ${bootstrapKey}'`
  const body = JSON.stringify({
    base: '{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/orders":{"get":{"responses":{"200":{"description":"ok"}}}}}}',
    head: '{"openapi":"3.0.3","info":{"title":"t","version":"2"},"paths":{}}',
    format: 'markdown',
  })
  return [
    ...(bootstrapKey === null ? [] : [`${strong('Admin API key, shown once:')} ${bootstrapKey}`, '']),
    'Try it: compare two contracts, one of which lost an operation.',
    '',
    `  curl -s ${addresses.api}/api/diff -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`,
    '',
    'Ctrl-C stops it.',
  ]
}
