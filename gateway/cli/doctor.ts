/** `preflight doctor`: looks at an installation and says what is wrong with it, and what to do. Changes nothing. */
import { existsSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { openSettings } from '../config/live-settings.ts'
import type { Config } from '../config/schema.ts'
import { formatMistake, ConfigError } from '../errors/mistake.ts'
import { messageOf } from '../errors/startup-error.ts'
import { planWrapping, type EditorFileChange } from '../editors/editor-changes.ts'
import { editorFiles } from '../editors/places.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { isRunning, readServing } from '../listen/local-access.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { variable } from '../settings/environment.ts'
import { deskHome, type DeskHome } from '../stdio/home.ts'
import { deskConfig } from '../stdio/server-list.ts'
import { EXIT, type Arguments, type Command, type ExitCode } from './command.ts'
import { configSource, nameOfSource, PLACE_OPTIONS } from './config-option.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'
import { styleText } from 'node:util'
import { readRegularFile } from '../runtime/regular-file.ts'
import { jsonOrNull, recordIn } from '../json/unchecked-json.ts'
import { homeFolder } from '../runtime/current-user.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Report what is wrong with this installation, and what to do.',
  operands: '',
  operandCount: [0, 0],
  options: PLACE_OPTIONS,
  notes:
    'Looks at the program, the configuration, the running gateway, preflight mcp and the editors. Changes nothing.\nExit codes: 0 nothing is wrong, 1 something is.',
  run: runDoctor,
}

/** One line of the report. */
interface DoctorFinding {
  readonly kind: 'good' | 'note' | 'problem'
  readonly text: string
}

const good = (text: string): DoctorFinding => ({ kind: 'good', text })
const note = (text: string): DoctorFinding => ({ kind: 'note', text })
const problem = (text: string): DoctorFinding => ({ kind: 'problem', text })

async function runDoctor(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const sections: readonly (readonly [string, readonly DoctorFinding[]])[] = [
    [
      'Program',
      [good(`preflight ${packageVersion()}, Node.js ${process.version}, ${process.platform} ${process.arch}`)],
    ],
    ['Gateway', await gatewayFindings(args, io)],
    ['preflight mcp', deskFindings(io)],
    ['Editors', editorFindings(io)],
  ]
  for (const [title, findings] of sections) {
    writeLine(io.stdout, title)
    for (const finding of findings) writeLine(io.stdout, `  ${markOf(finding, io)} ${finding.text}`)
  }
  const problems = sections.flatMap(([, findings]) => findings).filter(({ kind }) => kind === 'problem').length
  writeLine(io.stdout, problems === 0 ? 'Nothing is wrong.' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.`)
  return problems === 0 ? EXIT.good : EXIT.no
}

const MARKS = { good: ['ok  ', 'green'], note: ['note', 'yellow'], problem: ['FAIL', 'red'] } as const

function markOf({ kind }: DoctorFinding, io: CommandIo): string {
  const [text, colour] = MARKS[kind]
  return wantsColour(io) ? styleText(colour, text, { validateStream: false }) : text
}

async function gatewayFindings(args: Arguments, io: CommandIo): Promise<readonly DoctorFinding[]> {
  const isNamed = args.value('config') !== undefined || variable(io.environment, 'PREFLIGHT_CONFIG') !== null
  const isHere = !isNamed && existsSync(USUAL_FILE)
  const source = isHere ? { file: USUAL_FILE, environment: io.environment } : configSource(args, io)
  try {
    const live = openSettings(source)
    const { config } = live.current()
    const { startProblems } = await import('./start-checks.ts')
    const problems = await startProblems(config, io.environment)
    const routes = `${config.routes.length} ${config.routes.length === 1 ? 'route' : 'routes'}`
    return [
      ...(problems.length === 0 ? [good(`${nameOfSource(source)} can be used (${routes})`)] : problems.map(problem)),
      ...live.warnings.map((warning) => note(formatMistake(warning))),
      ...(await runningFindings(config, isHere ? USUAL_FILE : args.value('config'))),
    ]
  } catch (error) {
    return mistakesIn(error).map(problem)
  }
}

const USUAL_FILE = 'preflight.yaml'

/**
 * The gateway that serves from the data directory, wherever it listens; else the one at the configured address.
 * @param file the configuration that a start has to name; undefined: none
 */
async function runningFindings(
  { data_dir: directory, listen }: Config,
  file: string | undefined,
): Promise<readonly DoctorFinding[]> {
  const serving = readServing(resolve(directory))
  const address = serving?.admin ?? `http://${listen.admin}`
  const answer = await askReadiness(new URL('/readyz', address))
  if (answer === null && serving === null) {
    const start = file === undefined ? 'preflight serve' : `preflight serve --config ${file}`
    return [note(`no gateway answers at ${address}; start it: ${start}`)]
  }
  if (answer === null)
    return [
      note(
        `the gateway of ${resolve(directory)} does not answer at ${address}: it ended without cleaning up, or has a certificate that is not trusted here`,
      ),
    ]
  const checks = recordIn(recordIn(answer.body)['checks'])
  if (answer.status === 200) return [good(`a gateway serves (${address})`)]
  const failing = Object.entries(checks).flatMap(([name, check]) =>
    isJsonObject(check) && check['ready'] !== true ? [`${name}: ${String(check['detail'])}`] : [],
  )
  return [problem(`the gateway at ${address} is not ready: ${failing.join('; ') || `HTTP ${answer.status}`}`)]
}

interface Readiness {
  readonly status: number
  readonly body: unknown
}

const PATIENCE_MS = 2000

async function askReadiness(url: URL): Promise<Readiness | null> {
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) })
    return { status: answer.status, body: jsonOrNull(await answer.text()) }
  } catch {
    return null
  }
}

