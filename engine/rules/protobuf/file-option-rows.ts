/** File options that generated code follows. Each has one rule, because each language has its own options. */
import type { Json } from '../../hash.ts'
import { SOURCE, type ProtoRow } from './row.ts'

interface FileOption {
  /** As the file writes it. Our rules and those of buf contain this name. */
  readonly name: string
  /** The default if it is not stated. */
  readonly fallback: Json
}

export const FILE_OPTIONS: readonly FileOption[] = [
  { name: 'cc_enable_arenas', fallback: true },
  { name: 'cc_generic_services', fallback: false },
  { name: 'csharp_namespace', fallback: '' },
  { name: 'go_package', fallback: '' },
  { name: 'java_generic_services', fallback: false },
  { name: 'java_multiple_files', fallback: false },
  { name: 'java_outer_classname', fallback: '' },
  { name: 'java_package', fallback: '' },
  { name: 'objc_class_prefix', fallback: '' },
  { name: 'optimize_for', fallback: 'SPEED' },
  { name: 'php_class_prefix', fallback: '' },
  { name: 'php_metadata_namespace', fallback: '' },
  { name: 'php_namespace', fallback: '' },
  { name: 'py_generic_services', fallback: false },
  { name: 'ruby_package', fallback: '' },
  { name: 'swift_prefix', fallback: '' },
]

export type FileOptionRuleId = `proto-file-${string}-changed`

export function fileOptionRule(option: string): FileOptionRuleId {
  return `proto-file-${option.replaceAll('_', '-')}-changed`
}

export const FILE_OPTION_ROWS: Readonly<Record<FileOptionRuleId, ProtoRow>> = Object.fromEntries(
  FILE_OPTIONS.map(({ name }) => [fileOptionRule(name), rowOf(name)]),
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
