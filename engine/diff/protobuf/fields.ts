/**
 * One field or extension on both sides, matched by number: name, type, cardinality, default, options and
 * features.
 */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoField } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { textOrNull } from '../../schema/located.ts'
import { effectiveDefault } from './field-defaults.ts'
import { isDelimited, relateFieldTypes, typeOfField, type TypeLikeness } from './field-types.ts'
import { demandOf } from './call-options.ts'
import { compareCommonOptions } from './options.ts'
import type { ProtoChange, ProtoWalk } from './walk.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'

const JUDGED: ReadonlySet<string> = new Set(['json_name', 'default', 'jstype', 'ctype', 'packed'])

export function compareProtoField(base: ProtoField, head: ProtoField, walk: ProtoWalk): void {
  const outer = head.extendee === null ? outerOf(head.fullName) : walk.head.typeOf(head.extendee, head.scope).name
  const add = fieldReporter(head, outer, walk)
  compareFieldNames(base, head, add)
  const likeness = relateFieldTypes(base, head, walk)
  if (likeness !== 'same') add(TYPE_RULES[likeness], typeName(base, walk.base), typeName(head, walk.head))
  compareCardinality(base, head, add, walk)
  compareFieldDefault(base, head, add, walk)
  for (const { rule, valueOf } of TRAITS) {
    const before = valueOf(base, walk.base)
    const after = valueOf(head, walk.head)
    // The compiler treats STRING_PIECE as a plain string.
    if (before === 'STRING_PIECE' && after === 'STRING') continue
    if (before !== null && after !== null && before !== after) add(rule, before, after)
  }
  compareCommonOptions(base, head, { judged: JUDGED, reaches: outer }, walk)
}

type AddFieldChange = (rule: ProtoRuleId, before: unknown, after: unknown) => void

/** Reports changes of a field of the message `reaches`. */
export function fieldReporter(head: ProtoField, reaches: string, walk: ProtoWalk): AddFieldChange {
  return (rule, before, after) => {
    // By number: a renamed field is the same field.
    const change: ProtoChange = { rule, subject: `${reaches}#${head.number}`, side: 'head', location: head.at, reaches }
    walk.add({ ...change, name: head.fullName, before, after })
  }
}

function compareFieldNames(base: ProtoField, head: ProtoField, add: AddFieldChange): void {
  // JSON and code use the full name of an extension.
  if (head.extendee !== null) {
    if (base.fullName !== head.fullName) add('proto-field-name-changed', base.fullName, head.fullName)
  } else if (base.name !== head.name) {
    add(base.jsonName === head.jsonName ? 'proto-field-name-changed' : 'proto-field-renamed', base.name, head.name)
  } else if (base.jsonName !== head.jsonName) add('proto-field-json-name-changed', base.jsonName, head.jsonName)
}

const TYPE_RULES = {
  wire: 'proto-field-type-changed',
  json: 'proto-field-type-changed-in-json',
  sign: 'proto-field-sign-changed',
  source: 'proto-field-type-changed-in-source',
} as const satisfies Readonly<Record<Exclude<TypeLikeness, 'same'>, ProtoRuleId>>

function typeName(field: ProtoField, contract: ProtoContract): string {
  const { name } = typeOfField(field, contract)
  return isDelimited(field, contract) ? `${name} (delimited)` : name
}

type Cardinality = 'implicit' | 'explicit' | 'required' | 'repeated' | 'map'

const CARDINALITY_WORDS: Readonly<Record<Cardinality, string>> = {
  implicit: 'optional with implicit presence',
  explicit: 'optional with explicit presence',
  required: 'required',
  repeated: 'repeated',
  map: 'a map',
}

/** Whether a message must contain the field. */
export function isRequiredField({ label, oneof, extendee, features }: ProtoField): boolean {
  if (label === 'required') return true
  return label === null && oneof === null && extendee === null && features.resolved.field_presence === 'LEGACY_REQUIRED'
}

export function cardinalityOf(field: ProtoField, contract: ProtoContract): Cardinality {
  if (isRequiredField(field)) return 'required'
  if (field.label === 'repeated' || field.label === 'map') return field.label
  const { field_presence: presence } = field.features.resolved
  if (field.hasPresence || presence !== 'IMPLICIT') return 'explicit'
  // A message field has explicit presence in every syntax.
  return typeOfField(field, contract).kind === 'message' ? 'explicit' : 'implicit'
}

