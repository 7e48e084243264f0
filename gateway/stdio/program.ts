/** A server that is a program: started with the environment and the directory of the client. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { errorCode } from '../errors/startup-error.ts'
import type { Environment } from '../settings/environment.ts'
import type { ProgramEnd, WrappedProgram } from './wrapper.ts'

/** Exit codes of a shell for a program that cannot be run, or is not there. */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const SIGNALS: Readonly<Record<string, number>> = constants.signals

export function startProgram(command: readonly string[], environment: Environment, directory?: string): WrappedProgram {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...environment },
    ...(directory === undefined ? {} : { cwd: directory }),
    // On Windows most launchers (npx) are scripts of the shell.
    shell: process.platform === 'win32',
    windowsHide: true,
  })
  const { stdin, stdout } = child
  // The server may close its input early: it has not failed.
  stdin.on('error', () => {})
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('error', (error) => resolve(unstarted(program, error)))
    child.once('close', (code, signal) => resolve(programEnd(code, signal)))
  })
  return {
    stdin,
    stdout,
    ended,
    kill: (signal) => void child.kill(signal),
  }
}

function unstarted(program: string, error: Error): ProgramEnd {
  const isMissing = errorCode(error) === 'ENOENT'
  const reason = isMissing ? 'there is no such program' : error.message
  return { exitCode: isMissing ? NOT_FOUND : NOT_EXECUTABLE, message: `the server ${program} did not start: ${reason}` }
}

function programEnd(code: number | null, signal: NodeJS.Signals | null): ProgramEnd {
  if (signal !== null) return { exitCode: 128 + (SIGNALS[signal] ?? 0), message: `the server was ended by ${signal}` }
  return { exitCode: code ?? 1, message: `the server ended with exit code ${code ?? 1}` }
}
