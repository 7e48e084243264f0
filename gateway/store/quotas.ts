/** Requests of a tenant in a month. */

interface TenantUse {
  readonly tenant: string
  readonly used: number
}

export interface Quotas {
  /**
   * Adds one to the tenant's count of the month (`YYYY-MM`) unless it has reached `limit`; returns the new count, or null when
   * full.
   */
  count(tenant: string, month: string, limit: number): Promise<number | null>
  /** The tenant's count of the month so far. */
  used(tenant: string, month: string): Promise<number>
  /** The counts of all tenants that have one in the month. */
  ofMonth(month: string): Promise<readonly TenantUse[]>
}
