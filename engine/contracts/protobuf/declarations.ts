/** Messages, enums, services and extensions that a .proto file declares at its top level and within messages. */
import { canonicalJson } from '../../common/hash.ts'
import { isRecord } from '../../schema/located.ts'
import { FeatureScope } from './features.ts'
import { MAX_FIELD_NUMBER, readField, type FieldPlace } from './fields.ts'
import type {
  Declared,
  NumberRange,
  ProtoEnum,
  ProtoEnumValue,
  ProtoField,
  ProtoMessage,
  ProtoMethod,
  ProtoService,
  Visibility,
} from './model.ts'
import { OptionSet } from './options.ts'
import { readRange, ReservedSet, type Scope } from './scope.ts'
import type { Cursor, Token } from './tokens.ts'

const LEAST_ENUM_NUMBER = -2_147_483_648
const MOST_ENUM_NUMBER = 2_147_483_647

/** What both a file and a message declare. */
export interface Declarations {
  readonly messages: ProtoMessage[]
  readonly enums: ProtoEnum[]
  readonly extensions: ProtoField[]
}

/** Reads a message, an enum or an extend block, if one is next. */
export function readDeclaration(scope: Scope, into: Declarations): boolean {
  const { cursor, syntax } = scope.reading
  const start = cursor.ahead
  const visibility = syntax === '2024' ? takeVisibility(cursor) : null
  if (visibility !== null) {
    if (!cursor.isAt('message') && !cursor.isAt('enum')) cursor.refuse('"message" or "enum"')
  }
  if (cursor.take('message')) {
    const name = cursor.name('the name of a message')
    into.messages.push({ ...readMessage(scope, name, start), visibility })
  } else if (cursor.take('enum')) into.enums.push({ ...readEnum(scope, start), visibility })
  else if (cursor.take('extend')) readExtensions(scope, into)
  else return false
  return true
}

function takeVisibility(cursor: Cursor): Visibility {
  for (const visibility of ['export', 'local'] as const) if (cursor.take(visibility)) return visibility
  return null
}

/** Runs `read` for each statement of a block. Empty statements are skipped. */
function readBlock(cursor: Cursor, read: () => void): void {
  cursor.nested(() => {
    cursor.expect('{')
    while (!cursor.take('}')) if (!cursor.take(';')) read()
  })
}

function readMessage(outer: Scope, name: Token, start: Token): ProtoMessage {
  const { cursor } = outer.reading
  const place = outer.declare(name, start)
  const options = new OptionSet(place)
  const scope = outer.within(place, options.values)
  const body: MessageBody = {
    messages: [],
    enums: [],
    extensions: [],
    fields: [],
    oneofs: [],
    extensionRanges: [],
    declaredExtensions: new Map(),
    reserved: new ReservedSet(),
    options,
  }
  readBlock(cursor, () => readMember(scope, body))
  checkNumbers(scope, body.fields)
  const own = { options: options.values, features: scope.features, visibility: null, isMapEntry: false }
  return { ...place, ...body, ...own }
}

interface MessageBody extends Declarations {
  readonly fields: ProtoField[]
  readonly oneofs: Declared[]
  readonly extensionRanges: NumberRange[]
  readonly declaredExtensions: Map<number, string>
  readonly reserved: ReservedSet
  readonly options: OptionSet
}

function readMember(scope: Scope, body: MessageBody): void {
  const { cursor } = scope.reading
  if (readDeclaration(scope, body)) return
  if (cursor.take('option')) {
    body.options.read(cursor)
    cursor.expect(';')
  } else if (cursor.take('reserved')) body.reserved.read(cursor, 1, MAX_FIELD_NUMBER)
  else if (cursor.take('extensions')) readExtensionRanges(cursor, body)
  else if (cursor.isAt('oneof')) readOneof(scope, body)
  else body.fields.push(readField(fieldPlace(scope, body, null)))
}

function fieldPlace(scope: Scope, into: Declarations, oneof: Declared | null): FieldPlace {
  return {
    scope,
    oneof: oneof?.name ?? null,
    extendee: null,
    features: oneof === null ? scope.features : new FeatureScope(scope.features, oneof.options),
    readGroup: (name, start) => into.messages.push(readMessage(scope, name, start)),
    addEntry: (entry) => into.messages.push(entry),
  }
}

function readOneof(scope: Scope, body: MessageBody): void {
  const { cursor } = scope.reading
  const start = cursor.next()
  const options = new OptionSet(scope)
  const oneof = { ...scope.declare(cursor.name('the name of a oneof'), start), options: options.values }
  readBlock(cursor, () => {
    if (cursor.take('option')) {
      options.read(cursor)
      cursor.expect(';')
    } else body.fields.push(readField(fieldPlace(scope, body, oneof)))
  })
  body.oneofs.push(oneof)
}

