/** Adds a grant to a request: with whose right, and together with the grants of other requests about the same change. */
import type { ApprovalDecisionRequest, ApprovalRow, ApprovalStep } from '../approvals.ts'
import { isGrantedBy, type Grant } from '../approvers.ts'
import { identitiesOf } from './api-keys.ts'
import { addStep, newStepId } from './approval-steps.ts'
import { rightOf } from './delegations.ts'
import { grantsInForce } from './grants.ts'
import type { Sql } from './operation.ts'

/** Adds one person's grant, and tells whether the request is granted with it. */
export async function countGrant(
  sql: Sql,
  row: ApprovalRow,
  { by, groups: asked, comment, at, earlier = [], isFourEyes, ...request }: ApprovalDecisionRequest,
  person: readonly string[],
): Promise<{ readonly result: 'settled' | 'counted' | 'group' | 'again'; readonly groups: readonly string[] }> {
  const { approvalId, tenant } = row
  // The key may have been revoked, or have left a group, since the caller was authenticated.
  const [standing] = await grantsInForce(sql, [{ by, groups: asked }])
  if (standing === undefined) return { result: 'group', groups: [] }
  const own = standing.groups
  const required = [...row.approvers, ...request.required]
  const askers = isFourEyes ? row.requesters : []
  const others = await joiningGrants(sql, earlier, [...person, ...row.grants.flatMap(personsOf), ...askers])
  const before = [...row.grants, ...others]
  if (row.grants.flatMap(personsOf).some((identity) => person.includes(identity))) {
    if (others.length === 0 || !isGrantedBy(required, before)) return { result: 'again', groups: own }
    await addJoined(sql, approvalId, others, at)
    return { result: 'settled', groups: own }
  }
  const excluded = [...askers, ...before.flatMap(personsOf)]
  const right = await rightOf(sql, { tenant, approvalId, person, own, required, before, excluded, at })
  if (right === null) return { result: 'group', groups: own }
  const { groups, principal } = right
  if (principal !== null) await addActing(sql, { approvalId, by, groups, at, text: principal })
  const isGranted = isGrantedBy(required, [...before, { by, groups }])
  // A single grant is the decision itself.
  const isSingle = isGranted && before.length === 0
  await addJoined(sql, approvalId, others, at)
  if (!isSingle) await addStep(sql, { approvalId, by, groups, at, stepId: newStepId(), kind: 'grant', text: comment })
  return { result: isGranted ? 'settled' : 'counted', groups }
}

/** Whose right counts with a grant: that of the person, and that of the principal. */
function personsOf({ by, principal }: Grant): readonly string[] {
  return principal == null ? [by] : [by, principal]
}

/** Of the grants of another request, those that count in this one: one of each person, and none of a person who is excluded here. */
async function joiningGrants(
  sql: Sql,
  earlier: readonly Grant[],
  excluded: readonly string[],
): Promise<readonly Grant[]> {
  const joining: Grant[] = []
  const taken = new Set(excluded)
  for (const grant of await grantsInForce(sql, earlier)) {
    const identities: string[] = []
    for (const identity of personsOf(grant)) identities.push(...(await identitiesOf(sql, identity)))
    if (identities.some((identity) => taken.has(identity))) continue
    for (const identity of identities) taken.add(identity)
    joining.push(grant)
  }
  return joining
}

async function addJoined(sql: Sql, approvalId: string, joining: readonly Grant[], at: number): Promise<void> {
  for (const { by, groups, principal } of joining) {
    if (principal != null) await addActing(sql, { approvalId, by, groups, at, text: principal })
    const text = 'granted with the same change'
    await addStep(sql, { approvalId, by, groups, at, stepId: newStepId(), kind: 'grant', text })
  }
}

/** Records whose right a person uses in this request. */
async function addActing(sql: Sql, step: Omit<ApprovalStep, 'stepId' | 'kind'>): Promise<void> {
  await addStep(sql, { ...step, stepId: newStepId(), kind: 'acting' })
}
