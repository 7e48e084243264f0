/** How many people of which groups have to approve: from a pack, and in words. */
import type { Approvers, RequiredApproval } from './policy.ts'

interface ApprovalTerms {
  readonly approvers?: readonly string[]
  readonly approvals?: number | string
}

/** Null: the entry names neither groups nor a number, so any one approver may grant. */
export function requiredApproval({ approvers = [], approvals }: ApprovalTerms): RequiredApproval | null {
  if (approvals === undefined) return approvers.length === 0 ? null : { count: 1, groups: approvers }
  if (typeof approvals === 'number') return { count: approvals, groups: approvers }
  const [count = '', named = ''] = approvals.split(' of ')
  return { count: Number(count), groups: named.split(' or ') }
}

/** True when an entry names the groups twice. */
export function namesGroupsTwice({ approvers, approvals }: ApprovalTerms): boolean {
  return approvers !== undefined && typeof approvals === 'string'
}

/** `an approver of the group payments or security, and 2 approvers of the group platform`. */
export function approverWords(approvers: Approvers): string {
  if (approvers.length === 0) return 'a person who may approve'
  const texts = approvers.map(({ count, groups }, index) => {
    const people = count === 1 ? 'an approver' : `${count} approvers`
    if (groups.length === 0) return people
    const isShort = count === 1 && index > 0 && approvers[index - 1]?.count === 1
    return `${isShort ? '' : people + ' '}of ${isShort ? '' : 'the group '}${groups.join(' or ')}`
  })
  return texts.join(', and ')
}
