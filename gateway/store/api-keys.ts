/** API keys of people and programs, and the addresses that signed up for one. */

export type Role = 'agent' | 'approver' | 'admin'

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
}

export interface ApiKeys {
  byHash(hash: string): Promise<ApiKey | null>
  list(): Promise<readonly ApiKey[]>
  create(key: ApiKey): Promise<void>
  /** True when the key exists; the time of the first revocation stays. */
  revoke(hash: string, at: number): Promise<boolean>
  /** @param mail digest of the address; false, and no key, when it has one already */
  signUp(key: ApiKey, mail: string): Promise<boolean>
}
