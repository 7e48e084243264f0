/**
 * `preflight mcp`: stands in for the command of an MCP server in the configuration of an editor. Its subcommands show the
 * servers that were seen, what changed in one, and accept a change.
 */
import { startProgram } from '../stdio/program.ts'
import { headerProblem, isServerAddress, nameProblem, serverNameOf } from '../stdio/server-list.ts'
import { runWrapper, type WrappedProgram } from '../stdio/wrapper.ts'
import { packageVersion } from '../runtime/package-files.ts'
import type { Environment } from '../settings/environment.ts'
import { UsageError, type Arguments, type Command, type CommandGroup } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'
import { daemonConnector, homeOf, HUB_OPTIONS, withEnvironment } from './mcp-home.ts'

const wrap: Command = {
  name: 'mcp',
  summary: 'Run an MCP server and judge the calls of its client.',
  operands: '-- COMMAND ARGS…',
  operandCount: [0, 1000],
  options: [
    {
      name: 'name',
      value: 'NAME',
      help: 'Name of the server in lists, in the ledger and in settings; else made from the command.',
    },
    { name: 'url', value: 'URL', help: 'A server over Streamable HTTP, instead of a command.' },
    { name: 'sse', value: 'URL', help: 'A server over HTTP+SSE (2024-11-05), instead of a command.' },
    {
      name: 'header',
      value: 'NAME:VALUE',
      isRepeatable: true,
      help: 'Header field for --url or --sse. ${VARIABLE} is replaced from the environment.',
    },
    ...HUB_OPTIONS,
  ],
  notes: [
    'Example, in the configuration of an editor: "command": "preflight", "args": ["mcp", "--name", "files", "--", "npx", "-y", "SERVER"]',
    'All servers of a user share one daemon, which starts and ends by itself. It keeps its state in ~/.preflight (PREFLIGHT_HOME).',
    'Settings: ~/.preflight/preflight.yaml. Log: ~/.preflight/daemon.log.',
    'Exit codes: that of the server; 3 if calls cannot be judged.',
  ].join('\n'),
  run: wrapServer,
}

export const mcpGroup: CommandGroup = {
  name: 'mcp',
  summary: 'MCP servers that editors start: run one and judge its calls; list, review and accept changes.',
  direct: wrap,
  commands: [
    {
      name: 'list',
      summary: 'List the servers that were seen, and which of them changed.',
      operands: '',
      operandCount: [0, 0],
      options: [],
      run: async (_, io) => (await import('./mcp-servers.ts')).listServers(io),
    },
    {
      name: 'changes',
      summary: 'Compare what a server offers now with what was accepted.',
      operands: 'NAME',
      operandCount: [1, 1],
      options: [],
      notes: 'Exit codes: 0 nothing changed, 1 it changed.',
      run: async ({ operands: [name = ''] }, io) => (await import('./mcp-servers.ts')).showChanges(name, io),
    },
    {
      name: 'accept',
      summary: 'Accept what a server offers now.',
      operands: 'NAME',
      operandCount: [1, 1],
      options: [
        {
          name: 'comment',
          value: 'TEXT',
          help: 'The reason; recorded. Required where the policy requires an approval.',
        },
      ],
      notes: 'Review it first: preflight mcp changes NAME.\nExit codes: 0 accepted, 1 refused.',
      run: async (args, io) => (await import('./mcp-servers.ts')).acceptChanges(args, io),
    },
    {
      name: 'serve',
      summary: 'Serve several MCP servers at one address, each judged on its own.',
      operands: 'FILE',
      operandCount: [1, 1],
      options: [
        { name: 'port', value: 'PORT', help: 'Port on 127.0.0.1; default: 15085. 0 takes a free one.' },
        { name: 'idle', value: 'SECONDS', help: 'End a session after this time without use; default: 1800.' },
        ...HUB_OPTIONS,
      ],
      notes: [
        'FILE lists servers under "mcpServers", as the configuration of an editor does.',
        'Tools and prompts are named SERVER__NAME, addresses of resources SERVER+ADDRESS.',
        'It prints the address for the client. Whoever knows the address can call the servers.',
      ].join('\n'),
      run: async (args, io) => (await import('./mcp-serve.ts')).serveGroup(args, io),
    },
    {
      name: 'daemon',
      summary: 'Run the daemon in the foreground. It starts by itself when it is needed.',
      operands: '',
      operandCount: [0, 0],
      options: [{ name: 'idle', value: 'SECONDS', help: 'End after this time without a server; default: 600.' }],
      run: async (args, io) => (await import('./mcp-daemon.ts')).runDaemon(args, io),
    },
  ],
}

async function wrapServer(args: Arguments, io: CommandIo): Promise<number> {
  const { environment } = io
  const [url, sse] = [args.value('url'), args.value('sse')]
  const command = url ?? sse ?? args.operands.join(' ')
  const given = [url, sse, args.operands[0]].filter((one) => one !== undefined)
  if (given.length !== 1) throw new UsageError('name one server: -- COMMAND, --url or --sse')
  const address = url ?? sse
  if (address !== undefined && !isServerAddress(address))
    throw new UsageError(`${JSON.stringify(address)} is not an address of a server: write http:// or https://`)
  const name = args.value('name') ?? serverNameOf(address === undefined ? args.operands : [command])
  const problem = nameProblem(name)
  if (problem !== null) throw new UsageError(problem)
  const headers = serverHeaders(args, environment)
  const connectToDaemon = daemonConnector(homeOf(args, environment), environment)
  const connection = connectToDaemon()
  connection.catch(() => {})
  let first: typeof connection | null = connection
  const program = await programOf(args, headers, environment)
  const note = (text: string): void => writeLine(io.stderr, `preflight mcp ${name}: ${text}`)
  const release = passSignals(program)
  const exitCode = await runWrapper({
    name,
    command,
    version: packageVersion(),
    program,
    ...(url === undefined ? {} : { url, headers }),
    stdin: io.stdin,
    stdout: io.stdout,
    note,
    connect: () => {
      const next = first ?? connectToDaemon()
      first = null
      return next
    },
  })
  release()
  await flushed(io)
  // An open input would keep the process.
  io.stdin.destroy()
  return exitCode
}

async function programOf(
  args: Arguments,
  headers: Readonly<Record<string, string>>,
  environment: Environment,
): Promise<WrappedProgram | null> {
  const sse = args.value('sse')
  if (sse !== undefined) return (await import('../stdio/sse-server.ts')).reachSseServer(sse, headers)
  return args.value('url') === undefined ? startProgram(args.operands, environment) : null
}

function serverHeaders(args: Arguments, environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    args.values('header').map((text) => {
      const cut = text.indexOf(':')
      if (cut < 1) throw new UsageError(`--header ${JSON.stringify(text)} is not NAME:VALUE`)
      const name = text.slice(0, cut).trim().toLowerCase()
      const value = withEnvironment(text.slice(cut + 1).trim(), environment)
      const problem = headerProblem(name, value)
      if (problem !== null) throw new UsageError(`--header: ${problem}`)
      return [name, value]
    }),
  )
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A signal is for the server; the wrapper ends with it. */
function passSignals(program: WrappedProgram | null): () => void {
  const pass = (signal: NodeJS.Signals): void => {
    if (program === null) process.exit(0)
    else program.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  return () => {
    for (const signal of SIGNALS) process.off(signal, pass)
  }
}

function flushed({ stdout }: CommandIo): Promise<void> {
  if (stdout.destroyed || stdout.writableLength === 0) return Promise.resolve()
  return new Promise((resolve) => void stdout.once('drain', resolve).once('close', resolve))
}
