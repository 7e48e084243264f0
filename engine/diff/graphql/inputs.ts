/** Input values: arguments, fields of input types, arguments of directives. Matched by name. */
import type { InputValue } from '../../contracts/graphql/schema.ts'
import type { InputChange, InputRuleId, InputSite } from '../../rules/graphql/input-rows.ts'
import { coercedLiteral } from '../../contracts/graphql/coercion.ts'
import { relateTypes, type TypeRelation } from './type-relation.ts'
import { compareDescription, compareDeprecation, compareUsages } from './elements.ts'
import type { Site } from './walk.ts'

/** One kind of input: its name in rules and messages, and its place below its owner. */
interface InputKind {
  readonly id: InputSite
  readonly noun: string
  readonly siteOf: (name: string) => Site
}

/** The meaning of a type relation for the side that supplies the value. */
const TYPE_CHANGES: Readonly<Record<Exclude<TypeRelation, 'same'>, InputChange>> = {
  'non-null': 'became-required',
  nullable: 'became-optional',
  narrowed: 'type-narrowed',
  widened: 'type-widened',
  changed: 'type-changed',
}

export function compareInputs(
  before: ReadonlyMap<string, InputValue>,
  after: ReadonlyMap<string, InputValue>,
  kind: InputKind,
): void {
  for (const [name, base] of before) {
    const head = after.get(name)
    const site = kind.siteOf(name)
    if (head === undefined) site.add({ ...removedInput(base), rule: `graphql-${kind.id}-removed` })
    else compareInput(base, head, kind, site)
  }
  for (const [name, head] of after) {
    if (!before.has(name)) kind.siteOf(name).add({ ...come(head), rule: addedRule(head, kind) })
  }
}

function addedRule({ type, defaultValue }: InputValue, { id }: InputKind): InputRuleId {
  const isRequired = type.endsWith('!') && defaultValue === null
  return `graphql-${isRequired ? 'required' : 'optional'}-${id}-added`
}

function removedInput({ mark, type }: InputValue): { side: 'base'; mark: InputValue['mark']; before: string } {
  return { side: 'base', mark, before: type }
}

function come(after: InputValue): { side: 'head'; mark: InputValue['mark']; after: string } {
  const given = after.defaultValue === null ? '' : ` = ${after.defaultValue}`
  return { side: 'head', mark: after.mark, after: `${after.type}${given}` }
}

function compareInput(before: InputValue, after: InputValue, kind: InputKind, site: Site): void {
  const { id, noun } = kind
  const relation = relateTypes(before.type, after.type)
  if (relation !== 'same') {
    const rule: InputRuleId = `graphql-${id}-${TYPE_CHANGES[relation]}`
    site.add({ rule, side: 'head', mark: after.mark, before: before.type, after: after.type })
  }
  compareInputDefault(before, after, kind, site)
  compareDescription(`graphql-${id}-description-changed`, before, after, site)
  compareDeprecation(id, before, after, site)
  compareUsages(before, after, `the ${noun}`, site)
}

function compareInputDefault(base: InputValue, head: InputValue, { id }: InputKind, site: Site): void {
  const [before, after] = [base.defaultValue, head.defaultValue]
  if (before === after) return
  if (before !== null && after !== null) {
    const { sides } = site.walk
    if (coercedLiteral(before, base.type, sides.base) === coercedLiteral(after, head.type, sides.head)) return
  }
  const action = before === null ? 'added' : after === null ? 'removed' : 'changed'
  // Where the type came to take no null, that is its own finding.
  const isRequired = action === 'removed' && base.type.endsWith('!') && head.type.endsWith('!')
  const stem = isRequired ? 'required-default-value-removed' : (`default-value-${action}` as const)
  const rule: InputRuleId = `graphql-${id}-${stem}`
  site.add({ rule, side: 'head', mark: head.mark, before, after })
}
