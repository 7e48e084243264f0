/** What requests that deploy at GitHub do besides, over REST and GraphQL alike. */
import type { ScmRoute } from '../scm/settings.ts'
import type { Call } from '../../calls/call.ts'
import type { ScmClient } from '../../scm/platform.ts'
import { isCommitId } from '../../scm/members.ts'
import { isProtected } from '../scm/action.ts'
import { UnreadableIntent } from '../scm/intent.ts'
import { branchOf } from '../scm/request.ts'
import { refuseWaitingHead } from '../scm/waiting-merge.ts'

/** GitHub merges the default branch into a branch that it is to deploy, if that is behind. @throws UnreadableIntent */
export async function refuseMergeBefore(call: Call<ScmRoute>, ref: string, client: ScmClient): Promise<void> {
  const branch = branchOf(ref)?.replace(/^heads\//i, '') ?? null
  if (branch === null || isCommitId(branch)) return
  const { defaultBranch } = await client.facts()
  if (branch === defaultBranch) return
  if (!isProtected(call, branch)) return refuseWaitingHead(client, branch, defaultBranch)
  throw new UnreadableIntent(
    `this may bring commits of the default branch to ${branch} unjudged; set auto_merge to false.`,
  )
}

/** Workflows that listen for an event start, whichever they are. @throws UnreadableIntent */
export function refuseUnknownRun({ route }: Call<ScmRoute>): void {
  if (route.scm.workflows.length === 0) return
  throw new UnreadableIntent('which workflows this starts is not known; dispatch the workflow itself.')
}