function readExtensions(scope: Scope, into: Declarations): void {
  const { cursor } = scope.reading
  const extendee = cursor.reference('the message that is extended').text
  readBlock(cursor, () => into.extensions.push(readField({ ...fieldPlace(scope, into, null), extendee })))
}

/** Compilers refuse extensions that a range does not declare, if it declares some or demands it (descriptor.proto). */
function readExtensionRanges(cursor: Cursor, body: MessageBody): void {
  const ranges: NumberRange[] = []
  do ranges.push(readRange(cursor, 1, MAX_FIELD_NUMBER))
  while (cursor.take(','))
  const options = new OptionSet({ fullName: '' })
  options.readInline(cursor)
  cursor.expect(';')
  const declarations = [options.values.get('declaration') ?? []].flat()
  const isDeclared = declarations.length > 0 || options.values.get('verification') === 'DECLARATION'
  if (!isDeclared) body.extensionRanges.push(...ranges)
  for (const declaration of declarations) {
    if (!isRecord(declaration) || declaration['reserved'] === true) continue
    const { number, full_name: name = null, type = null, repeated = false } = declaration
    body.declaredExtensions.set(Number(number), canonicalJson([name, type, repeated]))
  }
}

/** With two fields of one number the same bytes are ambiguous. */
function checkNumbers(scope: Scope, fields: readonly ProtoField[]): void {
  const taken = new Map<number, ProtoField>()
  for (const field of fields) {
    const other = taken.get(field.number)
    if (other !== undefined) {
      const { cursor, places } = scope.reading
      const what = `${field.name} has the number ${field.number}, which is that of ${other.name}`
      cursor.fault(what, places.get(field.at) ?? 0)
    }
    taken.set(field.number, field)
  }
}

function readEnum(outer: Scope, start: Token): ProtoEnum {
  const { cursor } = outer.reading
  const place = outer.declare(cursor.name('the name of an enum'), start)
  const options = new OptionSet(place)
  const scope = outer.within(place, options.values)
  const reserved = new ReservedSet()
  const values: ProtoEnumValue[] = []
  readBlock(cursor, () => {
    if (cursor.take('reserved')) reserved.read(cursor, LEAST_ENUM_NUMBER, MOST_ENUM_NUMBER)
    else if (cursor.take('option')) {
      options.read(cursor)
      cursor.expect(';')
    } else values.push(readEnumValue(scope))
  })
  return { ...place, options: options.values, values, reserved, features: scope.features, visibility: null }
}

function readEnumValue(scope: Scope): ProtoEnumValue {
  const { cursor } = scope.reading
  const name = cursor.name('the name of a value')
  cursor.expect('=')
  const number = cursor.integer('the number of a value', LEAST_ENUM_NUMBER, MOST_ENUM_NUMBER)
  const options = new OptionSet(scope)
  options.readInline(cursor)
  cursor.expect(';')
  return { ...scope.declare(name), options: options.values, number }
}

export function readService(outer: Scope): ProtoService {
  const { cursor } = outer.reading
  const start = cursor.next()
  const place = outer.declare(cursor.name('the name of a service'), start)
  const options = new OptionSet(place)
  const scope = outer.within(place, options.values)
  const methods: ProtoMethod[] = []
  readBlock(cursor, () => {
    if (cursor.take('option')) {
      options.read(cursor)
      cursor.expect(';')
    } else methods.push(readMethod(scope))
  })
  return { ...place, options: options.values, methods }
}

function readMethod(scope: Scope): ProtoMethod {
  const { cursor } = scope.reading
  const start = cursor.expect('rpc')
  const place = scope.declare(cursor.name('the name of an rpc'), start)
  const input = readEnd(cursor)
  cursor.expect('returns')
  const output = readEnd(cursor)
  const options = new OptionSet(place)
  if (cursor.isAt('{')) {
    readBlock(cursor, () => {
      cursor.expect('option')
      options.read(cursor)
      cursor.expect(';')
    })
  } else cursor.expect(';')
  return {
    ...place,
    options: options.values,
    input: input.type,
    output: output.type,
    isClientStreaming: input.isStream,
    isServerStreaming: output.isStream,
    scope: scope.fullName,
  }
}

/** `(Type)` or `(stream Type)`. A type may also be called `stream`. */
function readEnd(cursor: Cursor): { readonly type: string; readonly isStream: boolean } {
  cursor.expect('(')
  const first = cursor.reference('the type of a message')
  const isStream = first.text === 'stream' && !cursor.isAt(')')
  const type = isStream ? cursor.reference('the type of a message').text : first.text
  cursor.expect(')')
  return { type, isStream }
}
