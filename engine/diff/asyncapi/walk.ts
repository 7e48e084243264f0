/** The context of a comparison of two AsyncAPI documents, and the callback by which its walkers report changes. */
import type { AsyncApi } from '../../contracts/asyncapi/contract.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import type { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { ContractWalk, SchemaInUse } from '../contract-walk.ts'

type AsyncApiChanges = ContractWalk<AsyncApiRuleId>

export type AddAsyncChange = AsyncApiChanges['add']

export interface AsyncWalk extends AsyncApiChanges {
  readonly base: AsyncApi
  readonly head: AsyncApi
  readonly schemas: SchemaComparison
  /** Schemas in use, reported after all of them are compared. */
  readonly uses: SchemaInUse[]
}
