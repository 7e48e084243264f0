/**
 * Reads the JSON of an introspection query. It does not contain the applied directives, except those with
 * introspection members: deprecation, scalar specifications and @oneOf inputs.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { GraphQLError } from 'graphql/error'
import { parseConstValue } from 'graphql/language'
import { fail, ok, type Result } from '../../common/result.ts'
import { isRecord, memberOf, pointerOf, recordOf, ROOT, stepInto, textAt, type Located } from '../../schema/located.ts'
import type { SourceDocument } from '../document.ts'
import { Faults } from './faults.ts'
import { literalOf } from './literals.ts'
import { tooDeepAt } from './nesting.ts'
import {
  isReserved,
  NO_REASON,
  NOTHING_UNASKED,
  ROOT_KINDS,
  STANDARD_DIRECTIVES,
  STANDARD_SCALARS,
  type Deprecable,
  type DirectiveDefinition,
  type Element,
  type Field,
  type GraphqlSchema,
  type InputValue,
  type IntrospectedMember,
  type NamedType,
  type NamedReference,
  type RootKind,
  type TypeKind,
} from './schema.ts'

const KINDS: Readonly<Record<string, TypeKind>> = lookupTable({
  SCALAR: 'scalar',
  OBJECT: 'object',
  INTERFACE: 'interface',
  UNION: 'union',
  ENUM: 'enum',
  INPUT_OBJECT: 'input',
})

/** Whether a JSON document has the form of an introspection result. */
export function isIntrospection(root: unknown): boolean {
  return introspectedSchema(root) !== null
}

/** `__schema` at the root, or below the `data` of a response. */
function introspectedSchema(root: unknown): Located | null {
  const whole: Located = { value: root, at: ROOT, document: '' }
  const owner = memberOf(whole, '__schema') === null ? memberOf(whole, 'data') : whole
  const schema = owner === null ? null : memberOf(owner, '__schema')
  return schema !== null && isRecord(schema.value) ? schema : null
}

/** Reads an introspection result. The problem names the fault by pointer and position. */
export function readIntrospection({ root, locate }: SourceDocument): Result<GraphqlSchema> {
  const positionOf: GraphqlSchema['positionOf'] = (mark) => (typeof mark === 'string' ? locate(mark) : null)
  const faults = new Faults(positionOf)
  const schema = introspectedSchema(root)
  if (schema === null) faults.report('it has no `__schema`', '', 'Give the whole answer to an introspection query.')
  const read = schema === null ? null : new IntrospectionReader(faults).read(schema)
  const fault = faults.first
  if (fault !== null) return fail(fault)
  if (read === null) throw new Error('an introspection result without a schema has a fault')
  return ok({ ...read, hasUsages: false, unasked: schema === null ? NOTHING_UNASKED : unaskedOf(schema), positionOf })
}

/** Members that no type or directive has. A query asks for one of them everywhere or nowhere. */
function unaskedOf(schema: Located): ReadonlySet<IntrospectedMember> {
  const has = (list: 'types' | 'directives', ...names: readonly string[]): boolean => {
    const items = recordOf(schema.value)[list]
    return Array.isArray(items) && items.some((item) => names.some((name) => Object.hasOwn(recordOf(item), name)))
  }
  const asked: Readonly<Record<IntrospectedMember, boolean>> = {
    isRepeatable: has('directives', 'isRepeatable'),
    specifiedByURL: has('types', 'specifiedByURL', 'specifiedByUrl'),
    isOneOf: has('types', 'isOneOf'),
  }
  return new Set((['isRepeatable', 'specifiedByURL', 'isOneOf'] as const).filter((member) => !asked[member]))
}

class IntrospectionReader {
  readonly #faults: Faults

  constructor(faults: Faults) {
    this.#faults = faults
  }

  read(schema: Located): Omit<GraphqlSchema, 'hasUsages' | 'unasked' | 'positionOf'> {
    const types = this.#byName(schema, 'types', (item) => this.#type(item), 'required')
    const directives = this.#byName(schema, 'directives', (item) => this.#directive(item))
    const roots = ROOT_KINDS.flatMap((kind): [RootKind, NamedReference][] => {
      const root = memberOf(schema, `${kind}Type`)
      const name = root === null ? null : textAt(root.value, 'name')
      return root === null || name === null ? [] : [[kind, { name, mark: pointerOf(root.at) }]]
    })
    return {
      schema: {
        name: 'schema',
        mark: pointerOf(schema.at),
        description: textAt(schema.value, 'description'),
        usages: [],
      },
      roots: new Map(roots),
      types: new Map([...types].filter(([name]) => !isReserved(name) && !STANDARD_SCALARS.has(name))),
      directives: new Map([...directives].filter(([name]) => !STANDARD_DIRECTIVES.has(name))),
    }
  }

