/** The types of a schema, matched by name: gone, new, of another kind, or there on both sides and compared part by part. */
import type {
  CompositeType,
  EnumType,
  Field,
  InputType,
  NamedType,
  Reference,
  ScalarType,
  TypeKind,
  UnionType,
} from '../../contracts/graphql/schema.ts'
import type { GraphqlRuleId } from '../../rules/graphql/rows.ts'
import { relateTypes, type TypeRelation } from '../../rules/graphql/variance.ts'
import { compareDescription, compareLifecycle, compareUsages } from './elements.ts'
import { compareInputs } from './inputs.ts'
import { below, type GraphqlReport, type Site } from './report.ts'

const NOUNS: Readonly<Record<TypeKind, string>> = {
  scalar: 'scalar',
  object: 'object type',
  interface: 'interface',
  union: 'union',
  enum: 'enum',
  input: 'input type',
}

/** Compares the types of both sides; answers how many are on both. */
export function compareTypes(report: GraphqlReport): number {
  const { base, head } = report.sides
  let examined = 0
  for (const was of base.types.values()) {
    const is = head.types.get(was.name)
    if (is === undefined) {
      const change = { rule: 'graphql-type-removed', side: 'base', before: NOUNS[was.kind] } as const
      report.say(siteOf(was), { ...change, mark: was.mark, detail: NOUNS[was.kind] })
    } else {
      compareType(was, is, report)
      examined++
    }
  }
  for (const is of head.types.values()) {
    if (base.types.has(is.name)) continue
    const change = { rule: 'graphql-type-added', side: 'head', after: NOUNS[is.kind] } as const
    report.say(siteOf(is), { ...change, mark: is.mark, detail: NOUNS[is.kind] })
  }
  return examined
}

function siteOf({ name }: NamedType): Site {
  return { coordinate: name, path: ['types', name], type: name }
}

function compareType(was: NamedType, is: NamedType, report: GraphqlReport): void {
  const site = siteOf(is)
  compareDescription('graphql-type-description-changed', was, is, site, report)
  if (was.kind === 'scalar' && is.kind === 'scalar') compareScalars(was, is, site, report)
  else if (was.kind === 'union' && is.kind === 'union') compareUnions(was, is, site, report)
  else if (was.kind === 'enum' && is.kind === 'enum') compareEnums(was, is, site, report)
  else if (was.kind === 'input' && is.kind === 'input') compareInputTypes(was, is, site, report)
  else if ('interfaces' in was && 'interfaces' in is && was.kind === is.kind) compareComposites(was, is, site, report)
  else {
    const kinds = { before: withArticle(NOUNS[was.kind]), after: withArticle(NOUNS[is.kind]) }
    report.say(site, { rule: 'graphql-type-kind-changed', side: 'head', mark: is.mark, ...kinds })
    return
  }
  compareUsages(was, is, `the ${NOUNS[is.kind]}`, site, report)
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) && !noun.startsWith('uni') ? `an ${noun}` : `a ${noun}`
}

function compareScalars(was: ScalarType, is: ScalarType, site: Site, report: GraphqlReport): void {
  const [before, after] = [was.specifiedBy, is.specifiedBy]
  if (before === after) return
  const action = before === null ? 'added' : after === null ? 'removed' : 'changed'
  const rule = `graphql-scalar-specification-${action}` as const
  report.say(site, { rule, side: 'head', mark: is.mark, before, after })
}

function compareUnions(was: UnionType, is: UnionType, site: Site, report: GraphqlReport): void {
  const rules = { removed: 'graphql-union-member-removed', added: 'graphql-union-member-added' } as const
  compareReferences(was.members, is.members, 'members', rules, site, report)
}

/** Names that came and names that went. */
function compareReferences(
  before: ReadonlyMap<string, Reference>,
  after: ReadonlyMap<string, Reference>,
  member: string,
  rules: Readonly<Record<'removed' | 'added', GraphqlRuleId>>,
  site: Site,
  report: GraphqlReport,
): void {
  for (const { name, mark } of before.values()) {
    const place = { ...below(site, `${site.coordinate}/${name}`, member, name) }
    if (after.has(name)) continue
    report.say(place, { rule: rules.removed, side: 'base', mark, before: name, name: site.coordinate })
  }
  for (const { name, mark } of after.values()) {
    if (before.has(name)) continue
    const place = below(site, `${site.coordinate}/${name}`, member, name)
    report.say(place, { rule: rules.added, side: 'head', mark, after: name, name: site.coordinate })
  }
}

