/** Every rule about a GraphQL schema. */
import { contractRules } from '../row.ts'
import { DIRECTIVE_ROWS } from './directive-rows.ts'
import { federationRows, type FederationRuleId } from './federation-rows.ts'
import { FIELD_ROWS } from './field-rows.ts'
import { inputRows, type InputRuleId } from './input-rows.ts'
import { lifecycleRows, type LifecycleRuleId } from './lifecycle-rows.ts'
import type { GraphqlRow, GraphqlRows } from './row.ts'
import { TYPE_ROWS } from './type-rows.ts'

const WRITTEN_ROWS = { ...TYPE_ROWS, ...FIELD_ROWS, ...DIRECTIVE_ROWS }

export type GraphqlRuleId = keyof typeof WRITTEN_ROWS | InputRuleId | LifecycleRuleId | FederationRuleId

export const GRAPHQL_RULES = contractRules(
  Object.fromEntries<GraphqlRow>([
    ...Object.entries(WRITTEN_ROWS satisfies GraphqlRows),
    ...inputRows(),
    ...lifecycleRows(),
    ...federationRows(),
  ]),
)
