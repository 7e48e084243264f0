/** Bindings of tenants to repositories, and the challenges that prove them. */

/** Control of a tenant over a repository, proven by a file in it (docs/reference/api.md#bindings). Times are milliseconds since the epoch. */
export interface BindingRow {
  readonly tenant: string
  readonly platform: 'scm_a' | 'scm_b' | 'scm_c'
  /** `owner/name`. */
  readonly repository: string
  readonly provenAt: number
  /** Audience of the key that proved it. */
  readonly provenBy: string
}

export interface ChallengeRow extends Pick<BindingRow, 'tenant' | 'platform' | 'repository'> {
  readonly challengeId: string
  /** Required content of the marker file. */
  readonly marker: string
  readonly createdAt: number
  readonly expiresAt: number
}

export interface Bindings {
  /** All of a tenant's. */
  list(tenant: string): Promise<readonly BindingRow[]>
  record(row: BindingRow): Promise<void>
  openChallenge(row: ChallengeRow): Promise<void>
  challenge(tenant: string, challengeId: string): Promise<ChallengeRow | null>
}
