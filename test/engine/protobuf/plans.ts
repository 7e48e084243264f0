/** A .proto file as a JSON value, so that every edit of it can be made, and its text. */

export interface PlannedField {
  readonly number: number
  readonly name: string
  readonly type: string
  readonly label?: string
  readonly options?: readonly string[]
}

interface PlannedMessage {
  readonly name: string
  readonly options?: readonly string[]
  readonly reserved?: readonly string[]
  readonly fields: readonly PlannedField[]
  readonly oneofs?: readonly { readonly name: string; readonly fields: readonly PlannedField[] }[]
}

export interface PlannedFile {
  readonly head: string
  readonly messages: readonly PlannedMessage[]
  readonly enums: readonly {
    readonly name: string
    readonly options?: readonly string[]
    readonly values: readonly { readonly name: string; readonly number: number }[]
  }[]
  readonly methods: readonly { readonly name: string; readonly input: string; readonly output: string }[]
}

const HEADS = { proto2: 'syntax = "proto2"', proto3: 'syntax = "proto3"', '2023': 'edition = "2023"' } as const

export type Syntax = keyof typeof HEADS

function field(number: number, name: string, type: string, more: Partial<PlannedField> = {}): PlannedField {
  return { number, name, type, ...more }
}

/** A file with fields of every kind. */
export function plannedFile(syntax: Syntax): PlannedFile {
  const label = syntax === 'proto2' ? { label: 'optional' } : {}
  const types = ['int32', 'uint64', 'string', 'bytes', 'E', 'N', 'double', 'fixed32', 'sint32', 'C']
  const single = types.map((type, index) => field(index + 1, `f${index + 1}`, type, label))
  const several = ['int32', 'N', 'E', 'string'].map((type, index) =>
    field(index + 20, `l${index}`, type, { label: 'repeated' }),
  )
  const maps = ['string, int32', 'int32, N', 'string, E'].map((type, index) =>
    field(index + 30, `m${index}`, `map<${type}>`),
  )
  const own =
    syntax === 'proto3'
      ? field(40, 'own', 'int32', { label: 'optional' })
      : field(40, 'own', 'int32', { ...label, options: ['default = 5'] })
  const oneof = ['int32', 'string', 'N'].map((type, index) => field(index + 50, `o${index}`, type))
  return {
    head: HEADS[syntax],
    messages: [
      {
        name: 'M',
        reserved: ['90'],
        fields: [
          ...single,
          ...several,
          ...maps,
          own,
          field(41, 'snake_name', 'bool', { ...label, options: ['json_name = "j"'] }),
        ],
        oneofs: [{ name: 'o', fields: oneof }],
      },
      { name: 'N', fields: [field(1, 'a', 'int32', label), field(2, 't', 'string', label)] },
      { name: 'O', fields: [field(1, 'a', 'string', label)] },
    ],
    enums: [
      { name: 'E', values: ['ZERO', 'ONE', 'TWO'].map((name, number) => ({ name, number })) },
      {
        name: 'C',
        options: ['allow_alias = true'],
        values: [
          { name: 'C_ZERO', number: 0 },
          { name: 'C_ONE', number: 1 },
          { name: 'C_ALSO', number: 1 },
        ],
      },
    ],
    methods: [{ name: 'Get', input: 'M', output: 'N' }],
  }
}

const ALL_TYPES =
  'int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes float double E C N O M'

/** Values that members of a plan may have besides. */
export const FURTHER = {
  fields: [
    ...[...ALL_TYPES.split(' '), 'map<string, string>', 'map<string, O>'].map((type) => ({ type })),
    ...['optional', 'repeated', 'required'].map((label) => ({ label })),
    ...[
      'default = 7',
      'json_name = "other"',
      'json_name = "snakeName"',
      'packed = false',
      'deprecated = true',
      'features.field_presence = IMPLICIT',
      'features.field_presence = LEGACY_REQUIRED',
      'features.message_encoding = DELIMITED',
      'features.repeated_field_encoding = EXPANDED',
      'features.utf8_validation = NONE',
    ].map((option) => ({ options: [option] })),
  ],
  enums: [{ options: ['features.enum_type = CLOSED'] }, { options: ['deprecated = true'] }],
  messages: [{ reserved: ['1'] }, { options: ['features.json_format = LEGACY_BEST_EFFORT'] }],
}

function optionsOf(list: readonly string[] = []): string {
  return list.map((one) => `option ${one};`).join(' ')
}

function lineOf({ label = '', type, name, number, options = [] }: PlannedField): string {
  return `${label} ${type} ${name} = ${number}${options.length === 0 ? '' : ` [${options.join(', ')}]`};`
}

/** Null for an edit that leaves no file. */
export function textOf(plan: unknown, packageName: string): string | null {
  if (!isPlan(plan)) return null
  const lines = [
    `${plan.head}; package ${packageName};`,
    ...plan.messages.map(({ name, fields, oneofs = [], reserved = [], options: stated }) => {
      const groups = oneofs.map((oneof) => `oneof ${oneof.name} { ${oneof.fields.map(lineOf).join(' ')} }`)
      const kept = reserved.map((one) => `reserved ${one};`)
      return `message ${name} { ${[optionsOf(stated), ...kept, ...fields.map(lineOf), ...groups].join(' ')} }`
    }),
    ...plan.enums.map(({ name, values, options: stated }) => {
      const listed = values.map((value) => `${value.name} = ${value.number};`)
      return `enum ${name} { ${optionsOf(stated)} ${listed.join(' ')} }`
    }),
    `service S { ${plan.methods.map(({ name, input, output }) => `rpc ${name}(${input}) returns (${output});`).join(' ')} }`,
  ]
  return lines.join('\n')
}

const LISTS: ReadonlySet<string> = new Set([
  'messages',
  'enums',
  'methods',
  'fields',
  'oneofs',
  'values',
  'options',
  'reserved',
])

/** Edits keep objects and texts, but may leave out a list or put something else in its place. */
function isPlan(value: unknown): value is PlannedFile {
  if (!hasMembers(value, ['head', 'messages', 'enums', 'methods']) || !isWhole(value)) return false
  const { messages, enums } = value
  return (
    [messages].flat().every((one) => hasMembers(one, ['name', 'fields'])) &&
    [enums].flat().every((one) => hasMembers(one, ['name', 'values']))
  )
}

function isWhole(part: unknown): boolean {
  if (Array.isArray(part)) return part.every(isWhole)
  if (typeof part !== 'object' || part === null) return true
  return Object.entries(part).every(([name, held]) => {
    if (name === 'name' && typeof held !== 'string') return false
    return Array.isArray(held) === LISTS.has(name) && isWhole(held)
  })
}

function hasMembers(part: unknown, names: readonly string[]): part is Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null && names.every((name) => name in part)
}
