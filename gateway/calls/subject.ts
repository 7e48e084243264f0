/** What a decision is about. */
import type { DecisionContext, DecisionScope } from '../../engine/internal.ts'

/** One thing within a request that needs a verdict of its own: a tool call, an API operation. */
export interface Subject {
  /** For the ledger: `tools/call echo`, `GET /pets/{petId}`. */
  readonly name: string
  /** target_id of its receipt, and the id of the artifact that is judged: each tool has a decision of its own. */
  readonly target: string
  /** Which findings decide; null: all of the contract's. */
  readonly scope: DecisionScope | null
  /** The operation to authorize, where the request itself says which one it is (`merge`, `publish`); else the route's. */
  readonly operation?: string
  /** The place that the request itself names; bound into the decision and its receipt. */
  readonly place?: Partial<Pick<DecisionContext, 'repository' | 'branch' | 'pull_request' | 'base' | 'head'>>
}
