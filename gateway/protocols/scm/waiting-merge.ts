/**
 * Requests that merge a branch by themselves once their checks pass (auto-merge). What comes to that branch meanwhile is
 * merged too, and nobody judged it when auto-merge was turned on.
 */
import type { HeadPlace, ScmClient, WaitingMerges } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import { UnreadableIntent } from './intent.ts'
import { branchOf } from './request.ts'

/**
 * @param from branch whose commits come to the branch; a merge into `from` is not changed by them
 * @param request whose head the branch is, where it may be in a fork
 * @throws UnreadableIntent for a branch that merges by itself
 */
export async function refuseWaitingHead(
  client: ScmClient,
  branch: string,
  from: string | null = null,
  request: HeadPlace | null = null,
): Promise<void> {
  const source = from === null ? null : branchOf(from)
  // `heads/main` may be a branch of this name, or `main`.
  const names = new Set([branch, branch.replace(/^(?:refs\/)?heads\//i, '')])
  const found: WaitingMerges[] = []
  for (const name of names) found.push(await waitingMerges(client, name, request))
  const [waiting] = found.flatMap(({ own, elsewhere }) => [...own.filter(({ base }) => base !== source), ...elsewhere])
  if (waiting === undefined) return
  throw new UnreadableIntent(
    `${waiting.name} has auto-merge on, so this would come to ${waiting.base} unjudged. Turn auto-merge off, change ${branch}, and merge when the checks have passed.`,
  )
}

async function waitingMerges(client: ScmClient, branch: string, request: HeadPlace | null): Promise<WaitingMerges> {
  try {
    return await client.waitingMerges(branch, request)
  } catch (error) {
    if (!(error instanceof ScmError)) throw error
    const { kind, status, headers, message } = error
    const what = `whether a pull request with auto-merge has ${branch} as its head could not be read: ${message}`
    throw new ScmError(kind, what, { ...(status !== null && { status }), headers, cause: error })
  }
}
