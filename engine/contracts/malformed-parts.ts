/**
 * Parts of a contract that have another form than their format states, such as parameters in a map or a bound in text.
 * Parts that a format demands and that are absent count too. They are read as absent, so no other finding is about them. Each
 * format states its parts in a table; all share the keywords of schemas.
 */
import {
  isRecord,
  locatedItems,
  memberOf,
  pointerOf,
  stepInto,
  type JsonRecord,
  type Located,
} from '../schema/located.ts'
import {
  isBoolean,
  isFormed,
  isNumber,
  isText,
  isTexts,
  KEYWORD_FORMS,
  type KeywordForm,
} from '../schema/keyword-forms.ts'
import { draftHas } from './schema-drafts.ts'

export interface MalformedPart {
  readonly located: Located
  /** What it has to be, in words. */
  readonly form: string
}

/** What an object may hold under a name. */
interface PartForm {
  readonly holds: 'one' | 'list' | 'one or list' | 'map' | 'extensible map'
  /** The kind of each object. Null if it is no object with parts. */
  readonly kind: string | null
  /** Further values that each may be. */
  readonly admits: (value: unknown) => boolean
  readonly form: string
  /** Whether its owner is malformed without it. Absent: it is not. */
  readonly isNeeded?: true
}

type PartFormOf<Kind extends string> = PartForm & { readonly kind: Kind | null }

/** By name. Only gone through, and made into a map. */
type Members<Kind extends string> = Readonly<Record<string, PartFormOf<Kind>>>

/** The objects that schemas of every format hold. */
type SchemaKind = 'schema' | 'discriminator' | 'xml'

function partForm<Kind extends string>(holds: PartForm['holds'], kind: Kind): PartFormOf<Kind> {
  // A boolean is a schema too.
  return kind === 'schema'
    ? { holds, kind, admits: isBoolean, form: 'a schema' }
    : { holds, kind, admits: isNothing, form: 'an object' }
}

export const one = <Kind extends string>(kind: Kind): PartFormOf<Kind> => partForm('one', kind)
export const list = <Kind extends string>(kind: Kind): PartFormOf<Kind> => partForm('list', kind)
export const map = <Kind extends string>(kind: Kind): PartFormOf<Kind> => partForm('map', kind)
/** A map whose names that begin with `x-` are extensions. */
export const extensibleMap = <Kind extends string>(kind: Kind): PartFormOf<Kind> => partForm('extensible map', kind)

/** A part without which readers refuse its owner. */
export function needed<Kind extends string>(part: PartFormOf<Kind>): PartFormOf<Kind> {
  return { ...part, isNeeded: true }
}

export function primitiveForm(
  form: string,
  admits: PartForm['admits'],
  holds: PartForm['holds'] = 'one',
): PartFormOf<never> {
  return { holds, kind: null, admits, form }
}

export const TEXT = primitiveForm('a text', isText)
export const FLAG = primitiveForm('true or false', isBoolean)
export const NUMBER = primitiveForm('a number', isNumber)
export const TEXTS = primitiveForm('a list of texts', isTexts)
export const TEXT_MAP = primitiveForm('a text', isText, 'map')
/** A map of values of any form, which may stand behind a reference too. */
export const VALUE_MAP = primitiveForm('a value', () => true, 'map')
const LIST = primitiveForm('a list', Array.isArray)

/** Members of a security scheme that OpenAPI and AsyncAPI share. */
export const SECURITY_SCHEME_TEXTS = { type: TEXT, in: TEXT, name: TEXT, scheme: TEXT, openIdConnectUrl: TEXT }

