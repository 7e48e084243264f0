/** Every rule about protobuf contracts, with the rules of buf that each stands for. */
import type { Advice } from '../advice.ts'
import type { Rule } from '../rule.ts'
import { DECLARATION_ROWS } from './declaration-rows.ts'
import { ENUM_ROWS } from './enum-rows.ts'
import { FIELD_ROWS } from './field-rows.ts'
import { FILE_OPTION_ROWS, type FileOptionRuleId } from './file-option-rows.ts'
import { FILE_ROWS } from './file-rows.ts'
import { MESSAGE_ROWS } from './message-rows.ts'
import type { ProtoRow } from './row.ts'
import { RPC_ROWS } from './rpc-rows.ts'

const ROWS = { ...FILE_ROWS, ...DECLARATION_ROWS, ...MESSAGE_ROWS, ...FIELD_ROWS, ...ENUM_ROWS, ...RPC_ROWS }

export type ProtoRuleId = keyof typeof ROWS | FileOptionRuleId

/** A row in the form that findings are made from. */
export interface ProtoRule {
  readonly rule: Rule
  readonly advice: Advice
  /** What happened; `{name}`, `{before}` and `{after}` are open. */
  readonly says: string
  /** The rules of buf that report the same change. */
  readonly buf: readonly string[]
}

const RULES: ReadonlyMap<string, ProtoRule> = new Map(
  Object.entries<ProtoRow>({ ...ROWS, ...FILE_OPTION_ROWS }).map(([id, row]) => [id, ruleOf(id, row)]),
)

function ruleOf(id: string, { says, why, fix, buf, ...row }: ProtoRow): ProtoRule {
  const rule = { id, ...row, description: says.replaceAll(/[`{}]/g, ''), because: why }
  return { rule, advice: { explanation: why, fix }, says, buf }
}

/** The rule of an id. */
export function protoRule(id: ProtoRuleId): ProtoRule {
  const rule = RULES.get(id)
  if (rule === undefined) throw new Error(`no row for the rule ${id}`)
  return rule
}

/** All of them, in the order of the rows. */
export function protoRules(): readonly Rule[] {
  return [...RULES.values()].map(({ rule }) => rule)
}

/** The rules of buf that a rule of ours stands for. */
export function bufRulesOf(id: string): readonly string[] {
  return RULES.get(id)?.buf ?? []
}
