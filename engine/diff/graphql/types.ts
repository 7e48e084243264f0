/** The types of a schema, matched by name: removed, added, of another kind, or compared part by part. */
import type {
  CompositeType,
  EnumType,
  Field,
  InputType,
  NamedType,
  NamedReference,
  ScalarType,
  TypeKind,
  UnionType,
} from '../../contracts/graphql/schema.ts'
import type { GraphqlRuleId } from '../../rules/graphql/rows.ts'
import { relateTypes, type TypeRelation } from './type-relation.ts'
import { compareDescription, compareDeprecation, compareUsages } from './elements.ts'
import { compareInputs } from './inputs.ts'
import { type GraphqlChange, type GraphqlWalk, Site } from './walk.ts'

const NOUNS: Readonly<Record<TypeKind, string>> = {
  scalar: 'scalar',
  object: 'object type',
  interface: 'interface',
  union: 'union',
  enum: 'enum',
  input: 'input type',
}

/** Compares the types of both sides. Returns the number of types that both sides have. */
export function compareNamedTypes(walk: GraphqlWalk): number {
  const { base, head } = walk.sides
  let examined = 0
  for (const before of base.types.values()) {
    const after = head.types.get(before.name)
    if (after === undefined) {
      const change = { rule: 'graphql-type-removed', side: 'base', before: NOUNS[before.kind] } as const
      typeSite(before, walk).add({ ...change, mark: before.mark, detail: NOUNS[before.kind] })
    } else {
      compareType(before, after, walk)
      examined++
    }
  }
  for (const after of head.types.values()) {
    if (base.types.has(after.name)) continue
    const change = { rule: 'graphql-type-added', side: 'head', after: NOUNS[after.kind] } as const
    typeSite(after, walk).add({ ...change, mark: after.mark, detail: NOUNS[after.kind] })
    if (after.kind === 'object') reportNewImplementations(after, walk)
  }
  return examined
}

/** Clients that select an interface now also receive objects of the new type. */
function reportNewImplementations({ name, interfaces }: CompositeType, walk: GraphqlWalk): void {
  const { sides, references } = walk
  for (const { name: known, mark } of interfaces.values()) {
    if (sides.base.types.get(known)?.kind !== 'interface' || !references.base.outputs.has(known)) continue
    const place = typeSite({ name }, walk).below(`${name}/${known}`, 'interfaces', known)
    place.add({ rule: 'graphql-interface-implementation-added', side: 'head', mark, after: known, name })
  }
}

function typeSite({ name }: Pick<NamedType, 'name'>, walk: GraphqlWalk): Site {
  return new Site(walk, { coordinate: name, path: ['types', name], type: name })
}

function compareType(before: NamedType, after: NamedType, walk: GraphqlWalk): void {
  const site = typeSite(after, walk)
  compareDescription('graphql-type-description-changed', before, after, site)
  if (before.kind === 'scalar' && after.kind === 'scalar') compareScalars(before, after, site)
  else if (before.kind === 'union' && after.kind === 'union') compareUnions(before, after, site)
  else if (before.kind === 'enum' && after.kind === 'enum') compareEnums(before, after, site)
  else if (before.kind === 'input' && after.kind === 'input') compareInputTypes(before, after, site)
  else if ('interfaces' in before && 'interfaces' in after && before.kind === after.kind)
    compareComposites(before, after, site)
  else {
    const kinds = { before: withArticle(NOUNS[before.kind]), after: withArticle(NOUNS[after.kind]) }
    site.add({ rule: 'graphql-type-kind-changed', side: 'head', mark: after.mark, ...kinds })
    return
  }
  compareUsages(before, after, `the ${NOUNS[after.kind]}`, site)
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) && !noun.startsWith('uni') ? `an ${noun}` : `a ${noun}`
}

function compareScalars(base: ScalarType, head: ScalarType, site: Site): void {
  const [before, after] = [base.specifiedBy, head.specifiedBy]
  if (before === after || !site.walk.areAsked('specifiedByURL')) return
  const action = before === null ? 'added' : after === null ? 'removed' : 'changed'
  const rule = `graphql-scalar-specification-${action}` as const
  site.add({ rule, side: 'head', mark: head.mark, before, after })
}

function compareUnions(before: UnionType, after: UnionType, site: Site): void {
  compareReferences(before.members, after.members, UNION_MEMBERS, site)
}

/** A list of names of types, and its rules. */
interface ReferenceList {
  readonly member: string
  readonly removed: GraphqlRuleId
  readonly added: GraphqlRuleId
}

const UNION_MEMBERS: ReferenceList = {
  member: 'members',
  removed: 'graphql-union-member-removed',
  added: 'graphql-union-member-added',
}

const INTERFACES: ReferenceList = {
  member: 'interfaces',
  removed: 'graphql-interface-implementation-removed',
  added: 'graphql-interface-implementation-added',
}

