/** What each role may do, and which tenant's data a caller reaches. Every check of a role or a tenant is made here. */
import { GatewayError } from '../errors/errors.ts'
import { LOCAL_TENANT } from './api-keys.ts'
import type { ApiKey, Role } from '../store/api-keys.ts'

/**
 * `ask`: ask for decisions, and see what was issued to the caller. `read`: see everything of the tenant. `approve`: grant, deny,
 * promote. `revoke`: revoke receipts. `operate`: open and close exceptions. `administer`: keys.
 */
export const RIGHTS = ['ask', 'read', 'approve', 'revoke', 'operate', 'administer'] as const
export type Right = (typeof RIGHTS)[number]

const ROLE_RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['read'],
  agent: ['ask'],
  approver: ['ask', 'read', 'approve', 'revoke'],
  operator: ['ask', 'read', 'revoke', 'operate'],
  admin: RIGHTS,
}

type RightHolder = Pick<ApiKey, 'role' | 'tenant'>

export function hasRight({ role }: Pick<RightHolder, 'role'>, right: Right): boolean {
  return ROLE_RIGHTS[role].includes(right)
}

/** `approver or admin`. */
export function rolesWith(right: Right): string {
  const roles = Object.entries(ROLE_RIGHTS).flatMap(([role, rights]) => (rights.includes(right) ? [role] : []))
  return roles.join(' or ')
}

/** The operator's own tenant: it sees what all tenants share, such as routes and exceptions on them. */
export function isOperatorTenant({ tenant }: Pick<RightHolder, 'tenant'>): boolean {
  return tenant === LOCAL_TENANT
}

/** @throws GatewayError FORBIDDEN */
export function requireRight(holder: Pick<RightHolder, 'role'>, right: Right): void {
  if (!hasRight(holder, right)) throw new GatewayError('FORBIDDEN', `This needs the role ${rolesWith(right)}.`)
}

/** Only the operator's tenant sees what all tenants share. @throws GatewayError FORBIDDEN */
export function requireOperatorTenant(holder: Pick<RightHolder, 'tenant'>): void {
  if (!isOperatorTenant(holder))
    throw new GatewayError('FORBIDDEN', `This needs a key of the tenant "${LOCAL_TENANT}".`)
}

/** Whether a caller reaches the keys of a tenant: its own, and the operator's tenant reaches all. */
export function managesTenant(holder: RightHolder, tenant: string): boolean {
  return hasRight(holder, 'administer') && (isOperatorTenant(holder) || holder.tenant === tenant)
}

/** Whether a caller decides for every tenant that shares something: its own alone, or all, as the operator's tenant does. */
export function decidesForAll(holder: Pick<RightHolder, 'tenant'>, tenants: readonly string[]): boolean {
  return isOperatorTenant(holder) || tenants.every((tenant) => tenant === holder.tenant)
}

export interface Caller {
  readonly tenant: string
  readonly audience: string | null
}
