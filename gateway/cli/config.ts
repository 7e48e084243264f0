/** `preflight config check`: checks what a start checks, without a start. */
import { openSettings } from '../config/live-settings.ts'
import { formatMistake } from '../errors/mistake.ts'
import { EXIT, type Command, type CommandGroup } from './command.ts'
import { configSource, nameOfSource, PLACE_OPTIONS } from './config-option.ts'
import { writeLine } from './io.ts'

const check: Command = {
  name: 'check',
  summary: 'Check everything that a start checks, without a start.',
  operands: '',
  operandCount: [0, 0],
  options: [{ name: 'strict', help: 'Warnings end with exit code 1.' }, ...PLACE_OPTIONS],
  notes: [
    'Reads the configuration, the environment, the policy and the named files. Checks programs, data directory, keys,',
    'ledger and addresses. Changes nothing. It can run next to a running gateway; an address in use is accepted.',
    '',
    'Exit codes: 0 the gateway would start, 1 there are warnings (--strict), 2 it would not start.',
  ].join('\n'),
  run: async (args, io) => {
    const { startProblems } = await import('./start-checks.ts')
    const source = configSource(args, io)
    const live = openSettings(source)
    const problems = await startProblems(live.current().config, io.environment)
    for (const problem of problems) writeLine(io.stderr, problem)
    for (const warning of live.warnings) writeLine(io.stderr, `warning: ${formatMistake(warning)}`)
    if (problems.length > 0) return EXIT.usage
    const { routes } = live.current().config
    writeLine(io.stdout, `${nameOfSource(source)}: good (${routes.length} ${routes.length === 1 ? 'route' : 'routes'})`)
    return args.flag('strict') && live.warnings.length > 0 ? EXIT.no : EXIT.good
  },
}

export const configGroup: CommandGroup = {
  name: 'config',
  summary: 'Check the configuration.',
  commands: [check],
}