function compareReferences(
  before: ReadonlyMap<string, NamedReference>,
  after: ReadonlyMap<string, NamedReference>,
  { member, removed, added }: ReferenceList,
  site: Site,
): void {
  for (const { name, mark } of before.values()) {
    if (after.has(name)) continue
    const place = site.below(`${site.coordinate}/${name}`, member, name)
    place.add({ rule: removed, side: 'base', mark, before: name, name: site.coordinate })
  }
  for (const { name, mark } of after.values()) {
    if (before.has(name)) continue
    const place = site.below(`${site.coordinate}/${name}`, member, name)
    place.add({ rule: added, side: 'head', mark, after: name, name: site.coordinate })
  }
}

function compareEnums(before: EnumType, after: EnumType, site: Site): void {
  const { base, head } = site.walk.references
  // A sent value is refused without the old member; a received value may contain the new one. The worse side is
  // reported.
  const isSent = base.inputs.has(before.name)
  const isReceived = head.outputs.has(after.name) || !head.inputs.has(after.name)
  const valueSite = (name: string): Site => site.below(`${after.name}.${name}`, 'values', name)
  const add = (name: string, change: GraphqlChange): void => valueSite(name).add({ name: after.name, ...change })
  for (const { name, mark } of before.values.values()) {
    const rule = `graphql-${isSent ? 'request' : 'response'}-enum-value-removed` as const
    if (!after.values.has(name)) add(name, { rule, side: 'base', mark, before: name })
  }
  for (const value of after.values.values()) {
    const { name, mark } = value
    const base = before.values.get(name)
    if (base === undefined) {
      const rule = `graphql-${isReceived ? 'response' : 'request'}-enum-value-added` as const
      add(name, { rule, side: 'head', mark, after: name })
      continue
    }
    compareDescription('graphql-enum-value-description-changed', base, value, valueSite(name))
    compareDeprecation('enum-value', base, value, valueSite(name))
    compareUsages(base, value, 'the enum value', valueSite(name))
  }
}

function compareInputTypes(before: InputType, after: InputType, site: Site): void {
  // An input that takes one field now is breaking, even if the base did not ask.
  if (before.isOneOf !== after.isOneOf && (after.isOneOf || site.walk.areAsked('isOneOf'))) {
    const rule = after.isOneOf ? 'graphql-input-one-of-added' : 'graphql-input-one-of-removed'
    site.add({ rule, side: 'head', mark: after.mark, before: before.isOneOf, after: after.isOneOf })
  }
  const siteOf = (name: string): Site => site.below(`${after.name}.${name}`, 'fields', name)
  compareInputs(before.fields, after.fields, { id: 'input-field', noun: 'input field', siteOf })
}

function compareComposites(before: CompositeType, after: CompositeType, site: Site): void {
  compareReferences(before.interfaces, after.interfaces, INTERFACES, site)
  const fieldSite = (name: string): Site => site.below(`${after.name}.${name}`, 'fields', name)
  for (const field of before.fields.values()) {
    const head = after.fields.get(field.name)
    if (head !== undefined) compareFieldDefinition(after.name, field, head, fieldSite(field.name))
    else reportField('removed', field, fieldSite(field.name))
  }
  for (const field of after.fields.values()) {
    if (!before.fields.has(field.name)) reportField('added', field, fieldSite(field.name))
  }
}

function reportField(action: 'removed' | 'added', { mark, type }: Field, site: Site): void {
  const side = action === 'removed' ? 'base' : 'head'
  const isOperation = site.walk.references[side].operations.has(site.coordinate)
  const rule = `graphql-${isOperation ? 'root-field' : 'field'}-${action}` as const
  site.add({ rule, side, mark, ...(action === 'removed' ? { before: type } : { after: type }) })
}

/** The meaning of a type relation for the reader of the field. */
const FIELD_TYPE_RULES = {
  'non-null': 'graphql-field-became-non-null',
  nullable: 'graphql-field-became-nullable',
  narrowed: 'graphql-field-type-narrowed',
  widened: 'graphql-field-type-widened',
  changed: 'graphql-field-type-changed',
} as const satisfies Readonly<Record<Exclude<TypeRelation, 'same'>, GraphqlRuleId>>

const CONFLICT_RULES = {
  yes: 'graphql-field-null-conflict',
  perhaps: 'graphql-field-null-perhaps-conflict',
} as const satisfies Readonly<Record<string, GraphqlRuleId>>

function compareFieldDefinition(owner: string, before: Field, after: Field, site: Site): void {
  const relation = relateTypes(before.type, after.type)
  if (relation !== 'same') {
    const conflict =
      relation === 'non-null' || relation === 'narrowed' ? site.walk.shapes.conflict(owner, after.name) : null
    const rule = conflict === null ? FIELD_TYPE_RULES[relation] : CONFLICT_RULES[conflict.isCertain ? 'yes' : 'perhaps']
    const change = { rule, side: 'head', mark: after.mark, before: before.type, after: after.type } as const
    site.add(conflict === null ? change : { ...change, detail: conflict.field })
  }
  const siteOf = (name: string): Site => site.below(`${site.coordinate}(${name}:)`, 'arguments', name)
  compareInputs(before.arguments, after.arguments, { id: 'argument', noun: 'argument', siteOf })
  compareDescription('graphql-field-description-changed', before, after, site)
  compareDeprecation('field', before, after, site)
  compareUsages(before, after, 'the field', site)
}