/** The member of each form of a keyword. Null: every value is fine. */
const MEMBER_OF_FORM: Readonly<Record<KeywordForm, PartFormOf<SchemaKind> | null>> = {
  schema: one('schema'),
  schemas: list('schema'),
  'schema or schemas': partForm('one or list', 'schema'),
  'named schemas': map('schema'),
  text: TEXT,
  number: NUMBER,
  boolean: FLAG,
  'number or boolean': primitiveForm('a number', (value) => isFormed(value, 'number or boolean')),
  names: TEXTS,
  // A file is a type of Swagger 2.0.
  types: primitiveForm('a type or a list of types', (value) => value === 'file' || isFormed(value, 'types')),
  'named names': primitiveForm('a list of texts', isTexts, 'map'),
  dependencies: {
    ...map('schema'),
    admits: (value) => isBoolean(value) || isTexts(value),
    form: 'a schema or a list of texts',
  },
  vocabularies: primitiveForm('true or false', isBoolean, 'map'),
  list: LIST,
  any: null,
}

export const KEYWORDS: Members<SchemaKind> = {
  ...Object.fromEntries(
    [...KEYWORD_FORMS].flatMap(([name, form]) => {
      const member = MEMBER_OF_FORM[form]
      return member === null ? [] : [[name, member] as const]
    }),
  ),
  readOnly: FLAG,
  writeOnly: FLAG,
  deprecated: FLAG,
  nullable: FLAG,
  'x-nullable': FLAG,
  'x-extensible-enum': LIST,
  // In Swagger 2.0 the name of the property alone.
  discriminator: { ...one('discriminator'), admits: isText, form: 'an object or a text' },
  xml: one('xml'),
}

/** The keywords whose values have fewer forms in the draft that a schema states than in all drafts together. */
export function keywordsOfDraft(stated: string | null): Members<SchemaKind> {
  const forms: Record<string, PartFormOf<SchemaKind>> = {}
  for (const bound of ['exclusiveMaximum', 'exclusiveMinimum']) {
    if (!draftHas(stated, bound, true)) forms[bound] = NUMBER
    if (!draftHas(stated, bound, 0)) forms[bound] = FLAG
  }
  if (!draftHas(stated, 'items', [])) forms['items'] = one('schema')
  return forms
}

/** The keywords that hold no schema, for objects that are schemas of one plain value. */
export const PLAIN_KEYWORDS: Members<never> = Object.fromEntries(
  Object.entries(KEYWORDS).flatMap(([name, { kind, ...member }]) =>
    kind === null ? [[name, { ...member, kind }]] : [],
  ),
)

const SCHEMA_KINDS: Readonly<Record<SchemaKind, Members<SchemaKind>>> = {
  schema: KEYWORDS,
  discriminator: { propertyName: TEXT, mapping: TEXT_MAP, defaultMapping: TEXT },
  xml: { name: TEXT, namespace: TEXT, prefix: TEXT, attribute: FLAG, wrapped: FLAG, nodeType: TEXT },
}

/** Stands for every name that is no extension, in an object whose members their author names. */
export const ANY_NAME = '*'

/** What an object may hold. */
interface Kind {
  readonly members: ReadonlyMap<string, PartForm>
  /** What every other name holds that is no extension. */
  readonly others: PartForm | undefined
  readonly needed: readonly string[]
  /** Whether it is always written in place: readers follow no reference there. */
  readonly isWritten: boolean
}

/** The parts of a format. */
export interface PartTable {
  readonly kinds: ReadonlyMap<string, Kind>
  /** References to objects that are parts already. */
  readonly known: RegExp
  /** Whether a member that is null is malformed. Most formats read it as absent. */
  readonly refusesNull: boolean
}

/** The same parts, of a format whose readers refuse null where a member may be absent. */
export function withoutNulls(table: PartTable): PartTable {
  return { ...table, refusesNull: true }
}

/**
 * @param own what each object may hold. Members of `schema` are those that the format adds to the keywords.
 * @param known references to objects that are parts already: a document without others is checked in one pass
 * @param written objects that are always written in place
 */
