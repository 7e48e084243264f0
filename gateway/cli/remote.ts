/**
 * Which gateway a command works on: a running one over its API (`--url`, PREFLIGHT_URL), or the data directory of one on this
 * machine. The key is never an argument, since arguments are visible to every user of a machine.
 */
import { recordIn, textIn } from '../json/unchecked-json.ts'
import { isLoopback } from '../network/listen-address.ts'
import { exposedFiles } from '../runtime/private-file.ts'
import { userName } from '../runtime/current-user.ts'
import { variable } from '../settings/environment.ts'
import { InputError, UsageError, type Arguments, type OptionSpec } from './command.ts'
import { configSource, PLACE_OPTIONS, placeConfigOf } from './config-option.ts'
import { textFile } from './documents.ts'
import { gatewayClient, type GatewayClient } from './gateway-client.ts'
import { writeLine, type CommandIo } from './io.ts'
import { sessionAt } from './session-file.ts'
import { resolve } from 'node:path'
import { fetchFailure } from '../errors/startup-error.ts'
import { readServing, type ServingGateway } from '../listen/local-access.ts'

export const URL_OPTION: OptionSpec = {
  name: 'url',
  value: 'URL',
  help: 'API of a running gateway; else PREFLIGHT_URL.',
}
const KEY_OPTION: OptionSpec = {
  name: 'key-file',
  value: 'FILE',
  help: 'File with the API key; else PREFLIGHT_API_KEY, else the session of preflight login.',
}

/** A running gateway. */
export const GATEWAY_OPTIONS: readonly OptionSpec[] = [URL_OPTION, KEY_OPTION]
/** A running gateway, or the data directory of one. */
export const SITE_OPTIONS: readonly OptionSpec[] = [
  { ...URL_OPTION, help: 'API of a running gateway; else PREFLIGHT_URL, else the data directory.' },
  KEY_OPTION,
  ...PLACE_OPTIONS,
]

/** Who is recorded when a command changes a data directory. */
export function localUser(): string {
  return `cli:${userName()}`
}

/** What a command says before it decides on a data directory. */
export function aroundFourEyes(): string {
  return `on the data directory as ${localUser()}: four eyes are not checked`
}

/** For the notes of commands that decide. */
export const AROUND_FOUR_EYES =
  'With --url, the holder of the key decides: role, group and four eyes are checked. On the data directory, cli:USER decides: that\n' +
  'needs write access to it, is not subject to four eyes, and is recorded.'

/** Null: the command works on a data directory. @param localOnly options that have no meaning with a running gateway */
export function remoteOf(args: Arguments, io: CommandIo, localOnly: readonly string[] = []): GatewayClient | null {
  const placed = PLACE_OPTIONS.map(({ name }) => name).find((name) => args.value(name) !== undefined)
  const named = args.value('url')
  if (named !== undefined && placed !== undefined)
    throw new UsageError(`--url is a running gateway, and --${placed} is a data directory; give one of them`)
  const url = named ?? (placed === undefined ? variable(io.environment, 'PREFLIGHT_URL') : null)
  if (url === null) {
    if (args.value('key-file') !== undefined) throw new UsageError('--key-file needs --url, or PREFLIGHT_URL')
    return null
  }
  const useless = localOnly.find((name) => args.value(name) !== undefined)
  if (useless !== undefined) throw new UsageError(`--${useless} is for a data directory; with --url, the key states it`)
  return connected(url, args, io)
}

/** For commands that need a running gateway. */
export function gatewayOf(args: Arguments, io: CommandIo): GatewayClient {
  return connected(gatewayAddress(args, io), args, io)
}

export function gatewayAddress(args: Arguments, io: CommandIo): string {
  const url = args.value('url') ?? variable(io.environment, 'PREFLIGHT_URL')
  if (url !== null) return url
  throw new UsageError('no gateway is named: give --url URL, or set PREFLIGHT_URL')
}

function connected(url: string, args: Arguments, io: CommandIo): GatewayClient {
  // The address is checked before the session of its origin is looked up.
  const { origin } = gatewayClient({ url, key: null })
  const { hostname, protocol } = new URL(origin)
  if (protocol === 'http:' && !isLoopback(hostname.replaceAll(/[[\]]/g, '')))
    writeLine(io.stderr, `warning: the key goes to ${hostname} without encryption; use an https address`)
  const own = statedKey(args, io)
  const key = own ?? sessionAt(io.environment, origin)?.key
  if (key === undefined)
    throw new UsageError(
      'there is no API key: name a file with --key-file, set PREFLIGHT_API_KEY, or sign in with preflight login',
    )
  return gatewayClient({ url, key, remedy: own === null ? SIGN_IN_AGAIN : ASK_FOR_KEY })
}

const SIGN_IN_AGAIN = 'The session has ended: sign in with preflight login.'
/** What to do when a stated key is not accepted. */
export const ASK_FOR_KEY = 'It may be mistyped, expired or revoked: ask an administrator for a new one.'

/** Null: none is stated. */
function statedKey(args: Arguments, io: CommandIo): string | null {
  const file = args.value('key-file')
  if (file !== undefined) {
    if (exposedFiles([file]).length > 0)
      writeLine(io.stderr, `warning: every user of this machine can read ${file}: chmod 600 ${file}`)
    const key = textFile(file).trim()
    if (key === '' || /\s/.test(key)) throw new InputError(`${file} must contain one API key and nothing else`)
    return key
  }
  return variable(io.environment, 'PREFLIGHT_API_KEY')
}

const TIMEOUT_MS = 10_000

/** @param path with its query @throws UsageError when no gateway serves from the data directory */
export async function askLocal(args: Arguments, io: CommandIo, method: 'GET' | 'PUT', path: string): Promise<unknown> {
  const directory = servingDirectory(args, io)
  const { admin, token } = servingIn(directory)
  let response: Response
  try {
    response = await fetch(new URL(path, admin), {
      method,
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    const reason = fetchFailure(error)
    throw new Error(
      `the gateway of ${directory} does not answer at ${admin}: ${reason}. It ended without cleaning up, or its admin listener has a certificate that is not trusted here; then use --url`,
      { cause: error },
    )
  }
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const message = textIn(recordIn(answer)['message']) ?? ''
  throw new Error(`${admin} answered ${response.status}: ${message}`)
}

/** A directory that is named needs no configuration: that on disk may have mistakes while the gateway goes on with the one before. */
function servingDirectory(args: Arguments, io: CommandIo): string {
  const named = variable(configSource(args, io).environment, 'PREFLIGHT_DATA_DIR')
  return resolve(named ?? placeConfigOf(args, io).data_dir)
}

function servingIn(directory: string): ServingGateway {
  const serving = readServing(directory)
  if (serving === null)
    throw new InputError(`no gateway serves from ${directory}; name one with --url, --data-dir or --config`)
  return serving
}
