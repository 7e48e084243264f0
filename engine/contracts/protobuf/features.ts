/**
 * Features of editions. A declaration starts with the defaults of its edition. The features of the enclosing declaration
 * and its own options override them. proto2 and proto3 are read as their equivalent editions (“Feature Settings for
 * Editions”).
 */
import type { Json } from '../../common/hash.ts'

/** Options of a declaration by normalised name. */
export type Options = ReadonlyMap<string, Json>

interface Features {
  readonly field_presence: string
  readonly enum_type: string
  readonly repeated_field_encoding: string
  readonly utf8_validation: string
  readonly message_encoding: string
  readonly json_format: string
  /** Which declarations other files may use, unless these state it. */
  readonly default_symbol_visibility: string
  /** `(pb.cpp).string_type`. */
  readonly cpp_string_type: string
  /** `(pb.java).utf8_validation`; `DEFAULT` follows utf8_validation. */
  readonly java_utf8_validation: string
}

const PROTO2: Features = {
  field_presence: 'EXPLICIT',
  enum_type: 'CLOSED',
  repeated_field_encoding: 'EXPANDED',
  utf8_validation: 'NONE',
  message_encoding: 'LENGTH_PREFIXED',
  json_format: 'LEGACY_BEST_EFFORT',
  default_symbol_visibility: 'EXPORT_ALL',
  cpp_string_type: 'STRING',
  java_utf8_validation: 'DEFAULT',
}

const EDITION_2023: Features = {
  ...PROTO2,
  enum_type: 'OPEN',
  repeated_field_encoding: 'PACKED',
  utf8_validation: 'VERIFY',
  json_format: 'ALLOW',
}

const EDITION_2024: Features = {
  ...EDITION_2023,
  cpp_string_type: 'VIEW',
  default_symbol_visibility: 'EXPORT_TOP_LEVEL',
}

const DEFAULTS: ReadonlyMap<string, Features> = new Map([
  ['proto2', PROTO2],
  ['proto3', { ...EDITION_2023, field_presence: 'IMPLICIT' }],
  ['2023', EDITION_2023],
  ['2024', EDITION_2024],
])

/** The values that a file may state as syntax or edition. */
export const SYNTAXES: ReadonlySet<string> = new Set(['proto2', 'proto3'])
export const EDITIONS: ReadonlySet<string> = new Set(['2023', '2024'])

const OPTION_OF: readonly (readonly [keyof Features, string])[] = [
  ['field_presence', 'features.field_presence'],
  ['enum_type', 'features.enum_type'],
  ['repeated_field_encoding', 'features.repeated_field_encoding'],
  ['utf8_validation', 'features.utf8_validation'],
  ['message_encoding', 'features.message_encoding'],
  ['json_format', 'features.json_format'],
  ['default_symbol_visibility', 'features.default_symbol_visibility'],
  ['cpp_string_type', 'features.(pb.cpp).string_type'],
  ['java_utf8_validation', 'features.(pb.java).utf8_validation'],
]

const KNOWN_OPTIONS: ReadonlySet<string> = new Set(OPTION_OF.map(([, option]) => option))

/** Whether an option sets a feature that is compared by its effect on each declaration. */
export function isKnownFeature(option: string): boolean {
  return KNOWN_OPTIONS.has(option)
}

const NESTED = 'features.(pb.java).nest_in_file_class'
const OLD_NAME = 'features.(pb.java).use_old_outer_classname_default'

/** Features of generated code whose default edition 2024 changed, by their options: before it, and since then. */
const LANGUAGE_DEFAULTS: ReadonlyMap<string, readonly [before: Json, since2024: Json]> = new Map<
  string,
  readonly [Json, Json]
>([
  ['features.(pb.cpp).enum_name_uses_string_view', [false, true]],
  ['features.(pb.go).api_level', ['API_OPEN', 'API_OPAQUE']],
  [NESTED, ['LEGACY', 'NO']],
  [OLD_NAME, [true, false]],
])

/**
 * The options of a file, with the features of generated code that its edition sets.
 * @param isNamed whether the outer class has a stated name: default names do not count then
 */
export function withLanguageFeatures(syntax: string, options: Options, isNamed: boolean): Options {
  const all = new Map(options)
  for (const [option, [before, since2024]] of LANGUAGE_DEFAULTS)
    if (!all.has(option)) all.set(option, syntax === '2024' ? since2024 : before)
  if (isNamed) all.delete(OLD_NAME)
  const nested = all.get(NESTED)
  // Edition 2024 states by a feature what an option stated before: whether each type has a file of its own.
  if (nested !== 'LEGACY') all.set('java_multiple_files', nested === 'NO')
  all.delete(NESTED)
  return all
}

export function defaultFeatures(syntax: string): Features {
  return DEFAULTS.get(syntax) ?? PROTO2
}

/**
 * The features of one declaration. Evaluate them after reading the whole file, because options may be at the end of a
 * body.
 */
export class FeatureScope {
  readonly #outer: Features | FeatureScope
  readonly #options: Options
  #resolved: Features | undefined

  /** `outer` is the enclosing declaration, or the defaults of the file's edition. */
  constructor(outer: Features | FeatureScope, options: Options) {
    this.#outer = outer
    this.#options = options
  }

  get resolved(): Features {
    const outer = this.#outer
    this.#resolved ??= inherit(outer instanceof FeatureScope ? outer.resolved : outer, this.#options)
    return this.#resolved
  }
}

function inherit(outer: Features, options: Options): Features {
  if (options.size === 0) return outer
  const own: Partial<Record<keyof Features, string>> = {}
  for (const [feature, option] of OPTION_OF) {
    const value = options.get(option)
    if (typeof value === 'string') own[feature] = value
  }
  return { ...outer, ...own }
}
