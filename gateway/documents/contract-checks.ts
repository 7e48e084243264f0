/** What the schema cannot say of where contracts come from: files or programs that are missing, sources that nothing can be read from. */
import { accessSync, constants, statSync } from 'node:fs'
import { sep } from 'node:path'
import { spawnSync } from 'node:child_process'
import { errorCode } from '../errors/startup-error.ts'
import { absenceAt, CORRECT_PATH, mistakeAt } from '../settings/mistake-collector.ts'
import type { ContractSource, Protocol, Route } from '../routing/route.ts'
import type { DocumentsConfig } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { fileFault, statsOf } from '../runtime/regular-file.ts'

interface RoutesConfig {
  readonly routes: readonly Route[]
}

/** What a protocol says of the contracts that its routes name. */
interface ContractHabits {
  readonly takesContractFolders?: true
  readonly namesAddresses?: true
  readonly unwatched?: string
}

/** The row of each protocol, handed in by what knows them all. */
type ContractHabitsOf = (protocol: Protocol) => ContractHabits

export function checkContractFiles({ routes }: RoutesConfig, habitsOf: ContractHabitsOf): readonly LocatedMistake[] {
  return routes.flatMap(({ contract, protocol }, index) =>
    (['baseline', 'current'] as const).flatMap((side) => {
      const place = `/routes/${index}/contract/${side}`
      const reason = unreadableSource(contract?.[side], habitsOf(protocol).takesContractFolders === true)
      if (reason !== null) return [mistakeAt(`${place}/file`, reason, CORRECT_PATH)]
      const around = notAround(contract?.[side])
      return around === null ? [] : [mistakeAt(`${place}/root`, around, 'name a folder that the file lies in')]
    }),
  )
}

const NO_CURRENT_CONTRACT = 'there is nothing to watch: contract.current is not named'
const NAME_CURRENT_CONTRACT = 'name contract.current, or leave watch out'

export function checkContractSources(
  { routes, diff }: RoutesConfig & DocumentsConfig,
  habitsOf: ContractHabitsOf,
): readonly LocatedMistake[] {
  return routes.flatMap(({ contract, protocol }, index) => {
    const unplaced = (['baseline', 'current'] as const).flatMap((side) => {
      const source = contract?.[side]
      return source !== undefined && 'git' in source && diff.repository === undefined
        ? [
            absenceAt(
              `/routes/${index}/contract/${side}/git`,
              ['diff'],
              'there is no repository to read it from',
              'add diff.repository',
            ),
          ]
        : []
    })
    const unwatchable =
      contract?.watch !== undefined && contract.current === undefined
        ? [
            mistakeAt(
              `/routes/${index}/contract/watch`,
              habitsOf(protocol).unwatched ?? NO_CURRENT_CONTRACT,
              NAME_CURRENT_CONTRACT,
            ),
          ]
        : []
    return [...unplaced, ...unwatchable]
  })
}

/**
 * Why the file of a source cannot be read, as a sentence; null when it can, or when there is none.
 * @param mayBeFolder of a protobuf contract: its files name each other by their paths in it
 */
export function unreadableSource(source: ContractSource | undefined, mayBeFolder: boolean): string | null {
  if (source === undefined || !('file' in source)) return null
  try {
    accessSync(source.file, constants.R_OK)
    const found = statSync(source.file)
    return found.isFile() || (found.isDirectory() && mayBeFolder) ? null : `${source.file} is not a file`
  } catch (error) {
    return fileFault(source.file, error)
  }
}

export function checkContractOrigins({ routes }: RoutesConfig, habitsOf: ContractHabitsOf): readonly LocatedMistake[] {
  return routes.flatMap(({ contract, protocol }, index) => {
    const { origins = [], baseline, current } = contract ?? {}
    const place = `/routes/${index}/contract/origins`
    const hasAddress = [baseline, current].some((source) => source !== undefined && 'url' in source)
    if (origins.length === 0 || hasAddress || habitsOf(protocol).namesAddresses === true) return []
    const what = 'the contract is not fetched from an address, so no origin is asked'
    return [mistakeAt(place, what, 'name contract.current or contract.baseline by url, or leave origins out')]
  })
}

/** References may lead into a folder; the file itself has to be in it. */
function notAround(source: ContractSource | undefined): string | null {
  if (source === undefined || !('file' in source) || source.root === undefined) return null
  const { file, root } = source
  if (statsOf(root)?.isDirectory() !== true) return `${root} is not a folder`
  return file.startsWith(root.endsWith(sep) ? root : root + sep) ? null : `${file} is not in ${root}`
}

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
