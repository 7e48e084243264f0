/** Every rule about a GraphQL schema. */
import { contractRules, type ContractRule } from '../contract-row.ts'
import type { Rule } from '../rule.ts'
import { DIRECTIVE_ROWS } from './directive-rows.ts'
import { federationRows, type FederationRuleId } from './federation-rows.ts'
import { FIELD_ROWS } from './field-rows.ts'
import { inputRows, type InputRuleId } from './input-rows.ts'
import { lifecycleRows, type LifecycleRuleId } from './lifecycle-rows.ts'
import type { GraphqlRow, GraphqlRows } from './row.ts'
import { TYPE_ROWS } from './type-rows.ts'

const WRITTEN_ROWS = { ...TYPE_ROWS, ...FIELD_ROWS, ...DIRECTIVE_ROWS }

export type GraphqlRuleId = keyof typeof WRITTEN_ROWS | InputRuleId | LifecycleRuleId | FederationRuleId

const RULES: ReadonlyMap<string, ContractRule> = contractRules(
  Object.fromEntries<GraphqlRow>([
    ...Object.entries(WRITTEN_ROWS satisfies GraphqlRows),
    ...inputRows(),
    ...lifecycleRows(),
    ...federationRows(),
  ]),
)

/** The rule of an id. */
export function graphqlRule(id: GraphqlRuleId): ContractRule {
  const rule = RULES.get(id)
  if (rule === undefined) throw new Error(`no row for the rule ${id}`)
  return rule
}

/** All of them, in the order of the rows. */
export function graphqlRules(): readonly Rule[] {
  return [...RULES.values()].map(({ rule }) => rule)
}
