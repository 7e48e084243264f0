/** File options that generated code follows. Each has one rule, because each language has its own options. */
import { FILE_OPTIONS } from '../../contracts/protobuf/file-options.ts'
import { SOURCE, type ProtoRow } from './row.ts'

export type FileOptionRuleId = `proto-file-${string}-changed`

export const FILE_OPTION_ROWS: Readonly<Record<FileOptionRuleId, ProtoRow>> = Object.fromEntries(
  FILE_OPTIONS.map(({ name }) => [`proto-file-${name.replaceAll('_', '-')}-changed`, rowOf(name)]),
)

function rowOf(option: string): ProtoRow {
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
