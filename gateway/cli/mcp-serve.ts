/** `preflight mcp serve FILE`: several MCP servers behind one address, for clients that want one URL. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { messageOf } from '../errors/startup-error.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { readPrivateFile, writePrivateFile } from '../runtime/private-file.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { openGroupEndpoint } from '../stdio/group-endpoint.ts'
import { serversOfFile, type ListedServer } from '../stdio/group-file.ts'
import type { GroupServer } from '../stdio/group-member.ts'
import { makeHome, type DeskHome } from '../stdio/home.ts'
import { startProgram } from '../stdio/program.ts'
import { reachSseServer } from '../stdio/sse-server.ts'
import { runWrapper, type WrappedProgram } from '../stdio/wrapper.ts'
import { EXIT, InputError, UsageError, type Arguments, type ExitCode, wholeSeconds } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'
import { daemonConnector, homeOf, withEnvironment } from './mcp-home.ts'

const DEFAULT_PORT = 15_085
const IDLE_SECONDS = 1800

export async function serveGroup(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [file = ''] = args.operands
  const listed = readListed(file, io)
  const home = homeOf(args, io.environment)
  makeHome(home)
  const endpoint = await openGroupEndpoint({
    port: endpointPort(args),
    secret: serveSecret(home),
    version: packageVersion(),
    servers: () => listed.map((server) => judgedServer(server, home, io)),
    note: (text) => writeLine(io.stderr, `preflight mcp serve: ${text}`),
    idleMs: 1000 * wholeSeconds(args, 'idle', IDLE_SECONDS),
  })
  writeLine(io.stdout, endpoint.address)
  writeLine(io.stderr, `${listed.length} servers: ${listed.map(({ name }) => name).join(', ')}`)
  await untilSignal()
  await endpoint.close()
  return EXIT.good
}

function endpointPort(args: Arguments): number {
  const text = args.value('port')
  const port = text === undefined ? DEFAULT_PORT : Number(text)
  if (/^\d+$/.test(text ?? '0') && port <= 65_535) return port
  throw new UsageError(`--port ${JSON.stringify(text)} is not a port; it takes 0 to 65535`)
}

function readListed(file: string, { environment }: CommandIo): readonly ListedServer[] {
  try {
    return serversOfFile(file, readRegularFile(file, 'utf8'), (text) => withEnvironment(text, environment))
  } catch (error) {
    const message = messageOf(error)
    // A fault of the file system names the file itself.
    throw new InputError(message.startsWith(file) ? message : `${file}: ${message}`)
  }
}

/** The same after each start, so that clients keep their address. */
function serveSecret({ folder }: DeskHome): string {
  const file = join(folder, 'serve.secret')
  const kept = readPrivateFile(file, { subject: 'The secret of preflight mcp serve', remedy: 'Remove the file.' })
  if (kept !== null && /^[0-9a-f]{48}$/.test(kept.trim())) return kept.trim()
  const secret = randomBytes(24).toString('hex')
  writePrivateFile(file, `${secret}\n`)
  return secret
}

function judgedServer(server: ListedServer, home: DeskHome, io: CommandIo): GroupServer {
  const { name, reach } = server
  return {
    name,
    async run({ stdin, stdout }) {
      let reason: string | null = null
      await runWrapper({
        name,
        command: reach.kind === 'program' ? reach.command.join(' ') : reach.url,
        version: packageVersion(),
        program: programFor(reach, io),
        ...(reach.kind === 'http' ? { url: reach.url, headers: reach.headers } : {}),
        stdin,
        stdout,
        note(text) {
          reason = `${name}: ${text}`
          writeLine(io.stderr, `preflight mcp serve: ${reason}`)
        },
        connect: daemonConnector(home, io.environment),
      })
      return reason
    },
  }
}

function programFor(reach: ListedServer['reach'], { environment }: CommandIo): WrappedProgram | null {
  if (reach.kind === 'program')
    return startProgram(reach.command, { ...environment, ...reach.variables }, reach.directory)
  return reach.kind === 'sse' ? reachSseServer(reach.url, reach.headers) : null
}

async function untilSignal(): Promise<void> {
  await Promise.race((['SIGTERM', 'SIGINT', 'SIGHUP'] as const).map((signal) => once(process, signal)))
}
