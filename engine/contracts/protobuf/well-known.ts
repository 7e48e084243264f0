/** The files that every protobuf compiler supplies: their types are known without their text. */

const FILES: ReadonlySet<string> = new Set([
  'google/protobuf/any.proto',
  'google/protobuf/api.proto',
  'google/protobuf/compiler/plugin.proto',
  'google/protobuf/cpp_features.proto',
  'google/protobuf/descriptor.proto',
  'google/protobuf/duration.proto',
  'google/protobuf/empty.proto',
  'google/protobuf/field_mask.proto',
  'google/protobuf/go_features.proto',
  'google/protobuf/java_features.proto',
  'google/protobuf/source_context.proto',
  'google/protobuf/struct.proto',
  'google/protobuf/timestamp.proto',
  'google/protobuf/type.proto',
  'google/protobuf/wrappers.proto',
])

const PACKAGE = 'google.protobuf.'

const MESSAGES: ReadonlySet<string> = new Set(
  (
    'Any Api Method Mixin Duration Empty FieldMask SourceContext Struct Value ListValue Timestamp Type Field Enum EnumValue ' +
    'Option DoubleValue FloatValue Int64Value UInt64Value Int32Value UInt32Value BoolValue StringValue BytesValue ' +
    'FileDescriptorSet FileDescriptorProto DescriptorProto ExtensionRangeOptions FieldDescriptorProto OneofDescriptorProto ' +
    'EnumDescriptorProto EnumValueDescriptorProto ServiceDescriptorProto MethodDescriptorProto FileOptions MessageOptions ' +
    'FieldOptions OneofOptions EnumOptions EnumValueOptions ServiceOptions MethodOptions UninterpretedOption FeatureSet ' +
    'FeatureSetDefaults SourceCodeInfo GeneratedCodeInfo'
  ).split(' '),
)

const ENUMS: ReadonlySet<string> = new Set(
  (
    'NullValue Syntax Edition SymbolVisibility Field.Kind Field.Cardinality FieldDescriptorProto.Type ' +
    'FieldDescriptorProto.Label FileOptions.OptimizeMode FieldOptions.CType FieldOptions.JSType ' +
    'FieldOptions.OptionRetention FieldOptions.OptionTargetType MethodOptions.IdempotencyLevel'
  ).split(' '),
)

export function isWellKnownFile(path: string): boolean {
  return FILES.has(path)
}

/** Published files that contracts import for their options. Their types are known by name only. */
const OPTION_FILES: ReadonlySet<string> = new Set([
  'buf/validate/validate.proto',
  'gogoproto/gogo.proto',
  'google/api/annotations.proto',
  'google/api/client.proto',
  'google/api/field_behavior.proto',
  'google/api/field_info.proto',
  'google/api/launch_stage.proto',
  'google/api/resource.proto',
  'google/api/routing.proto',
  'google/api/visibility.proto',
  'protoc-gen-openapiv2/options/annotations.proto',
  'validate/validate.proto',
])

/** True if message content cannot come from the file: its options are written where they are set. */
export function declaresOptionsOnly(path: string): boolean {
  return OPTION_FILES.has(path)
}

/** The kind of a full name, if one of these files declares it. */
export function wellKnownKind(fullName: string): 'message' | 'enum' | null {
  if (!fullName.startsWith(PACKAGE)) return null
  const name = fullName.slice(PACKAGE.length)
  if (MESSAGES.has(name)) return 'message'
  return ENUMS.has(name) ? 'enum' : null
}
