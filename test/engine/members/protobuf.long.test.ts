/**
 * The options and features of a .proto file, as `google/protobuf/descriptor.proto` lists them: each one is set, changed and
 * removed. Other elements are in test/engine/protobuf/elements.test.ts.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { isRecord, textAt } from '../../../engine/schema/located.ts'
import { at } from '../../json.ts'
import { worstOf, type Worst } from '../elements.ts'

const DESCRIPTOR: unknown = createRequire(import.meta.url)('protobufjs/google/protobuf/descriptor.json')
const TYPES = at(DESCRIPTOR, 'nested', 'google', 'nested', 'protobuf', 'nested')

/** Where the options of each message of the descriptor stand. Group by edition: features need one. */
const PLACES: Readonly<Record<string, (option: string, head: string) => string>> = {
  FileOptions: (option, head) => `${head} option ${option}; ${ALL}`,
  MessageOptions: (option, head) => `${head} message O { option ${option}; ${ALL} }`,
  FieldOptions: (option, head) =>
    `${head} message M { repeated int32 a = 1 [${option}]; string s = 2 [${option}]; N n = 3 [${option}]; int64 l = 4 [${option}]; } message N {}`,
  OneofOptions: (option, head) => `${head} message M { oneof o { option ${option}; int32 a = 1; } }`,
  ExtensionRangeOptions: (option, head) => `${head} message M { extensions 100 to 200 [${option}]; }`,
  EnumOptions: (option, head) => `${head} enum E { option ${option}; A = 0; B = 0; } message M { E e = 1; }`,
  EnumValueOptions: (option, head) => `${head} enum E { A = 0 [${option}]; } message M { E e = 1; }`,
  ServiceOptions: (option, head) => `${head} message M {} service S { option ${option}; rpc G(M) returns (M); }`,
  MethodOptions: (option, head) => `${head} message M {} service S { rpc G(M) returns (M) { option ${option}; } }`,
}

/** A field of each kind. */
const ALL =
  'message M { int32 a = 1; repeated int32 r = 2; string s = 3; N n = 4; E e = 5; } message N {} enum E { A = 0; }'
const HEAD = 'edition = "2023"; package p;'

interface Field {
  readonly type: string
  readonly name: string
}

function fieldsOf(type: unknown): readonly Field[] {
  const fields = at(type, 'fields')
  return Object.entries(isRecord(fields) ? fields : {}).map(([name, field]) => ({
    type: textAt(field, 'type') ?? '',
    name: textAt(field, 'protoName') ?? name,
  }))
}

/** Values of an option, as a file writes them. Empty: its type is a message of its own. */
function valuesOf(owner: unknown, type: string): readonly string[] {
  if (type === 'bool') return ['true', 'false']
  if (type === 'string') return ['"a"', '"b"']
  const declared = type.split('.').reduce((holder: unknown, name) => at(holder, 'nested', name), owner)
  const values = at(declared, 'values')
  return Object.keys(isRecord(values) ? values : {}).filter((name) => !/UNKNOWN|UNSPECIFIED/.test(name))
}

function levelsOf(place: (option: string, head: string) => string, name: string, values: readonly string[]): Worst {
  const texts = [place('deprecated = false', HEAD), ...values.map((value) => place(`${name} = ${value}`, HEAD))]
  const order: readonly Worst[] = ['none', 'info', 'dangerous', 'breaking']
  const found = texts.flatMap((one) => texts.map((other) => (one === other ? 'none' : worstOf('protobuf', one, other))))
  return order.findLast((level) => found.includes(level)) ?? 'none'
}

