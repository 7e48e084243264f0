/** `preflight mcp list`, `changes` and `accept`: the servers that `preflight mcp` has seen, and their contracts. */
import type { BaselineView } from '../baselines/baselines.ts'
import { deskHome, type DeskHome } from '../stdio/home.ts'
import { readServers } from '../stdio/server-list.ts'
import { baselineTexts, comparisonOf, withBaselines } from './baseline-sites.ts'
import { baselinesGroup, differenceText, promoteDigest } from './baselines.ts'
import { EXIT, parseCommandLine, UsageError, type Arguments, type Command, type ExitCode } from './command.ts'
import { textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'

export async function listServers(io: CommandIo): Promise<ExitCode> {
  const home = deskHome(io.environment)
  const servers = readServers(home)
  if (servers.length === 0) {
    writeLine(io.stdout, `no server was started by preflight mcp yet (${home.folder})`)
    return EXIT.good
  }
  const views = await withBaselines(promoteArguments(home), io, (baselines) => baselines.list())
  const rows = servers.map(({ name, command, seenAt }) => {
    const view = views.find(({ baseline }) => baseline.route === name)
    return [name, serverState(view), seenAt, command]
  })
  writeLine(io.stdout, textTable(['NAME', 'CONTRACT', 'LAST STARTED', 'COMMAND'], rows))
  return EXIT.good
}

function serverState(view: BaselineView | undefined): string {
  if (view === undefined) return 'not seen'
  return view.candidate === null ? 'unchanged' : 'changed'
}

export async function showChanges(name: string, io: CommandIo): Promise<number> {
  const home = deskHome(io.environment)
  requireServer(name, home)
  const view = await withBaselines(promoteArguments(home), io, (baselines) => baselines.view(name))
  const compared = view === null ? null : comparisonOf(baselineTexts(view))
  if (compared === null) {
    writeLine(io.stdout, view === null ? `${name} has offered nothing yet` : `${name} offers what was accepted`)
    return EXIT.good
  }
  writeLine(io.stdout, differenceText(compared, { base: 'accepted', head: 'offered' }, io))
  writeLine(io.stderr, `To accept it: preflight mcp accept ${name} --comment WHY`)
  return EXIT.no
}

export async function acceptChanges(given: Arguments, io: CommandIo): Promise<number> {
  const [name = ''] = given.operands
  const home = deskHome(io.environment)
  requireServer(name, home)
  const comment = given.value('comment')
  const args = promoteArguments(home, comment === undefined ? [] : ['--comment', comment])
  const view = await withBaselines(args, io, (baselines) => baselines.view(name))
  if (view === null || view.candidate === null) {
    writeLine(io.stderr, `${name} offers what was accepted; there is nothing to accept`)
    return EXIT.no
  }
  return promoteDigest(name, view.candidate.digest, args, io)
}

function requireServer(name: string, home: DeskHome): void {
  const known = readServers(home).map((server) => server.name)
  if (known.includes(name)) return
  const names = known.length === 0 ? 'none was started yet' : `known: ${known.join(', ')}`
  throw new UsageError(`there is no server ${JSON.stringify(name)}; ${names}`)
}

/** The options of a command on the data of the daemon. */
function promoteArguments({ config }: DeskHome, options: readonly string[] = []): Arguments {
  const promote = baselinesGroup.commands.find(({ name }) => name === 'promote') ?? missingCommand()
  return parseCommandLine(promote, ['ROUTE', 'DIGEST', '--config', config, ...options]) ?? missingCommand()
}

function missingCommand(): Command & Arguments {
  throw new Error('the command promote is missing')
}