function deskFindings({ environment }: CommandIo): readonly DoctorFinding[] {
  const home = deskHome(environment)
  if (!existsSync(home.folder)) return [note('not used yet; preflight init puts the servers of your editors behind it')]
  const isOpen = process.platform !== 'win32' && (statSync(home.folder).mode & 0o077) !== 0
  const fault = existsSync(home.fault) ? readRegularFile(home.fault, 'utf8').trim() : null
  return [
    isOpen
      ? problem(`other users can enter ${home.folder}: chmod 700 ${home.folder}`)
      : good(`${home.folder} can be read by this user only`),
    ...(fault === null ? [] : [problem(`the last daemon did not start: ${fault}`)]),
    ...deskProblems(home).map(problem),
    daemonFinding(existsSync(home.process) ? jsonOrNull(readRegularFile(home.process, 'utf8')) : null),
  ]
}

/** Stands for the bridge of a daemon, whose port is known only while it runs. */
const ANY_BRIDGE = 'http://127.0.0.1:1'

/** Why no server starts. */
function deskProblems(home: DeskHome): readonly string[] {
  try {
    openSettings({ value: deskConfig(home, ANY_BRIDGE), directory: home.folder, environment: {} })
    return []
  } catch (error) {
    const mistakes = mistakesIn(error)
    return error instanceof ConfigError ? mistakes.map((mistake) => `${home.settings}: ${mistake}`) : mistakes
  }
}

function mistakesIn(error: unknown): readonly string[] {
  return error instanceof ConfigError ? error.mistakes.map(formatMistake) : [messageOf(error)]
}

function daemonFinding(value: unknown): DoctorFinding {
  const { pid, version } = recordIn(value)
  if (typeof pid !== 'number' || !isRunning(pid)) return note('no daemon runs; it starts with the first server')
  if (version === packageVersion()) return good(`the daemon runs (process ${pid})`)
  return problem(
    `the daemon (process ${pid}) is preflight ${String(version)}; end it, so that the next server starts this version: kill ${pid}`,
  )
}

function editorFindings({ environment }: CommandIo): readonly DoctorFinding[] {
  const site = {
    home: homeFolder(environment),
    folder: process.cwd(),
    platform: process.platform,
    environment,
  }
  const changes = planWrapping(editorFiles(site), ['preflight'])
  const findings = changes.flatMap(fileFindings)
  return findings.length === 0 ? [note('no configuration of an editor with MCP servers was found')] : findings
}

/** Puts the servers behind this installation. */
const RENEW = 'preflight init --undo --write, then preflight init --write'

function fileFindings({ place, servers, fault }: EditorFileChange): readonly DoctorFinding[] {
  if (fault !== null) return [problem(`${place.file} cannot be read or changed: ${fault}`)]
  const outside = servers.filter(({ wrapping }) => wrapping.kind === 'change').map(({ name }) => name)
  const inside = servers.filter(({ wrapping }) => wrapping.kind === 'done').map(({ name }) => name)
  const gone = servers.flatMap(({ name, wrapping }) => {
    const missing =
      wrapping.kind === 'done' ? wrapping.preflight.find((word) => isAbsolute(word) && !existsSync(word)) : undefined
    return missing === undefined
      ? []
      : [problem(`${place.title}: ${name} cannot start, ${missing} is gone; run ${RENEW}`)]
  })
  return [
    ...gone,
    ...(inside.length === 0 ? [] : [good(`${place.title}: behind preflight: ${inside.join(', ')}`)]),
    ...(outside.length === 0
      ? []
      : [note(`${place.title}: not behind preflight: ${outside.join(', ')}; see preflight init`)]),
  ]
}
