/** One field or extension on both sides, matched by number: name, type, cardinality, default, oneof, options and features. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoField } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { defaultOf } from './field-defaults.ts'
import { isDelimited, likenessOf, typeOfField, type TypeLikeness } from './field-types.ts'
import { compareCommonOptions, type ProtoChange, type ProtoReport } from './report.ts'

const JUDGED: ReadonlySet<string> = new Set(['json_name', 'default', 'jstype', 'ctype', 'packed'])

export function compareField(old: ProtoField, now: ProtoField, report: ProtoReport): void {
  const outer = now.extendee === null ? outerOf(now.fullName) : report.head.typeOf(now.extendee, now.scope).name
  const say = sayerOf(now, outer, report)
  compareNames(old, now, say)
  const likeness = likenessOf(old, now, report)
  if (likeness !== 'same') say(TYPE_RULES[likeness], typeName(old, report.base), typeName(now, report.head))
  compareCardinality(old, now, say, report)
  compareDefault(old, now, say, report)
  if (old.oneof !== now.oneof) say('proto-field-oneof-changed', oneofName(old), oneofName(now))
  for (const { rule, valueOf } of TRAITS) {
    const was = valueOf(old, report.base)
    const is = valueOf(now, report.head)
    // The compiler makes plain strings of what was declared as a piece of one.
    if (was === 'STRING_PIECE' && is === 'STRING') continue
    if (was !== null && is !== null && was !== is) say(rule, was, is)
  }
  compareCommonOptions(old, now, report, JUDGED, outer)
}

type AddFieldChange = (rule: ProtoRuleId, before: unknown, after: unknown) => void

function sayerOf(now: ProtoField, reaches: string, report: ProtoReport): AddFieldChange {
  return (rule, before, after) => {
    // By number: a renamed field is the same field.
    const change: ProtoChange = { rule, subject: `${reaches}#${now.number}`, side: 'head', location: now.at, reaches }
    report.say({ ...change, name: now.name, before, after })
  }
}

function compareNames(old: ProtoField, now: ProtoField, say: AddFieldChange): void {
  // An extension goes by its full name in JSON and code alike.
  if (now.extendee !== null) {
    if (old.fullName !== now.fullName) say('proto-field-name-changed', old.fullName, now.fullName)
  } else if (old.name !== now.name) {
    say(old.jsonName === now.jsonName ? 'proto-field-name-changed' : 'proto-field-renamed', old.name, now.name)
  } else if (old.jsonName !== now.jsonName) say('proto-field-json-name-changed', old.jsonName, now.jsonName)
}

const TYPE_RULES = {
  wire: 'proto-field-type-changed',
  json: 'proto-field-type-changed-in-json',
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

/** Whether a message cannot be without the field. */
export function isRequired({ label, oneof, extendee, features }: ProtoField): boolean {
  if (label === 'required') return true
  return label === null && oneof === null && extendee === null && features.resolved.field_presence === 'LEGACY_REQUIRED'
}

function cardinalityOf(field: ProtoField, contract: ProtoContract): Cardinality {
  if (isRequired(field)) return 'required'
  if (field.label === 'repeated' || field.label === 'map') return field.label
  const { field_presence: presence } = field.features.resolved
  if (field.hasPresence || presence !== 'IMPLICIT') return 'explicit'
  // A message is there or not, whatever the syntax.
  return typeOfField(field, contract).kind === 'message' ? 'explicit' : 'implicit'
}

function compareCardinality(old: ProtoField, now: ProtoField, say: AddFieldChange, { base, head }: ProtoReport): void {
  // Where a map became a list of messages or the other way round, its field says so; the entries are written alike.
  if (base.messages.get(old.scope)?.isMapEntry !== head.messages.get(now.scope)?.isMapEntry) return
  const was = cardinalityOf(old, base)
  const is = cardinalityOf(now, head)
  if (was !== is) say(cardinalityRule(was, is), CARDINALITY_WORDS[was], CARDINALITY_WORDS[is])
}

function cardinalityRule(was: Cardinality, is: Cardinality): ProtoRuleId {
  if (is === 'required') return 'proto-field-became-required'
  if (was === 'required') return 'proto-field-became-not-required'
  const isList = (cardinality: Cardinality): boolean => cardinality === 'repeated' || cardinality === 'map'
  if (isList(was) !== isList(is)) return 'proto-field-cardinality-changed'
  return isList(was) ? 'proto-field-cardinality-changed-in-json' : 'proto-field-presence-changed'
}

function compareDefault(old: ProtoField, now: ProtoField, say: AddFieldChange, { base, head }: ProtoReport): void {
  const was = defaultOf(old, base)
  const is = defaultOf(now, head)
  if (was === null || is === null || was.value === is.value) return
  // Of two types that each have their zero, the type says what changed.
  if (was.isZero && is.isZero) return
  say('proto-field-default-changed', was.written, is.written)
}

function oneofName({ oneof }: ProtoField): string {
  return oneof === null ? 'no oneof' : `the oneof ${oneof}`
}

interface FieldTrait {
  readonly rule: ProtoRuleId
  /** Null where the trait has no meaning for the field. */
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

/** Numbers that a JavaScript number cannot hold. */
const LARGE_INTEGERS: ReadonlySet<string> = new Set(['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64'])

function jsType({ type, options }: ProtoField): string | null {
  return LARGE_INTEGERS.has(type) ? (textOf(options.get('jstype')) ?? 'JS_NORMAL') : null
}

function cppStringType({ type, options, features, scope }: ProtoField, { messages }: ProtoContract): string | null {
  if ((type !== 'string' && type !== 'bytes') || messages.get(scope)?.isMapEntry === true) return null
  return textOf(options.get('ctype')) ?? features.resolved.cpp_string_type
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

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function outerOf(fullName: string): string {
  return fullName.slice(0, Math.max(fullName.lastIndexOf('.'), 0))
}
