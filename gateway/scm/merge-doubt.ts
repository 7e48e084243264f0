/**
 * Merges whose result is not what the changed files of the head show. Git follows renames, a rebase repeats commits one by one, and
 * branches that merged parts of each other have several common ancestors. Where a contract may be concerned, the result is unknown.
 */
import type { Problem } from '../../engine/internal.ts'
import type { ChangedFile, Listing, ScmClient } from './platform.ts'
import { MERGE_PROBLEMS } from './problems.ts'

interface UncertainMerge {
  readonly base: string
  readonly head: string
  readonly mergeBase: string
  readonly isRebase: boolean
  /** That the head changed since the merge base. */
  readonly files: readonly ChangedFile[]
}

/** What one of the branches changed. */
export interface BranchChanges {
  readonly from: string
  readonly to: string
  readonly files: Listing<ChangedFile>
}

interface ContractSearch {
  readonly isSelected: (path: string) => boolean
  /** Names of contracts among these changes. */
  readonly contractsIn: (changes: BranchChanges) => Promise<readonly string[]>
}

type DoubtingClient = Pick<ScmClient, 'changedFiles' | 'commitsBetween'>

/** Null: the merge brings each file that the head changed, and nothing else. */
export async function mergeDoubt(
  client: DoubtingClient,
  merge: UncertainMerge,
  { isSelected, contractsIn }: ContractSearch,
): Promise<Problem | null> {
  const { base, head, mergeBase, isRebase } = merge
  if (isRebase) {
    const { items, incomplete } = await client.commitsBetween(mergeBase, head)
    if (incomplete !== null) return MERGE_PROBLEMS.unlisted(incomplete)
    if (items.some((commit) => commit.isMerge)) return MERGE_PROBLEMS.flattened()
  }
  if (base === mergeBase) return null
  const files = await client.changedFiles(mergeBase, base)
  if (files.incomplete !== null) return MERGE_PROBLEMS.unlisted(files.incomplete)
  const selected = files.items.filter(({ path }) => isSelected(path))
  if (selected.length === 0) return null
  const suspected = await uncertainty(client, merge, { changed: files.items, selected })
  if (suspected === null) return null
  const [contract] = await contractsIn({ from: mergeBase, to: base, files: { ...files, items: suspected.items } })
  return contract === undefined ? null : suspected.problem(contract)
}

interface BaseChanges {
  readonly changed: readonly ChangedFile[]
  /** Those that may be contracts. */
  readonly selected: readonly ChangedFile[]
}

interface Uncertainty {
  /** Changes of the base that the merge may undo or change further. */
  readonly items: readonly ChangedFile[]
  readonly problem: (contract: string) => Problem
}

/** Null: the changes of the base stay as they are. */
async function uncertainty(
  client: DoubtingClient,
  { base, head, mergeBase, isRebase, files }: UncertainMerge,
  { changed, selected }: BaseChanges,
): Promise<Uncertainty | null> {
  if (isRebase) return { items: changed, problem: MERGE_PROBLEMS.rebased }
  const left = new Set(changed.flatMap(({ path, change }) => (change === 'removed' ? [path] : [])))
  const moved = files.find(({ path }) => left.has(path))?.path
  const added = moved === undefined ? [] : selected.filter(({ change }) => change === 'added')
  if (moved !== undefined && added.length > 0)
    return { items: added, problem: (contract) => MERGE_PROBLEMS.moved(moved, contract) }
  // All that is on the one side of the merge base and not on the other: more than one merge base leaves some out.
  const [since, ahead] = [await client.commitsBetween(mergeBase, head), await client.commitsBetween(base, head)]
  const incomplete = since.incomplete ?? ahead.incomplete
  if (incomplete !== null) return { items: changed, problem: () => MERGE_PROBLEMS.unlisted(incomplete) }
  return since.items.length === ahead.items.length ? null : { items: changed, problem: MERGE_PROBLEMS.crossed }
}
