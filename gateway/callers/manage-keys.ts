/** Keys managed by an administrator, the same for the API and the console: made, changed, rotated, revoked, within the tenants that the administrator reaches. */
import { GatewayError } from '../errors/errors.ts'
import { readGroups } from '../store/approvers.ts'
import type { ApiKey, Role } from '../store/api-keys.ts'
import type { StorePart } from '../store/store.ts'
import type { LogFields, Logger } from '../telemetry/log.ts'
import { apiKeyRow, endOf, mintApiKey } from './api-keys.ts'
import { managesTenant, requireRight } from './rights.ts'

type Administrator = Pick<ApiKey, 'audience' | 'tenant' | 'role'>

interface ManageKeysDeps {
  readonly store: StorePart<'apiKeys.list' | 'apiKeys.create' | 'apiKeys.change' | 'apiKeys.rotate' | 'apiKeys.revoke'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface NewKey {
  readonly name: string
  readonly role: Role
  /** Default: the administrator's. */
  readonly tenant?: string | undefined
  readonly plan?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly owner?: string | null | undefined
  /** Seconds from now; null or absent: until it is revoked. */
  readonly lifetime?: number | null | undefined
}

interface KeyChange {
  readonly groups?: readonly string[] | undefined
  readonly owner?: string | null | undefined
  readonly lifetime?: number | null | undefined
}

/** A key and its text, which is shown once. */
export interface MadeKey {
  readonly key: string
  readonly row: ApiKey
}

/** Newest first. @throws GatewayError FORBIDDEN */
export async function managedKeys(
  admin: Administrator,
  { store }: Pick<ManageKeysDeps, 'store'>,
): Promise<readonly ApiKey[]> {
  requireRight(admin, 'administer')
  return (await store.apiKeys.list()).filter(({ tenant }) => managesTenant(admin, tenant)).toReversed()
}

/** @throws GatewayError FORBIDDEN or INVALID_INPUT */
export async function createKey(
  admin: Administrator,
  asked: NewKey,
  plans: object,
  deps: ManageKeysDeps,
): Promise<MadeKey> {
  const { name, role, tenant = admin.tenant, plan, groups = [], owner = null, lifetime = null } = asked
  if (!managesTenant(admin, tenant))
    throw new GatewayError('FORBIDDEN', 'This key manages the keys of its own tenant only.')
  if (plan !== undefined && !Object.hasOwn(plans, plan))
    throw invalidKeyMember('/plan', `is none of the plans ${Object.keys(plans).join(', ')}`)
  const now = deps.now()
  const key = mintApiKey()
  const row = apiKeyRow({
    key,
    name,
    role,
    at: now,
    tenant,
    groups: validGroups(groups),
    owner,
    expiresAt: lifetime === null ? null : now + lifetime * 1000,
    ...(plan !== undefined && { plan }),
  })
  await deps.store.apiKeys.create(row)
  noteChange('created', row, admin, deps)
  return { key, row }
}

/** @throws GatewayError FORBIDDEN, NOT_FOUND or INVALID_INPUT */
export async function changeApiKey(
  admin: Administrator,
  id: string,
  change: KeyChange,
  deps: ManageKeysDeps,
): Promise<ApiKey> {
  const old = await managedKey(admin, id, deps)
  const { groups, owner, lifetime } = change
  await deps.store.apiKeys.change(old.hash, {
    ...(groups !== undefined && { groups: validGroups(groups) }),
    ...(owner !== undefined && { owner }),
    ...(lifetime !== undefined && { expiresAt: lifetime === null ? null : deps.now() + lifetime * 1000 }),
  })
  noteChange('changed', old, admin, deps)
  return managedKey(admin, id, deps)
}

/**
 * A new key with the same name, role, groups and owner. The old one stays valid for `overlap` seconds.
 * @throws GatewayError FORBIDDEN or NOT_FOUND
 */
export async function rotateKey(
  admin: Administrator,
  id: string,
  overlap: number,
  deps: ManageKeysDeps,
): Promise<MadeKey> {
  const old = await managedKey(admin, id, deps)
  const now = deps.now()
  const end = endOf(old)
  const lifetime = end === null ? null : end - old.createdAt
  const key = mintApiKey()
  const row = apiKeyRow({ ...old, key, at: now, expiresAt: lifetime === null ? null : now + lifetime })
  if (!(await deps.store.apiKeys.rotate(old.hash, row, now + overlap * 1000)))
    throw new GatewayError('NOT_FOUND', 'There is no such key, or it was revoked.')
  noteChange('rotated', old, admin, deps)
  return { key, row }
}

/** @throws GatewayError FORBIDDEN or NOT_FOUND */
export async function revokeKey(admin: Administrator, id: string, deps: ManageKeysDeps): Promise<ApiKey> {
  const old = await managedKey(admin, id, deps)
  if (old.audience === admin.audience)
    throw new GatewayError('FORBIDDEN', 'A key cannot revoke itself; another administrator has to.')
  await deps.store.apiKeys.revoke(old.hash, deps.now())
  noteChange('revoked', old, admin, deps)
  return managedKey(admin, id, deps)
}

async function managedKey(admin: Administrator, id: string, deps: ManageKeysDeps): Promise<ApiKey> {
  const found = (await managedKeys(admin, deps)).find(({ audience }) => audience === id)
  if (found === undefined) throw new GatewayError('NOT_FOUND', 'There is no such key.')
  return found
}

function validGroups(groups: readonly string[]): readonly string[] {
  const read = groups.length === 0 ? [] : readGroups(groups.join(','))
  if (read === null) throw invalidKeyMember('/groups', 'has a name with other characters than a-z 0-9 _ . -')
  return read
}

function invalidKeyMember(pointer: string, message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', `${pointer.slice(1)} ${message}`, { details: [{ pointer, message }] })
}

function noteChange(what: string, key: ApiKey, { audience: by }: Administrator, { logger }: ManageKeysDeps): void {
  logger.info({ ...apiKeyAct(what, key), by }, 'API key changed')
}

/** The log record of a change of a key. */
export function apiKeyAct(change: string, { audience, role, tenant }: ApiKey): LogFields {
  return { event: 'keys.api_key_changed', change, key: audience, role, tenant }
}
