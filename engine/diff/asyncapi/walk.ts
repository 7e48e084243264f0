/** What a comparison of two AsyncAPI documents has in hand, and how its walkers tell what they find. */
import type { AsyncApi } from '../../contracts/asyncapi/contract.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import type { SchemaComparison } from '../../schema/comparison.ts'
import type { ContractReport, RowChange, SchemaInUse } from '../contract-report.ts'

export type SayAsync = (change: RowChange & { readonly rule: AsyncApiRuleId }) => void

export interface AsyncWalk {
  readonly base: AsyncApi
  readonly head: AsyncApi
  readonly report: ContractReport
  readonly schemas: SchemaComparison
  /** Schemas in use, told once all are compared. */
  readonly uses: SchemaInUse[]
}
