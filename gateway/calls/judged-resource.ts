/** The resource that a decision is made for. */
import type { DecisionContext, DecisionScope } from '../../engine/internal.ts'

/** One resource within a request that needs its own verdict: a tool call, an API operation. */
export interface JudgedResource {
  /** For the ledger: `tools/call echo`, `GET /pets/{petId}`. */
  readonly name: string
  /** target_id of its receipt, and the id of the judged artifact: each tool has its own decision. */
  readonly target: string
  /** Which findings count; null: all of the contract's. */
  readonly scope: DecisionScope | null
  /** The operation to authorize, where the request itself names it (`merge`, `publish`); else the route's. */
  readonly operation?: string
  /** The place that the request itself names; bound into the decision and its receipt. */
  readonly place?: Partial<Pick<DecisionContext, 'repository' | 'branch' | 'pull_request' | 'base' | 'head'>>
  /** What is merged, pushed or shipped. Names of refs move: a receipt whose head is a commit is for this one only. */
  readonly commit?: string
}
