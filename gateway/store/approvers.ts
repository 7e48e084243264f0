/** Who may grant an approval: the groups of the people who grant it, compared with what the rules of a policy require. */
import type { Approvers, RequiredApproval } from '../../engine/internal.ts'

const GROUP = /^[a-z0-9][a-z0-9_.-]{0,62}$/

/** One person's grant. */
export interface Grant {
  readonly by: string
  readonly groups: readonly string[]
  /** The approver who handed the right over; null or absent: the person's own right. Hubs of an earlier version leave it out. */
  readonly principal?: string | null
}

/** True when a grant with these groups counts for one of the required approvals; without required ones every grant does. */
export function mayGrant(required: Approvers, groups: readonly string[]): boolean {
  return required.length === 0 || required.some((one) => fits(one, groups))
}

/** True when these grants, each of another person, are all that is required. */
export function isGrantedBy(required: Approvers, grants: readonly Grant[]): boolean {
  return stillRequired(required, grants).length === 0
}

/** What is left to grant after these grants. */
export function stillRequired(required: Approvers, grants: readonly Grant[]): Approvers {
  return required.flatMap((one) => {
    const left = one.count - grants.filter(({ groups }) => fits(one, groups)).length
    return left > 0 ? [{ ...one, count: left }] : []
  })
}

function fits({ groups: allowed }: RequiredApproval, groups: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((group) => groups.includes(group))
}

/** Every group that is named, for filters and lists. */
export function groupsIn(required: Approvers): readonly string[] {
  return [...new Set(required.flatMap(({ groups }) => groups))]
}

/** Names separated by commas, from the command line; null when one is not a valid group name. */
export function readGroups(text: string): readonly string[] | null {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => GROUP.test(name)) ? [...new Set(names)].sort() : null
}