const LEVELS = new Map<string, Worst>()
for (const [type, place] of Object.entries(PLACES)) {
  for (const { name, type: held } of fieldsOf(at(TYPES, type))) {
    const values = valuesOf(at(TYPES, type), held)
    if (values.length > 0) LEVELS.set(`${type}.${name}`, levelsOf(place, name, values))
  }
  if (!['FileOptions', 'MessageOptions', 'FieldOptions', 'EnumOptions'].includes(type)) continue
  for (const { name, type: held } of fieldsOf(at(TYPES, 'FeatureSet'))) {
    const values = valuesOf(at(TYPES, 'FeatureSet'), held)
    LEVELS.set(`${type}.features.${name}`, levelsOf(place, `features.${name}`, values))
  }
}

const OTHER_TARGET = 'Compilers refuse it at this place.'

const SILENT: Readonly<Record<string, string>> = {
  'EnumOptions.allow_alias': 'The values stay. Names that come or go are reported.',
  'EnumOptions.features.field_presence': OTHER_TARGET,
  'EnumOptions.features.message_encoding': OTHER_TARGET,
  'EnumOptions.features.repeated_field_encoding': OTHER_TARGET,
  'EnumOptions.features.utf8_validation': OTHER_TARGET,
  'FieldOptions.features.default_symbol_visibility': OTHER_TARGET,
  'FieldOptions.features.enum_type': OTHER_TARGET,
  'FieldOptions.features.json_format': OTHER_TARGET,
}

const BOTH_READ = 'Parsers read both encodings (encoding, "Packed repeated fields").'
const CODE = 'It changes generated code, not what is sent.'
const STILL = 'Callers are still served.'
const OWN_FILE = 'Compilers check the file itself by it.'
const AUTHORS = 'It binds those who define or set options, not callers.'

const HARMLESS: Readonly<Record<string, string>> = {
  'EnumOptions.deprecated': STILL,
  'EnumOptions.deprecated_legacy_json_field_conflicts': OWN_FILE,
  'EnumOptions.features.enforce_naming_style': OWN_FILE,
  'EnumOptions.features.enforce_proto_limits': OWN_FILE,
  'EnumValueOptions.debug_redact': 'It changes what debug texts show.',
  'EnumValueOptions.deprecated': STILL,
  'FieldOptions.debug_redact': 'It changes what debug texts show.',
  'FieldOptions.deprecated': STILL,
  'FieldOptions.features.enforce_naming_style': OWN_FILE,
  'FieldOptions.features.enforce_proto_limits': OWN_FILE,
  'FieldOptions.features.repeated_field_encoding': BOTH_READ,
  'FieldOptions.lazy': CODE,
  'FieldOptions.packed': BOTH_READ,
  'FieldOptions.retention': AUTHORS,
  'FieldOptions.targets': AUTHORS,
  'FieldOptions.unverified_lazy': CODE,
  'FieldOptions.weak': CODE,
  'FileOptions.deprecated': STILL,
  'FileOptions.features.enforce_naming_style': OWN_FILE,
  'FileOptions.features.enforce_proto_limits': OWN_FILE,
  'FileOptions.features.repeated_field_encoding': BOTH_READ,
  'FileOptions.java_generate_equals_and_hash': CODE,
  'FileOptions.java_string_check_utf8': CODE,
  'MessageOptions.deprecated': STILL,
  'MessageOptions.deprecated_legacy_json_field_conflicts': OWN_FILE,
  'MessageOptions.features.enforce_naming_style': OWN_FILE,
  'MessageOptions.features.enforce_proto_limits': OWN_FILE,
  'MessageOptions.features.repeated_field_encoding': BOTH_READ,
  'MessageOptions.map_entry': 'Compilers refuse it in a file.',
  'MethodOptions.deprecated': STILL,
  'ServiceOptions.deprecated': STILL,
}

function membersOf(wanted: Worst): readonly string[] {
  return [...LEVELS].flatMap(([name, level]) => (level === wanted ? [name] : [])).toSorted()
}

test('protobuf: an option or feature whose change is no finding, or information, has a reason', () => {
  assert.deepEqual(membersOf('none'), Object.keys(SILENT).toSorted())
  assert.deepEqual(membersOf('info'), Object.keys(HARMLESS).toSorted())
})
