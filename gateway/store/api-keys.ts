/** API keys of people and programs, and the addresses that signed up for one. */

export const ROLES = ['viewer', 'agent', 'approver', 'operator', 'admin'] as const
/** What each may do: gateway/callers/rights.ts. */
export type Role = (typeof ROLES)[number]

/** An API key as stored: its SHA-256 only (docs/reference/api.md#authentication). Times are milliseconds since the epoch. */
export interface ApiKey {
  /** 64 hex digits: SHA-256 of the key. */
  readonly hash: string
  /** `v:` and the first 12 digits of the hash. */
  readonly audience: string
  readonly tenant: string
  readonly name: string
  readonly role: Role
  readonly plan: string
  /** Groups of approvers that the holder is in. */
  readonly groups: readonly string[]
  readonly createdAt: number
  readonly revokedAt: number | null
  /** Valid until then; null: until it is revoked. Negative: that time has come, whatever a clock shows now. */
  readonly expiresAt: number | null
  /** The person behind the key (`oidc:PROVIDER:SUBJECT`, or any name); keys of one owner count as one person. Null: not stated. */
  readonly owner: string | null
  /** About when it was used last, a minute more or less; null: never since this is recorded. */
  readonly usedAt: number | null
}

/** Members that can be changed; absent: it stays. */
export interface ApiKeyChange {
  readonly groups?: readonly string[]
  readonly expiresAt?: number | null
  readonly owner?: string | null
}

export interface ApiKeys {
  byHash(hash: string): Promise<ApiKey | null>
  list(): Promise<readonly ApiKey[]>
  /** The audiences of all keys of the person behind an audience or owner, this one included. */
  identities(identity: string): Promise<readonly string[]>
  create(key: ApiKey): Promise<void>
  /** True when the key exists; the time of the first revocation stays. */
  revoke(hash: string, at: number): Promise<boolean>
  /** True when the key exists. */
  change(hash: string, change: ApiKeyChange): Promise<boolean>
  /** A new key in place of another one, which stays valid until then. False, and no new key, when the other is unknown or revoked. */
  rotate(hash: string, fresh: ApiKey, until: number): Promise<boolean>
  /** Notes that the key was used. */
  touch(hash: string, at: number): Promise<void>
  /** Records that the time of keys has come. A clock that is set back brings none of them back. */
  endExpired(at: number): Promise<void>
  /**
   * Removes keys of sign-ins at the command line, and of sessions of the console, that ended before a time. Those that a record names stay: who asked and who decided
   * stays known.
   * @returns the number of removed keys; when it is less than `limit`, none is left
   */
  removeEndedSignIns(before: number, limit: number): Promise<number>
  /** @param mail digest of the address; false, and no key, when it has one already */
  signUp(key: ApiKey, mail: string): Promise<boolean>
}
