/**
 * Branches and tags that a request deletes. A protected one stays: its name would be free, and what is made by that name
 * next has no predecessor to be compared with. So a tag could move, and a branch be set, without a judgement.
 */
import type { ScmRoute } from './settings.ts'
import type { Call } from '../../calls/call.ts'
import { isProtected, isProtectedTag } from './action.ts'
import { UnreadableIntent } from './intent.ts'
import { NAME_STAYS } from './name-stays.ts'
import { branchOf, tagOf } from './request.ts'

/** @param ref with its prefix, such as `refs/tags/`. @throws UnreadableIntent for a protected branch or tag */
export function refuseRemoval(call: Pick<Call<ScmRoute>, 'route'>, ref: string): void {
  const tag = tagOf(ref)
  const branch = branchOf(ref)
  if ((tag !== null && isProtectedTag(call, tag)) || (branch !== null && isProtected(call, branch)))
    throw new UnreadableIntent(`${NAME_STAYS} (${ref}).`)
}
