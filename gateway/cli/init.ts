/**
 * `preflight init`: puts the MCP servers of editors behind `preflight mcp`, and writes a first configuration for an HTTP API
 * or a cluster. Without --write it only shows what it would change.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { loadConfig } from '../config/load.ts'
import { lookupTable } from '../../engine/base.ts'
import { ConfigError, type Mistake } from '../errors/mistake.ts'
import { applyChanges, planUndo, planWrapping, type EditorFileChange } from '../editors/editor-changes.ts'
import { editorFiles, EDITORS } from '../editors/places.ts'
import type { Invocation } from '../stdio/wrapping.ts'
import { deskHome } from '../stdio/home.ts'
import { asName } from '../stdio/server-list.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { readStream, writeLine, type CommandIo } from './io.ts'
import { homeFolder } from '../runtime/current-user.ts'

const WRITE = { name: 'write', help: 'Change the files. Without it they are only shown.' } as const

const editors: Command = {
  name: 'editors',
  summary: 'Put the MCP servers of your editors behind preflight mcp.',
  operands: '',
  operandCount: [0, 0],
  options: [
    WRITE,
    { name: 'undo', help: 'Restore the entries of the servers: editors start them directly again.' },
    { name: 'editor', value: 'NAME', allowed: EDITORS, isRepeatable: true, help: 'Only this one; default: all.' },
    {
      name: 'command',
      value: 'COMMAND',
      help: 'How editors run preflight, e.g. "npx -y preflight-gateway"; default: this installation.',
    },
  ],
  notes:
    'Reads the files of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Zed, Gemini CLI and Codex CLI, for you and for\n' +
    'the project in the working directory. Comments and order stay. Servers over HTTP are not changed.',
  run: runEditors,
}

const FILE = { name: 'file', value: 'FILE', help: 'File to write; default: preflight.yaml.' } as const
const NAME = { name: 'name', value: 'NAME', help: 'Name of the route.' } as const

const api: Command = {
  name: 'api',
  summary: 'Write a first configuration for an HTTP API.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'upstream', value: 'URL', help: 'Address of the API.' },
    { name: 'contract', value: 'PLACE', help: 'Its OpenAPI document: an address, or a file.' },
    NAME,
    FILE,
    WRITE,
  ],
  notes: 'Asks for what no option states, if standard input is a terminal.',
  run: runApi,
}

const cluster: Command = {
  name: 'cluster',
  summary: 'Write a first configuration for the API server of a Kubernetes cluster.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'upstream', value: 'URL', help: 'Address of the API server.' },
    { name: 'ca', value: 'FILE', help: 'Certificate authority of the API server, PEM.' },
    NAME,
    FILE,
    WRITE,
  ],
  notes: 'Asks for what no option states, if standard input is a terminal.',
  run: runCluster,
}

export const initGroup: CommandGroup = {
  name: 'init',
  summary: 'Set up: MCP servers of editors, a first configuration for an API or a cluster.',
  direct: editors,
  runsAlone: true,
  commands: [editors, api, cluster],
}

async function runEditors(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const { environment } = io
  const chosen = args.values('editor')
  const home = homeFolder(environment)
  const site = { home, folder: process.cwd(), platform: process.platform, environment }
  const places = editorFiles(site).filter(({ editor }) => chosen.length === 0 || chosen.includes(editor))
  const kept = join(deskHome(environment).folder, 'undo')
  const isUndo = args.flag('undo')
  const changes = isUndo ? planUndo(places, kept) : planWrapping(places, invocationOf(args))
  const lines = changes.flatMap((change) => editorChangeLines(change, isUndo))
  writeLine(io.stdout, lines.length === 0 ? 'no configuration of an editor was found' : lines.join('\n'))
  const count = changes.filter(({ before, after }) => before !== after).length
  if (args.flag('write')) applyChanges(changes, kept, isUndo)
  writeLine(io.stdout, conclusion(count, args.flag('write'), isUndo))
  if (count > 0 && !isUndo && args.value('command') === undefined && isNpxCache(PROGRAM)) writeLine(io.stdout, NPX_NOTE)
  return changes.some(({ fault }) => fault !== null) ? EXIT.no : EXIT.good
}

function conclusion(count: number, isWritten: boolean, isUndo: boolean): string {
  const files = count === 1 ? '1 file' : `${count} files`
  if (count === 0) return 'Nothing to change.'
  if (!isWritten) return `${files} would change. Run it again with --write to change ${count === 1 ? 'it' : 'them'}.`
  return `${files} changed. Restart the editors.${isUndo ? '' : ' To take it back: preflight init --undo --write'}`
}

/** One line for the file, one for each server. */
function editorChangeLines({ place, servers, fault }: EditorFileChange, isUndo: boolean): readonly string[] {
  const head = `${place.title}: ${place.file}`
  if (fault !== null) return [head, `  not changed: ${fault}`]
  if (servers.length === 0) return []
  return [
    head,
    ...servers.flatMap(({ name, wrapping }) => {
      if (wrapping.kind === 'left') return [`  ${name}: not changed; ${wrapping.why}`]
      if (wrapping.kind === 'done') return [`  ${name}: ${isUndo ? 'is not behind preflight' : 'is behind preflight'}`]
      return [`  ${name}: ${[wrapping.value.command, ...wrapping.value.args].map(shellWord).join(' ')}`]
    }),
  ]
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Editors often start programs without the PATH of a shell: the program is named by its whole path. */
function invocationOf(args: Arguments): Invocation {
  const [program, ...rest] = (args.value('command') ?? '').split(/\s+/).filter((word) => word !== '')
  if (program !== undefined) return [program, ...rest]
  return [process.execPath, PROGRAM]
}

const PROGRAM = fileURLToPath(new URL('../preflight.js', import.meta.url))
const NPX_NOTE =
  'Note: this preflight is in the cache of npx, which npm may clear. Install it (npm install -g preflight-gateway) and run preflight init, or use --command "npx -y preflight-gateway".'

/** npm names the folder so. */
export function isNpxCache(program: string): boolean {
  return program.split(/[/\\]/).includes('_npx')
}

async function runApi(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const answers = await answersTo(args, io, {
    upstream: 'Address of the API, e.g. https://shop.example/api',
    contract: 'Its OpenAPI document, an address or a file',
    name: 'Name of the route, e.g. shop',
  })
  const [upstream, contract] = [answers('upstream'), answers('contract')]
  const name = asName(answers('name'))
  const source = /^https?:\/\//.test(contract) ? { url: contract } : { file: contract }
  const route = { name, match: { path: `/${name}` }, upstream, protocol: 'http', contract: { current: source } }
  return writeConfig({ routes: [route] }, args, io, [
    `Calls go to http://127.0.0.1:15080/${name} instead of ${upstream}.`,
    'The first document that is read becomes the baseline. Calls of operations that break are refused.',
  ])
}

async function runCluster(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const answers = await answersTo(args, io, {
    upstream: 'Address of the API server, e.g. https://10.0.0.1:6443',
    ca: 'File with its certificate authority, PEM',
    name: 'Name of the route, e.g. cluster',
  })
  const route = {
    name: asName(answers('name')),
    match: { path: '/' },
    upstream: answers('upstream'),
    protocol: 'kubernetes',
    tls: { upstream_ca: answers('ca') },
  }
  return writeConfig({ routes: [route] }, args, io, [
    'In the kubeconfig of the agent, set clusters[].cluster.server to http://127.0.0.1:15080.',
    'Writes need a receipt; custom resource definitions are compared (docs/protocols/kubernetes.md).',
  ])
}

type Questions = Readonly<Record<string, string>>

/** The options, or what a person answers. */
async function answersTo(args: Arguments, io: CommandIo, questions: Questions): Promise<(name: string) => string> {
  const names = Object.keys(questions)
  const missing = names.filter((name) => args.value(name) === undefined)
  const given = new Map<string, string>(names.map((name) => [name, args.value(name) ?? '']))
  if (missing.length > 0 && !io.isTerminal) {
    const lines = (await readStream(io.stdin)).split('\n')
    missing.forEach((name, index) => given.set(name, (lines[index] ?? '').trim()))
  } else if (missing.length > 0) {
    const prompt = createInterface({ input: io.stdin, output: io.stderr })
    for (const name of missing) given.set(name, (await prompt.question(`${questions[name] ?? name}: `)).trim())
    prompt.close()
  }
  const empty = names.filter((name) => given.get(name) === '')
  if (empty.length > 0) throw new UsageError(`state ${empty.map((name) => `--${name}`).join(', ')}`)
  return (name) => given.get(name) ?? ''
}

/** Members of the configuration → the option that states them. */
const STATED_BY: Readonly<Record<string, string>> = lookupTable({
  'routes[0].name': 'name',
  'routes[0].match.path': 'name',
  'routes[0].upstream': 'upstream',
  'routes[0].tls.upstream_ca': 'ca',
  'routes[0].contract.current.file': 'contract',
  'routes[0].contract.current.url': 'contract',
})

/** Who runs the command has written no configuration. */
function placedAtOption(mistake: Mistake): Mistake {
  const option = STATED_BY[mistake.path]
  return option === undefined ? mistake : { ...mistake, place: `--${option}`, path: '' }
}

function writeConfig(value: object, args: Arguments, io: CommandIo, notes: readonly string[]): ExitCode {
  const file = args.value('file') ?? 'preflight.yaml'
  const loaded = loadConfig({ value, environment: {} })
  if (!loaded.ok) throw new ConfigError(loaded.problem.map(placedAtOption))
  const text = stringify(value)
  if (!args.flag('write')) {
    writeLine(io.stdout, text)
    writeLine(io.stderr, `Run it again with --write to write ${file}.`)
    return EXIT.good
  }
  if (existsSync(file)) throw new UsageError(`${file} exists; name another file with --file`)
  writeFileSync(file, text)
  writeLine(io.stdout, [`${file} written. Start the gateway: preflight serve --config ${file}`, ...notes].join('\n'))
  return EXIT.good
}
