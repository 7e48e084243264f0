/** `preflight mcp daemon`: the one gateway behind all wrapped servers of a user, as a process. */
import { rmSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { openSettings } from '../config/live-settings.ts'
import { ConfigError, formatMistake } from '../errors/mistake.ts'
import { errorCode, fetchFailure, messageOf } from '../errors/startup-error.ts'
import type { Environment } from '../settings/environment.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import type { LogFields } from '../telemetry/log.ts'
import { startDaemon, type DeskGateway } from '../stdio/daemon.ts'
import { deskHome, makeHome, type DeskHome } from '../stdio/home.ts'
import { EXIT, type Arguments, type ExitCode, wholeSeconds } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'

const IDLE_SECONDS = 600

export async function runDaemon(args: Arguments, { environment, stderr }: CommandIo): Promise<ExitCode> {
  const home = deskHome(environment)
  makeHome(home)
  const idleMs = 1000 * wholeSeconds(args, 'idle', IDLE_SECONDS)
  try {
    const daemon = await startDaemon({ home, startGateway: startDeskGateway, environment, now: Date.now, idleMs })
    rmSync(home.fault, { force: true })
    rmSync(home.starting, { force: true })
    writePrivateFile(home.process, `${JSON.stringify({ pid: process.pid, version: packageVersion() })}\n`)
    const stop = (): void => void daemon.close()
    const reload = (): void => daemon.reload()
    process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', reload)
    await daemon.ended
    process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', reload)
    // A daemon that lost its place leaves what the next one wrote.
    if (runningDaemon(home) === process.pid) rmSync(home.process, { force: true })
    return EXIT.good
  } catch (error) {
    rmSync(home.starting, { force: true })
    if (isHeldElsewhere(error)) {
      writeLine(stderr, 'another daemon serves this user')
      return EXIT.no
    }
    // Whole or not at all: those who wait for the daemon read it at any moment.
    writePrivateFile(home.fault, messageOf(error))
    throw error
  }
}

/** Process id of the daemon that runs; null: none states it. */
function runningDaemon({ process: file }: DeskHome): number | null {
  try {
    const { pid } = recordIn(JSON.parse(readRegularFile(file, 'utf8')))
    return typeof pid === 'number' ? pid : null
  } catch {
    return null
  }
}

function isHeldElsewhere(error: unknown): boolean {
  return (
    error instanceof Error && (errorCode(error) === 'HELD_ELSEWHERE' || errorCode(error.cause) === 'HELD_ELSEWHERE')
  )
}

/** Calls whose servers were not reached, and whose errors may not be written yet. */
const MOST_FAULTS = 100

async function startDeskGateway(file: string, environment: Environment): Promise<DeskGateway> {
  const { startGateway } = await import('../main.ts')
  const faults = new LRUCache<string, string>({ max: MOST_FAULTS })
  const onWarning = ({ event, correlation_id: id, err }: LogFields): void => {
    if (event === 'upstream.failed' && typeof id === 'string') faults.set(id, fetchFailure(err))
  }
  const gateway = await startGateway({ file, environment }, { onWarning })
  return {
    addresses: gateway.addresses,
    upstreamFault: (correlationId) => faults.get(correlationId) ?? null,
    warmUp: () => gateway.warmUp(),
    reload: () => gateway.reload(),
    problems() {
      try {
        openSettings({ file, environment })
        return []
      } catch (error) {
        if (error instanceof ConfigError) return error.mistakes.map(formatMistake)
        throw error
      }
    },
    close: () => gateway.close(),
  }
}
