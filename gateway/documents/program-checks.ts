/** Settings that need a program of the machine: a missing one is a mistake of the configuration, not a failure of the first call. */
import { spawnSync } from 'node:child_process'
import { errorCode } from '../errors/startup-error.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { DocumentsConfig } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'

const PROGRAM_MS = 10_000

/** Contracts and documents at a git ref are read with git, from `diff.repository` only. */
export function checkPrograms({ diff }: DocumentsConfig): readonly LocatedMistake[] {
  if (diff.repository === undefined) return []
  const { error, status } = spawnSync('git', ['--version'], { stdio: 'ignore', timeout: PROGRAM_MS })
  if (error === undefined && status === 0) return []
  const reason = error === undefined ? `it ends with status ${status}` : (errorCode(error) ?? error.message)
  return [
    mistakeAt(
      '/diff/repository',
      `the program git cannot be run (${reason}), and repositories are read with it`,
      'install git on the PATH of the gateway, or leave diff.repository and sources of the form git out',
    ),
  ]
}