function compareEnums(was: EnumType, is: EnumType, site: Site, report: GraphqlReport): void {
  const { base, head } = report.references
  // What is sent is refused without the value; what is received may hold the new one: the worse side is told.
  const isSent = base.inputs.has(was.name)
  const isReceived = head.outputs.has(is.name) || !head.inputs.has(is.name)
  const valueSite = (name: string): Site => below(site, `${is.name}.${name}`, 'values', name)
  const say = (name: string, change: Parameters<GraphqlReport['say']>[1]): void =>
    report.say(valueSite(name), { name: is.name, ...change })
  for (const { name, mark } of was.values.values()) {
    const rule = `graphql-${isSent ? 'request' : 'response'}-enum-value-removed` as const
    if (!is.values.has(name)) say(name, { rule, side: 'base', mark, before: name })
  }
  for (const value of is.values.values()) {
    const { name, mark } = value
    const old = was.values.get(name)
    if (old === undefined) {
      const rule = `graphql-${isReceived ? 'response' : 'request'}-enum-value-added` as const
      say(name, { rule, side: 'head', mark, after: name })
      continue
    }
    compareDescription('graphql-enum-value-description-changed', old, value, valueSite(name), report)
    compareLifecycle('enum-value', old, value, valueSite(name), report)
    compareUsages(old, value, 'the enum value', valueSite(name), report)
  }
}

function compareInputTypes(was: InputType, is: InputType, site: Site, report: GraphqlReport): void {
  if (was.isOneOf !== is.isOneOf) {
    const rule = is.isOneOf ? 'graphql-input-one-of-added' : 'graphql-input-one-of-removed'
    report.say(site, { rule, side: 'head', mark: is.mark, before: was.isOneOf, after: is.isOneOf })
  }
  const siteOf = (name: string): Site => below(site, `${is.name}.${name}`, 'fields', name)
  compareInputs(was.fields, is.fields, { id: 'input-field', noun: 'input field', siteOf }, report)
}

function compareComposites(was: CompositeType, is: CompositeType, site: Site, report: GraphqlReport): void {
  const rules = {
    removed: 'graphql-interface-implementation-removed',
    added: 'graphql-interface-implementation-added',
  } as const
  compareReferences(was.interfaces, is.interfaces, 'interfaces', rules, site, report)
  const fieldSite = (name: string): Site => below(site, `${is.name}.${name}`, 'fields', name)
  for (const field of was.fields.values()) {
    const now = is.fields.get(field.name)
    if (now !== undefined) compareField(field, now, fieldSite(field.name), report)
    else sayField('removed', field, fieldSite(field.name), report)
  }
  for (const field of is.fields.values()) {
    if (!was.fields.has(field.name)) sayField('added', field, fieldSite(field.name), report)
  }
}

function sayField(action: 'removed' | 'added', { mark, type }: Field, site: Site, report: GraphqlReport): void {
  const side = action === 'removed' ? 'base' : 'head'
  const isOperation = report.references[side].operations.has(site.coordinate)
  const rule = `graphql-${isOperation ? 'root-field' : 'field'}-${action}` as const
  report.say(site, { rule, side, mark, ...(action === 'removed' ? { before: type } : { after: type }) })
}

/** Of a relation of types, what it is for whoever reads the field. */
const FIELD_TYPE_RULES = {
  'non-null': 'graphql-field-became-non-null',
  nullable: 'graphql-field-became-nullable',
  narrowed: 'graphql-field-type-narrowed',
  widened: 'graphql-field-type-widened',
  changed: 'graphql-field-type-changed',
} as const satisfies Readonly<Record<Exclude<TypeRelation, 'same'>, GraphqlRuleId>>

function compareField(was: Field, is: Field, site: Site, report: GraphqlReport): void {
  const relation = relateTypes(was.type, is.type)
  if (relation !== 'same') {
    const types = { before: was.type, after: is.type }
    report.say(site, { rule: FIELD_TYPE_RULES[relation], side: 'head', mark: is.mark, ...types })
  }
  const siteOf = (name: string): Site => below(site, `${site.coordinate}(${name}:)`, 'arguments', name)
  compareInputs(was.arguments, is.arguments, { id: 'argument', noun: 'argument', siteOf }, report)
  compareDescription('graphql-field-description-changed', was, is, site, report)
  compareLifecycle('field', was, is, site, report)
  compareUsages(was, is, 'the field', site, report)
}
