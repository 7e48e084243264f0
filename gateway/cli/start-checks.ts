/**
 * What a start checks besides the settings: data directory, receipt keys, ledger, first key, and the addresses. Changes
 * nothing, so it can run next to a gateway that serves.
 */
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { requireUsableBootstrapKey } from '../callers/api-keys.ts'
import type { Config } from '../config/schema.ts'
import { errorCode, messageOf } from '../errors/startup-error.ts'
import { keyFile, readKeyFile } from '../keys/key-file.ts'
import { listenFailure } from '../wiring/listeners.ts'
import { listenOn } from '../network/listen.ts'
import { parseAddress } from '../network/listen-address.ts'
import { statsOf } from '../runtime/regular-file.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { verificationKeys } from '../keys/jwks.ts'
import { systemClock } from '../keys/key-ring.ts'
import { isFreshLedger, requireContinuity, requireKnownLedger } from '../store/opening/continuity.ts'
import { ledgerFile } from '../store/opening/open.ts'
import { readLedgerFile } from '../store/sqlite/reader.ts'
import { authorityFile, readAuthorityFile } from '../tls/authority-file.ts'

/** The reasons for which a start would fail; empty when it would not. */
export async function startProblems(config: Config, environment: Environment): Promise<readonly string[]> {
  const bootstrap = variable(environment, 'PREFLIGHT_BOOTSTRAP_KEY')
  const checks: readonly (() => unknown)[] = [
    () => requireUsableDirectory(config.data_dir),
    () => readKeyFile(keyFile(config.data_dir)),
    () => readAuthorityFile(authorityFile(config.data_dir)),
    () => requireKnownLedger(config),
    () => requireSignedLedger(config),
    () => (bootstrap === null ? null : requireUsableBootstrapKey(bootstrap)),
    ...Object.entries(config.listen).map(
      ([name, text]) =>
        () =>
          requireOpenable(name, text),
    ),
  ]
  const problems = await Promise.all(checks.map(problemIn))
  // An unreadable key file is the problem of two checks.
  return [...new Set(problems.filter((problem) => problem !== null))]
}

async function problemIn(check: () => unknown): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** A missing directory must be one that can be made: the first directory above it that exists is writable. */
function requireUsableDirectory(configured: string): void {
  const directory = resolve(configured)
  let existing = directory
  while (statsOf(existing) === null && dirname(existing) !== existing) existing = dirname(existing)
  const problem = directoryProblem(existing)
  if (problem === null) return
  const act = existing === directory ? 'used' : 'created'
  throw new Error(
    `The data directory ${directory} cannot be ${act}: ${problem}. ` +
      'Name one that this user can write to with data_dir or PREFLIGHT_DATA_DIR.',
  )
}

function directoryProblem(path: string): string | null {
  if (statsOf(path)?.isDirectory() !== true) return `${path} is not a directory`
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    return `${path} is not writable (${errorCode(error) ?? messageOf(error)})`
  }
  // Nothing can be made there, and access(2) does not report it.
  return /^\/(?:proc|sys)(?:\/|$)/.test(path) ? `${path} is not on a disk` : null
}

/** A file can be read without a change. A database is checked by the start alone. */
async function requireSignedLedger(config: Config): Promise<void> {
  const file = ledgerFile(config)
  if (file === null || isFreshLedger(config)) return
  const keys = verificationKeys(readKeyFile(keyFile(config.data_dir)) ?? [], systemClock())
  await readLedgerFile(file, (reads) => requireContinuity(config, reads, { keySet: () => keys }))
}

/** An address in use is accepted: the running gateway may use it. */
async function requireOpenable(name: string, text: string): Promise<void> {
  const { host, port } = parseAddress(text)
  const server = createServer()
  try {
    await listenOn(server, host, port)
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw listenFailure(name, text, error)
  } finally {
    server.close()
  }
}
