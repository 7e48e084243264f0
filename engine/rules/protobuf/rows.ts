/** Every rule about protobuf contracts, with the corresponding rules of buf. */
import { contractRules } from '../row.ts'
import { DECLARATION_ROWS } from './declaration-rows.ts'
import { ENUM_ROWS } from './enum-rows.ts'
import { FIELD_ROWS } from './field-rows.ts'
import { FILE_ROWS } from './file-rows.ts'
import { MESSAGE_ROWS } from './message-rows.ts'
import { type ProtoRow, SOURCE } from './row.ts'
import { RPC_ROWS } from './rpc-rows.ts'
import { FILE_OPTIONS } from '../../contracts/protobuf/options.ts'

type FileOptionRuleId = `proto-file-${string}-changed`

const FILE_OPTION_ROWS: Readonly<Record<FileOptionRuleId, ProtoRow>> = Object.fromEntries(
  FILE_OPTIONS.map(({ name }) => [`proto-file-${name.replaceAll('_', '-')}-changed`, optionRow(name)]),
)

function optionRow(option: string): ProtoRow {
  return {
    level: 'dangerous',
    direction: 'none',
    area: 'protobuf files',
    kind: 'options',
    action: 'changed',
    effect: 'moves',
    buf: [`FILE_SAME_${option.toUpperCase()}`],
    sentence: `the file option ${option} changed from {before} to {after}`,
    why: SOURCE,
    fix: `Keep ${option} as it was.`,
  }
}

const ROWS = { ...FILE_ROWS, ...DECLARATION_ROWS, ...MESSAGE_ROWS, ...FIELD_ROWS, ...ENUM_ROWS, ...RPC_ROWS }

export type ProtoRuleId = keyof typeof ROWS | FileOptionRuleId

const BY_ID: ReadonlyMap<string, ProtoRow> = new Map(Object.entries<ProtoRow>({ ...ROWS, ...FILE_OPTION_ROWS }))

export const PROTO_RULES = contractRules(Object.fromEntries(BY_ID))

/** The rules of buf that correspond to a rule. */
export function bufRulesOf(id: string): readonly string[] {
  return BY_ID.get(id)?.buf ?? []
}
