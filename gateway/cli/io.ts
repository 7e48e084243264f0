/** The input and output of a command: streams, environment, and whether stdout is a terminal. Tests pass in their own. */
import type { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { processEnvironment, variable, type Environment } from '../settings/environment.ts'

export interface CommandIo {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly environment: Environment
  /** Stdout is a terminal. */
  readonly isTerminal: boolean
}

export function processIo(): CommandIo {
  const { stdin, stdout, stderr } = process
  // The reader may close the pipe early (`| head`): the command has not failed.
  for (const stream of [stdout, stderr]) stream.on('error', ignoreClosedPipe)
  return { stdin, stdout, stderr, environment: processEnvironment(), isTerminal: isatty(stdout.fd) }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Colour is for a terminal whose user did not decline it (https://no-color.org). */
export function wantsColour({ isTerminal, environment }: CommandIo): boolean {
  return isTerminal && variable(environment, 'NO_COLOR') === null && environment['TERM'] !== 'dumb'
}

export function writeLine(stream: Writable, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)))
  return Buffer.concat(chunks).toString('utf8')
}