function compareCardinality(base: ProtoField, head: ProtoField, add: AddFieldChange, walk: ProtoWalk): void {
  // If a map became a list of messages or the reverse, the field reports it. The entries have the same encoding.
  if (walk.base.messages.get(base.scope)?.isMapEntry !== walk.head.messages.get(head.scope)?.isMapEntry) return
  const before = cardinalityOf(base, walk.base)
  const after = cardinalityOf(head, walk.head)
  if (before === after) return
  const rule = isDemanded(base, head, walk) ? 'proto-field-required-by-option' : cardinalityRule(before, after)
  add(rule, CARDINALITY_WORDS[before], CARDINALITY_WORDS[after])
}

/** Validation passes over a field with explicit presence that is not set. Without it, the zero is refused. */
function isDemanded(base: ProtoField, head: ProtoField, walk: ProtoWalk): boolean {
  const [before, after] = [cardinalityOf(base, walk.base), cardinalityOf(head, walk.head)]
  if (before !== 'explicit' || after !== 'implicit' || !walk.directions(outerOf(head.fullName)).isSent) return false
  return demandOf(base) !== 'required' && demandOf(head) === 'refused'
}

function cardinalityRule(before: Cardinality, after: Cardinality): ProtoRuleId {
  if (after === 'required') return 'proto-field-became-required'
  if (before === 'required') return 'proto-field-became-not-required'
  const isList = (cardinality: Cardinality): boolean => cardinality === 'repeated' || cardinality === 'map'
  if (isList(before) !== isList(after)) return 'proto-field-cardinality-changed'
  return isList(before) ? 'proto-field-cardinality-changed-in-json' : 'proto-field-presence-changed'
}

function compareFieldDefault(base: ProtoField, head: ProtoField, add: AddFieldChange, walk: ProtoWalk): void {
  const before = effectiveDefault(base, walk.base)
  const after = effectiveDefault(head, walk.head)
  if (before === null || after === null || before.value === after.value) return
  // If both defaults are the zero of their type, the change of type is reported instead.
  if (before.isZero && after.isZero) return
  add('proto-field-default-changed', before.written, after.written)
}

interface FieldTrait {
  readonly rule: ProtoRuleId
  /** Null if the trait has no meaning for the field. */
  readonly valueOf: (field: ProtoField, contract: ProtoContract) => string | null
}

const TRAITS: readonly FieldTrait[] = [
  { rule: 'proto-field-jstype-changed', valueOf: jsType },
  {
    rule: 'proto-field-cpp-string-type-changed',
    valueOf: cppStringType,
  },
  { rule: 'proto-field-java-utf8-validation-changed', valueOf: javaValidation },
  {
    rule: 'proto-field-utf8-validation-changed',
    valueOf: ({ type, features }) => (type === 'string' ? features.resolved.utf8_validation : null),
  },
  { rule: 'proto-field-encoding-changed', valueOf: listEncoding },
]

/** Integers that a JavaScript number cannot represent. */
const LARGE_INTEGERS: ReadonlySet<string> = new Set(['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64'])

function jsType({ type, options }: ProtoField): string | null {
  return LARGE_INTEGERS.has(type) ? (textOrNull(options.get('jstype')) ?? 'JS_NORMAL') : null
}

function cppStringType({ type, options, features, scope }: ProtoField, { messages }: ProtoContract): string | null {
  if ((type !== 'string' && type !== 'bytes') || messages.get(scope)?.isMapEntry === true) return null
  return textOrNull(options.get('ctype')) ?? features.resolved.cpp_string_type
}

function javaValidation({ type, features, at }: ProtoField, { fileOf }: ProtoContract): string | null {
  if (type !== 'string') return null
  if (fileOf(at)?.options.get('java_string_check_utf8') === true) return 'VERIFY'
  const { java_utf8_validation: own, utf8_validation: common } = features.resolved
  return own === 'DEFAULT' ? common : own
}

function listEncoding(field: ProtoField, contract: ProtoContract): string | null {
  if (field.label !== 'repeated') return null
  const { kind, name } = typeOfField(field, contract)
  if ((kind !== 'scalar' && kind !== 'enum') || name === 'string' || name === 'bytes') return null
  const stated = field.options.get('packed')
  if (typeof stated === 'boolean') return stated ? 'PACKED' : 'EXPANDED'
  return field.features.resolved.repeated_field_encoding
}