export function partTable<Own extends string>(
  own: Readonly<Record<Own, Members<NoInfer<Own> | SchemaKind>>>,
  known: RegExp = NO_REFERENCE,
  written: readonly NoInfer<Own>[] = [],
): PartTable {
  const tables: Readonly<Record<string, Readonly<Record<string, PartForm>>>> = { ...SCHEMA_KINDS, ...own }
  const kinds = Object.entries(tables).map(([kind, stated]): [string, Kind] => {
    const members = new Map(Object.entries({ $ref: TEXT, ...(kind === 'schema' && KEYWORDS), ...stated }))
    const required = [...members].filter(([, { isNeeded }]) => isNeeded).map(([name]) => name)
    const isWritten = WRITTEN.has(kind) || written.some((name) => name === kind)
    return [kind, { members, others: members.get(ANY_NAME), needed: required, isWritten }]
  })
  return { kinds: new Map(kinds), known, refusesNull: false }
}

const NO_REFERENCE = /^(?!)/
const WRITTEN_IN_PLACE = 'written in place'
/** In the schemas of every format. */
const WRITTEN: ReadonlySet<string> = new Set<SchemaKind>(['discriminator', 'xml'])

function kindNamed({ kinds }: PartTable, name: string): Kind {
  const kind = kinds.get(name)
  if (kind === undefined) throw new Error(`no parts of the kind ${name}`)
  return kind
}

function memberNamed({ members, others }: Kind, name: string): PartForm | undefined {
  const member = members.get(name)
  return member !== undefined || others === undefined || name.startsWith('x-') ? member : others
}

/** Where the search begins. */
interface PartRoot {
  readonly located: Located
  readonly kind: string
  /** The target of a reference. */
  readonly resolve: (reference: string, from: Located) => Located | null
  /** The kind of a part that depends on what it holds, or on its owner. Null: its value is compared as a whole. */
  readonly kindOf?: (kind: string, part: Located, owner: Located) => string | null
}

const NONE: ReadonlyMap<string, MalformedPart> = new Map()

/** By pointer from the root, or from the top of a further file with its path. */
export function malformedParts(table: PartTable, root: PartRoot): ReadonlyMap<string, MalformedPart> {
  const isPlain = root.kindOf === undefined && isWellFormed(root.located.value, root.kind, table)
  return isPlain ? NONE : new MalformedSearch(table, root).find()
}

/** Whether nothing is malformed in a value whose references lead to parts. It is asked of every schema. */
function isWellFormed(value: unknown, kindName: string, table: PartTable): boolean {
  if (!isRecord(value)) return false
  const kind = kindNamed(table, kindName)
  if (kind.isWritten && typeof value['$ref'] === 'string') return false
  for (const name of kind.needed) if (isAbsentOrNull(value, name)) return false
  for (const name in value) {
    const member = memberNamed(kind, name)
    if (member === undefined) continue
    const held = value[name]
    if (name === '$ref' && typeof held === 'string' && !table.known.test(held)) return false
    if (member === TEXT) {
      if (typeof held !== 'string' && (held !== null || table.refusesNull)) return false
    } else if (!isMemberWellFormed(held, member, table)) return false
  }
  return true
}

function isAbsentOrNull(owner: JsonRecord, name: string): boolean {
  return !Object.hasOwn(owner, name) || owner[name] === null
}

function isMemberWellFormed(value: unknown, member: PartForm, table: PartTable): boolean {
  if (value === null) return !table.refusesNull
  const { holds } = member
  if (holds === 'one') return isPartWellFormed(value, member, table)
  if (holds === 'map' || holds === 'extensible map') {
    if (!isRecord(value) || isMisplacedReference(value, member)) return false
    for (const name in value) {
      if (holds === 'extensible map' && name.startsWith('x-')) continue
      if (!isPartWellFormed(value[name], member, table)) return false
    }
    return true
  }
  if (!Array.isArray(value)) return holds === 'one or list' && isPartWellFormed(value, member, table)
  for (const item of value) if (!isPartWellFormed(item, member, table)) return false
  return true
}

/** A reference instead of a map of plain values: as one of its values it is well-formed. */
function isMisplacedReference({ $ref: reference }: JsonRecord, { kind }: PartForm): boolean {
  return kind === null && typeof reference === 'string'
}

