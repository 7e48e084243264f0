/** The context of a comparison of two AsyncAPI documents, and the callback by which its walkers report changes. */
import type { AsyncApi } from '../../contracts/asyncapi/contract.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import type { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { ContractReport, RowChange, SchemaInUse } from '../contract-report.ts'

export type AddAsyncChange = (change: RowChange & { readonly rule: AsyncApiRuleId }) => void

export interface AsyncWalk {
  readonly base: AsyncApi
  readonly head: AsyncApi
  readonly report: ContractReport
  readonly schemas: SchemaComparison
  /** Schemas in use, reported after all of them are compared. */
  readonly uses: SchemaInUse[]
}
