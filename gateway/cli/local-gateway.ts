/** The gateway that serves from a data directory on this machine, reached at its admin listener (gateway/listen/local-access.ts). */
import { resolve } from 'node:path'
import { messageOf } from '../errors/startup-error.ts'
import { servingFile } from '../listen/local-access.ts'
import { readPrivateFile } from '../runtime/private-file.ts'
import { isRecord } from '../settings/defaults.ts'
import { UsageError, type Arguments } from './command.ts'
import { placeConfigOf } from './config-option.ts'
import type { CommandIo } from './io.ts'

const TIMEOUT_MS = 10_000

/** @param path with its query @throws UsageError when no gateway serves from the data directory */
export async function askLocal(args: Arguments, io: CommandIo, method: 'GET' | 'PUT', path: string): Promise<unknown> {
  const directory = resolve(placeConfigOf(args, io).data_dir)
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
    const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error)
    throw new Error(
      `the gateway of ${directory} does not answer at ${admin}: ${reason}. It ended without cleaning up, or its admin listener has a certificate that is not trusted here; then use --url`,
      { cause: error },
    )
  }
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const message = isRecord(answer) && typeof answer['message'] === 'string' ? answer['message'] : ''
  throw new Error(`${admin} answered ${response.status}: ${message}`)
}

function servingIn(directory: string): { readonly admin: string; readonly token: string } {
  const file = servingFile(directory)
  const text = readPrivateFile(file, {
    subject: `The file ${file}`,
    remedy: 'Run the command as the user of the gateway, or name the gateway with --url.',
  })
  if (text === null)
    throw new UsageError(`no gateway serves from ${directory}; name one with --url, --data-dir or --config`)
  const read: unknown = JSON.parse(text)
  if (isRecord(read) && typeof read['admin'] === 'string' && typeof read['token'] === 'string')
    return { admin: read['admin'], token: read['token'] }
  throw new UsageError(`${file} was not written by this version; restart the gateway, or use --url`)
}
