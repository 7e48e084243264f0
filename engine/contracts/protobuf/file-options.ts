/** The file options that generated code follows: each language has its own. */
import type { Json } from '../../common/hash.ts'

interface FileOption {
  /** As the file writes it. Rules contain this name. */
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
