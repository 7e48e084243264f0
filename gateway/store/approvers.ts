/** Who may grant an approval: the groups of a key, compared with the groups that the rules of a policy name. */
import type { Approvers } from '../../engine/internal.ts'

const GROUP = /^[a-z0-9][a-z0-9_.-]{0,62}$/

/** True when the approver is in one group of each required set; without required sets every approver may. */
export function mayGrant(asked: Approvers, groups: readonly string[]): boolean {
  return asked.every((alternatives) => alternatives.some((group) => groups.includes(group)))
}

/** `payments or security, and platform`. */
export function approverWords(asked: Approvers): string {
  return asked.map((alternatives) => alternatives.join(' or ')).join(', and ')
}

/** Names separated by commas, from the command line; null when one is not a valid group name. */
export function readGroups(text: string): readonly string[] | null {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => GROUP.test(name)) ? [...new Set(names)].sort() : null
}