  #type(item: Located): NamedType {
    const element = elementOf(item)
    const stated = textAt(item.value, 'kind') ?? ''
    const kind = Object.hasOwn(KINDS, stated) ? KINDS[stated] : undefined
    if (kind === undefined) this.#faults.report(`the type ${element.name} has no kind that is known`, element.mark)
    if (kind === undefined || kind === 'scalar') {
      return {
        ...element,
        kind: 'scalar',
        specifiedBy: textAt(item.value, 'specifiedByURL') ?? textAt(item.value, 'specifiedByUrl'),
      }
    }
    if (kind === 'union') return { ...element, kind, members: this.#references(item, 'possibleTypes') }
    if (kind === 'enum') return { ...element, kind, values: this.#byName(item, 'enumValues', deprecableOf) }
    if (kind === 'input') {
      const fields = this.#byName(item, 'inputFields', (field) => this.#input(field))
      return { ...element, kind, fields, isOneOf: recordOf(item.value)['isOneOf'] === true }
    }
    const fields = this.#byName(item, 'fields', (field) => this.#field(field))
    return { ...element, kind, fields, interfaces: this.#references(item, 'interfaces') }
  }

  #directive(item: Located): DirectiveDefinition {
    const { locations, isRepeatable } = recordOf(item.value)
    const names = (Array.isArray(locations) ? locations : []).filter((name) => typeof name === 'string')
    const at = pointerOf(item.at)
    return {
      ...deprecableOf(item),
      arguments: this.#byName(item, 'args', (argument) => this.#input(argument)),
      locations: new Map(names.map((name, index) => [name, { name, mark: `${at}/locations/${index}` }])),
      isRepeatable: isRepeatable === true,
    }
  }

  #field(item: Located): Field {
    const type = this.#typeText(memberOf(item, 'type'), item)
    return { ...deprecableOf(item), type, arguments: this.#byName(item, 'args', (argument) => this.#input(argument)) }
  }

  #input(item: Located): InputValue {
    const type = this.#typeText(memberOf(item, 'type'), item)
    const text = textAt(item.value, 'defaultValue')
    return { ...deprecableOf(item), type, defaultValue: text === null ? null : this.#literal(text, item) }
  }

  /** `defaultValue` is an SDL literal in a string, so the limits of the surrounding JSON do not apply to it. */
  #literal(text: string, owner: Located): string {
    try {
      if (tooDeepAt(text, LITERAL_DEPTH) === null) return literalOf(parseConstValue(text, { noLocation: true }))
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
    }
    const at = stepInto(owner.at, 'defaultValue')
    const shown = text.length > SHOWN_LITERAL ? `${text.slice(0, SHOWN_LITERAL).toWellFormed()}…` : text
    this.#faults.report(
      `the default value ${JSON.stringify(shown)} is not a literal, or nests too deeply`,
      pointerOf(at),
    )
    return text
  }

  #typeText(type: Located | null, owner: Located): string {
    const { kind, name } = type === null ? {} : recordOf(type.value)
    if (kind === 'LIST' || kind === 'NON_NULL') {
      const below = this.#typeText(type === null ? null : memberOf(type, 'ofType'), owner)
      return kind === 'LIST' ? `[${below}]` : `${below}!`
    }
    if (typeof name === 'string') return name
    const fix = 'Ask for more levels of ofType in the introspection query.'
    this.#faults.report('a type reference does not end in a named type', pointerOf(owner.at), fix)
    return ''
  }

  #references(owner: Located, member: string): ReadonlyMap<string, NamedReference> {
    return this.#byName(owner, member, (item) => ({ name: nameMember(item), mark: pointerOf(item.at) }))
  }

  #byName<T>(
    owner: Located,
    member: string,
    read: (item: Located) => T,
    presence: 'required' | 'optional' = 'optional',
  ): ReadonlyMap<string, T> {
    const list = memberOf(owner, member)
    const items = new Map<string, T>()
    const places = new Map<string, string>()
    if (list === null || !Array.isArray(list.value)) {
      if (presence === 'required') this.#faults.report(`\`${member}\` is not a list`, pointerOf((list ?? owner).at))
      return items
    }
    const values: readonly unknown[] = list.value
    for (const [index, value] of values.entries()) {
      const item: Located = { value, at: stepInto(list.at, String(index)), document: '' }
      const name = nameMember(item)
      if (name === '') this.#faults.report(`an item of \`${member}\` has no name`, pointerOf(item.at))
      const first = places.get(name)
      if (first !== undefined) this.#faults.reportDuplicate(`${name} in \`${member}\``, pointerOf(item.at), first)
      else places.set(name, pointerOf(item.at))
      items.set(name, read(item))
    }
    return items
  }
}

/** Maximum nesting of a default value. The parser is recursive, and real schemas stay far below this. */
const LITERAL_DEPTH = 64
const SHOWN_LITERAL = 80

function nameMember(item: Located): string {
  return textAt(item.value, 'name') ?? ''
}

function elementOf(item: Located): Element {
  // Some servers return an empty description if there is none.
  const description = textAt(item.value, 'description') || null
  return { name: nameMember(item), mark: pointerOf(item.at), description, usages: [] }
}

function deprecableOf(item: Located): Deprecable {
  const isDeprecated = recordOf(item.value)['isDeprecated'] === true
  return {
    ...elementOf(item),
    deprecation: isDeprecated ? (textAt(item.value, 'deprecationReason') ?? NO_REASON) : null,
  }
}
