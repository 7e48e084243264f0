/** Reads fields of messages, oneofs and extensions from a .proto file. */
import { FeatureScope } from './features.ts'
import type { Options } from './features.ts'
import type { Label, ProtoField, ProtoMessage } from './model.ts'
import { OptionSet } from './options.ts'
import { Scope } from './scope.ts'
import type { Cursor, Token } from './tokens.ts'

/** 2^29 - 1: the largest number in a tag. */
export const MAX_FIELD_NUMBER = 536_870_911

export interface FieldPlace {
  /** The scope that declares the field, and the message of a group. */
  readonly scope: Scope
  readonly oneof: string | null
  readonly extendee: string | null
  /** The inherited features: of its oneof, else of its message. */
  readonly features: FeatureScope
  /** Reads the body of a group into a message of the scope. */
  readonly readGroup: (name: Token, start: Token) => void
  /** Receives the message that a map field represents. */
  readonly addEntry: (entry: ProtoMessage) => void
}

const MAP_KEYS = /^(?:int32|int64|uint32|uint64|sint32|sint64|fixed32|fixed64|sfixed32|sfixed64|bool|string)$/

/** Reads one complete field; labels, maps and groups included. */
export function readField(place: FieldPlace): ProtoField {
  const { cursor, syntax } = place.scope.reading
  const start = cursor.ahead
  const label = readLabel(cursor)
  if (label !== null && place.oneof !== null) cursor.fault('a field of a oneof has no label', start.offset)
  if (label === 'required' && syntax !== 'proto2') cursor.fault(`${syntax} has no required fields`, start.offset)
  const type = cursor.reference('the type of a field')
  if (type.text === 'map' && cursor.isAt('<')) return readMapField(place, start)
  const isGroup = type.text === 'group' && cursor.ahead.kind === 'name' && syntax === 'proto2'
  const name = cursor.name('the name of a field')
  const number = readNumber(place)
  const options = new OptionSet(place.scope)
  options.readInline(cursor)
  const own: Token = isGroup ? { ...name, text: name.text.toLowerCase() } : name
  if (isGroup) place.readGroup(name, start)
  else cursor.expect(';')
  return {
    ...place.scope.declare(own, start),
    options: options.values,
    number,
    label,
    hasPresence: place.oneof !== null || place.extendee !== null || label === 'optional' || syntax === 'proto2',
    type: isGroup ? name.text : type.text,
    isGroup,
    scope: place.scope.fullName,
    jsonName: jsonNameOf(own.text, options.values),
    oneof: place.oneof,
    extendee: place.extendee,
    features: new FeatureScope(place.features, options.values),
  }
}

function readLabel(cursor: Cursor): Exclude<Label, 'map'> {
  for (const label of ['optional', 'required', 'repeated'] as const) if (cursor.take(label)) return label
  return null
}

function readNumber({ scope }: FieldPlace): number {
  scope.reading.cursor.expect('=')
  return scope.reading.cursor.integer('the number of a field', 1, MAX_FIELD_NUMBER)
}

/** `map<K, V> name = N;` is a list of entries with a key and a value, as on the wire. */
function readMapField(place: FieldPlace, start: Token): ProtoField {
  const { scope, features: inherited } = place
  const { cursor } = scope.reading
  cursor.expect('<')
  if (!MAP_KEYS.test(cursor.ahead.text)) cursor.refuse('the type of the keys of a map')
  const key = cursor.next().text
  cursor.expect(',')
  const value = cursor.reference('the type of the values of a map').text
  cursor.expect('>')
  const name = cursor.name('the name of a field')
  const number = readNumber(place)
  const options = new OptionSet(scope)
  options.readInline(cursor)
  cursor.expect(';')
  const entryName: Token = { ...name, text: `${camel(name.text, true)}Entry` }
  const entryScope = new Scope(
    scope.reading,
    scope.declare(entryName, start),
    new FeatureScope(inherited, options.values),
  )
  place.addEntry(mapEntry(entryScope, entryName.text, { key, value }, start))
  return {
    ...scope.declare(name, start),
    options: options.values,
    number,
    label: 'map',
    hasPresence: false,
    type: entryName.text,
    isGroup: false,
    scope: scope.fullName,
    jsonName: jsonNameOf(name.text, options.values),
    oneof: null,
    extendee: null,
    features: entryScope.features,
  }
}

function mapEntry(
  scope: Scope,
  name: string,
  types: Readonly<Record<'key' | 'value', string>>,
  start: Token,
): ProtoMessage {
  const { features, fullName, at } = scope
  const fields = (['key', 'value'] as const).map((member, index): ProtoField => ({
    ...scope.declare({ ...start, text: member }),
    options: NO_OPTIONS,
    number: index + 1,
    label: null,
    // Both are always written.
    hasPresence: true,
    type: types[member],
    isGroup: false,
    scope: fullName,
    jsonName: member,
    oneof: null,
    extendee: null,
    features,
  }))
  return { ...EMPTY_MESSAGE, name, fullName, at, fields, features, isMapEntry: true }
}

const NO_OPTIONS: Options = new Map()

const EMPTY_MESSAGE: Omit<ProtoMessage, 'name' | 'fullName' | 'at' | 'features'> = {
  options: NO_OPTIONS,
  fields: [],
  oneofs: [],
  messages: [],
  enums: [],
  extensions: [],
  extensionRanges: [],
  declaredExtensions: new Map(),
  reserved: { ranges: [], names: new Set() },
  visibility: null,
  isMapEntry: false,
}

function jsonNameOf(name: string, options: Options): string {
  const stated = options.get('json_name')
  return typeof stated === 'string' ? stated : camel(name, false)
}

/** `foo_bar` → `fooBar` (or `FooBar`), as the compiler derives JSON names and names of map entries. */
function camel(name: string, isFirstUpper: boolean): string {
  let isUpper = isFirstUpper
  let text = ''
  for (const character of name) {
    if (character === '_') isUpper = true
    else {
      text += isUpper ? character.toUpperCase() : character
      isUpper = false
    }
  }
  return text
}
