/**
 * Contracts whose own file did not change though a file that they refer to did. They are searched among all files with the name
 * of a contract, and among the files in the folders above the changed file, unless a folder holds too many.
 */
import { posix } from 'node:path'
import type { Problem } from '../../engine/internal.ts'
import { classify, type ContractFile } from './contract-file.ts'
import { type DerivationTerms, isReferable, typeByName } from './selector.ts'
import { askInOrder } from './transport.ts'
import type { TreeSides } from './merge-view.ts'
import type { ChangedFile, ScmClient } from './platform.ts'
import { LISTING_PROBLEMS } from './problems.ts'

/** A folder with more files of the kind holds data, not a contract and its parts. */
const CROWDED = 40

interface ChangedFiles {
  readonly base: string
  readonly files: readonly ChangedFile[]
  /** Of the changed files themselves. */
  readonly contracts: readonly ContractFile[]
  readonly sides: TreeSides
}

interface AffectedRoots {
  readonly contracts: readonly ContractFile[]
  readonly problem: Problem | null
}

export async function affectedRoots(
  client: Pick<ScmClient, 'paths'>,
  changes: ChangedFiles,
  terms: DerivationTerms,
): Promise<AffectedRoots> {
  const { base, files, contracts, sides } = changes
  const fragments = fragmentsOf(files, contracts, terms)
  if (fragments.size === 0) return { contracts: [], problem: null }
  const listed = await client.paths(base)
  const problem = listed.incomplete === null ? null : LISTING_PROBLEMS.incomplete(listed.incomplete)
  const changed = new Set(files.map(({ path }) => path))
  const candidates = rootCandidates(listed.items, fragments, terms).filter((path) => !changed.has(path))
  if (candidates.length > terms.maxContracts)
    return {
      contracts: [],
      problem: LISTING_PROBLEMS.incomplete(`${candidates.length} contracts may refer to what changed`),
    }
  const read = await askInOrder(candidates, (path) => classify({ path }, sides, terms))
  return { contracts: read.filter((root) => root.files.some((path) => fragments.has(path))), problem }
}

/** Changed files that another file may refer to, but for those that stand at the top of a contract themselves. */
function fragmentsOf(
  files: readonly ChangedFile[],
  contracts: readonly ContractFile[],
  { selector }: DerivationTerms,
): ReadonlySet<string> {
  const tops = new Set(
    contracts.flatMap(({ path, artifacts }) => (artifacts.some(({ type }) => type !== 'json_schema') ? [path] : [])),
  )
  return new Set(
    files.flatMap(({ path }) => (isReferable(path) && selector.isSelected(path) && !tops.has(path) ? [path] : [])),
  )
}

function rootCandidates(
  paths: readonly string[],
  fragments: ReadonlySet<string>,
  { selector }: DerivationTerms,
): readonly string[] {
  const above = new Set([...fragments].flatMap(foldersAbove))
  const referring = paths.filter((path) => isReferable(path) && selector.isSelected(path))
  const near = Map.groupBy(
    referring.filter((path) => above.has(posix.dirname(path))),
    (path) => posix.dirname(path),
  )
  const beside = [...near.values()].filter((folder) => folder.length <= CROWDED).flat()
  const named = referring.filter((path) => typeByName(path) !== null)
  return [...new Set([...named, ...beside])]
}

function foldersAbove(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)]
}
