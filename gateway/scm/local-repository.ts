/** A repository on this machine, asked as the platforms are: the change set of a pipeline is listed by the same rules. */
import type { Result } from '../../engine/internal.ts'
import { GIT_REF, NO_SUCH_REF, readGitFiles, resolveGitTree, runGit } from '../documents/git.ts'
import { filesInOrder } from './files.ts'
import type { ChangedFile, ChangeType, ScmClient } from './platform.ts'
import { ScmError } from './scm-error.ts'

type LocalRepository = Pick<
  ScmClient,
  'platform' | 'commitOf' | 'compare' | 'changedFiles' | 'file' | 'paths' | 'parentsOf' | 'commitsBetween'
>

const MAX_BYTES = 64 * 1024 * 1024
const STATUSES: ReadonlyMap<string, ChangeType> = new Map([
  ['A', 'added'],
  ['M', 'modified'],
  ['T', 'modified'],
  ['D', 'removed'],
])

/** Git may not have looked for the commit at all. */
function unknownCommit(ref: string, reason: string): string {
  if (reason.includes(NO_SUCH_REF)) return `the repository knows no commit "${ref}"; fetch it first`
  return reason.replace(/\.$/, '')
}

/** All methods reject with a ScmError. @param folder inside the working tree */
export function openLocalRepository(folder: string): LocalRepository {
  const text = async (args: readonly string[]): Promise<string> =>
    valueOrThrow(await runGit(folder, args, { maxBytes: MAX_BYTES })).toString('utf8')

  const commitOf = async (ref: string): Promise<string> => {
    if (!GIT_REF.test(ref)) throw new ScmError('unexpected', `"${ref}" is not the name of a branch, a tag or a commit`)
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]
    const read = await runGit(folder, args, { maxBytes: 1024 })
    if (!read.ok) throw new ScmError('refused', unknownCommit(ref, read.problem.message))
    return read.value.toString('latin1').trim()
  }
  const changedFiles = async (from: string, to: string) => {
    const printed = await text(['diff', '--name-status', '--no-renames', '-z', from, to, '--'])
    return { items: filesInOrder(changesIn(printed)), incomplete: null }
  }
  return {
    // No platform: nothing that leaves this machine names it.
    platform: 'scm_a',
    commitOf,
    changedFiles,
    async compare(base, head) {
      const merged = await runGit(folder, ['merge-base', base, head], { maxBytes: 1024 })
      if (!merged.ok)
        throw new ScmError('refused', 'base and head have no common commit; fetch the whole history (fetch-depth: 0)')
      const mergeBase = merged.value.toString('latin1').trim()
      return { mergeBase, files: await changedFiles(mergeBase, head) }
    },
    async file(path, commit) {
      const tree = valueOrThrow(await resolveGitTree(folder, commit))
      const files = await readGitFiles(folder, tree, [path], MAX_BYTES)
      if (!files.ok) return { kind: 'unreadable', problem: files.problem }
      const content = files.value.get(path)
      return content === undefined ? { kind: 'absent' } : { kind: 'text', text: content }
    },
    async parentsOf(commit) {
      return (await text(['rev-list', '--parents', '--max-count=1', commit, '--'])).trim().split(' ').slice(1)
    },
    async commitsBetween(from, to) {
      const printed = await text(['rev-list', '--parents', `${from}..${to}`, '--'])
      const lines = printed.split('\n').filter(Boolean)
      const items = lines.map((line) => {
        const [id = '', ...parents] = line.split(' ')
        return { id, isMerge: parents.length > 1 }
      })
      return { items, incomplete: null }
    },
    async paths(commit) {
      const printed = await text(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit])
      return { items: printed.split('\0').filter(Boolean), incomplete: null }
    },
  }
}

function changesIn(printed: string): readonly ChangedFile[] {
  const fields = printed.split('\0')
  const changes: ChangedFile[] = []
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [status = '', path = ''] = [fields[index], fields[index + 1]]
    const change = STATUSES.get(status)
    if (change === undefined) throw new ScmError('unexpected', `git reports the status "${status}" of ${path}`)
    changes.push({ path, change })
  }
  return changes
}

function valueOrThrow<Value>(read: Result<Value>): Value {
  if (!read.ok) throw new ScmError('unexpected', read.problem.message)
  return read.value
}
