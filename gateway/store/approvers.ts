/** Who may grant: groups of keys against the groups that the rules of a policy name. */
import type { Approvers } from '../../engine/internal.ts'

const GROUP = /^[a-z0-9][a-z0-9_.-]{0,62}$/

/** True when an approver with these groups is in one of each set that is asked for; nothing asked for: every approver may. */
export function mayGrant(asked: Approvers, groups: readonly string[]): boolean {
  return asked.every((alternatives) => alternatives.some((group) => groups.includes(group)))
}

/** `payments or security, and platform`. */
export function approverWords(asked: Approvers): string {
  return asked.map((alternatives) => alternatives.join(' or ')).join(', and ')
}

/** Names joined by commas, as the command line takes them; null when one is no name of a group. */
export function readGroups(text: string): readonly string[] | null {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => GROUP.test(name)) ? [...new Set(names)].sort() : null
}