function isPartWellFormed(value: unknown, { kind, admits }: PartForm, table: PartTable): boolean {
  return kind !== null && isRecord(value) ? isWellFormed(value, kind, table) : value === null || admits(value)
}

interface OpenPart {
  readonly located: Located
  readonly kind: string
}

/** Finds malformed parts, and follows references to where no part is. */
class MalformedSearch {
  readonly #table: PartTable
  readonly #root: PartRoot
  readonly #found = new Map<string, MalformedPart>()
  readonly #seen = new Set<object>()
  readonly #open: OpenPart[] = []

  constructor(table: PartTable, root: PartRoot) {
    this.#table = table
    this.#root = root
  }

  find(): ReadonlyMap<string, MalformedPart> {
    this.#visit(this.#root.located, one(this.#root.kind))
    for (let part = this.#open.pop(); part !== undefined; part = this.#open.pop()) this.#lookInto(part)
    return this.#found
  }

  #lookInto({ located, kind }: OpenPart): void {
    const { value } = located
    if (!isRecord(value) || this.#seen.has(value)) return
    this.#seen.add(value)
    const known = kindNamed(this.#table, kind)
    if (known.isWritten && typeof value['$ref'] === 'string') return this.#report(located, WRITTEN_IN_PLACE)
    for (const name of known.needed) {
      const absent = { value: null, at: stepInto(located.at, name), document: located.document }
      if (isAbsentOrNull(value, name)) this.#report(absent, known.members.get(name)?.form ?? '')
    }
    for (const name in value) {
      const member = memberNamed(known, name)
      const held = member === undefined ? null : memberOf(located, name)
      if (member === undefined || held === null) continue
      if (held.value !== null) this.#visitMember(held, member, located, kind)
      else if (this.#table.refusesNull && member.isNeeded !== true) this.#report(held, member.form)
    }
    const { $ref: reference } = value
    // A reference without a target is reported as such.
    const target = typeof reference === 'string' ? this.#root.resolve(reference, located) : null
    if (target !== null) this.#visit(target, one(kind))
  }

  #visitMember(held: Located, member: PartForm, owner: Located, kind: string): void {
    const { value, at, document } = held
    const visit = (part: Located): void => this.#visitKind(part, member, owner, kind)
    switch (member.holds) {
      case 'one':
        return visit(held)
      case 'list':
      case 'one or list':
        if (Array.isArray(value)) return locatedItems(held).forEach(visit)
        return member.holds === 'list' ? this.#report(held, 'a list') : visit(held)
      case 'map':
      case 'extensible map':
        if (!isRecord(value)) return this.#report(held, 'an object')
        if (isMisplacedReference(value, member)) return this.#report(held, WRITTEN_IN_PLACE)
        for (const name in value) {
          if (member.holds === 'extensible map' && name.startsWith('x-')) continue
          visit({ value: value[name], at: stepInto(at, name), document })
        }
    }
  }

  #visitKind(part: Located, member: PartForm, owner: Located, ownerKind: string): void {
    const { kindOf } = this.#root
    // Most parts are schemas that are written in place and well-formed.
    const isWritten = member.kind === 'schema' && ownerKind !== 'schema' && part.document === ''
    if (isWritten && isWellFormed(part.value, 'schema', this.#table)) return
    if (member.kind === null || kindOf === undefined) return this.#visit(part, member)
    const kind = kindOf(member.kind, part, owner)
    if (kind !== null) this.#visit(part, kind === member.kind ? member : one(kind))
  }

  #visit(located: Located, { kind, admits, form }: PartForm): void {
    const { value } = located
    // An empty value of YAML is an absent one.
    if (value === null || admits(value)) return
    if (kind !== null && isRecord(value)) this.#open.push({ located, kind })
    else this.#report(located, form)
  }

  #report(located: Located, form: string): void {
    const pointer = pointerOf(located.at, located.document)
    const start = pointerOf(this.#root.located.at)
    this.#found.set(pointer.startsWith(start) ? pointer.slice(start.length) : pointer, { located, form })
  }
}

function isNothing(): boolean {
  return false
}
