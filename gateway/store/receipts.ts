/** What happened to the receipt of a decision after it was issued. */

export type ReceiptState = 'current' | 'superseded' | 'revoked' | 'consumed'

export interface Receipts {
  /** For any tenant: a verifier has a token, not a key. Null when this store never issued it. */
  state(decisionId: string): Promise<ReceiptState | null>
  /** The owners of decisions, by decision id; unknown ones are left out. */
  tenants(decisionIds: readonly string[]): Promise<Readonly<Record<string, string>>>
  /** Marks the receipt used; true for exactly one caller, ever. */
  consume(decisionId: string, at: number): Promise<boolean>
  /** Marks the receipt superseded by another decision than a newer one of its scope. */
  supersede(tenant: string, decisionId: string, by: string, reason: string, at: number): Promise<void>
  /** True when the decision exists for the tenant; revoking twice is no error. */
  revoke(tenant: string, decisionId: string, reason: string, by: string, at: number): Promise<boolean>
}
