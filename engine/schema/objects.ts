/** What objects may hold: properties, which of them are required, and what else is allowed beside them. */
import { withMarks } from './annotations.ts'
import type { Examination } from './examination.ts'
import type { DeltaSeries, PropertyFacts, SchemaDelta } from './delta.ts'
import { isEqual } from './equality.ts'
import type { JsonRecord, Located } from './located.ts'
import { allowanceOf, compareAllowance, locate, locateNamed, membersOf, textsOf } from './subschemas.ts'
import { resolveSchema, type SchemaSource } from './source.ts'
import { unevaluatedOf } from './unevaluated.ts'

export function compareObjects(examination: Examination): void {
  compareProperties(examination)
  compareRequired(examination)
  compareAllowance(examination, 'additionalProperties')
  comparePropertyNames(examination)
  comparePatterns(examination)
  compareDependentSchemas(examination)
  compareDependentRequired(examination)
}

function compareProperties(examination: Examination): void {
  const { before, after, base, head, sources, reportEach, descend } = examination
  const baseProperties = membersOf(base, 'properties')
  const headProperties = membersOf(head, 'properties')
  if (baseProperties === headProperties) return
  const required = requiredOnSides(base, head)
  const baseAt = locateNamed(before, baseProperties, 'properties')
  const headAt = locateNamed(after, headProperties, 'properties')
  let [gone, shared] = [0, 0]
  for (const name in baseProperties) {
    const isShared = Object.hasOwn(headProperties, name)
    if (isShared) shared += 1
    else gone += 1
    if (isShared && baseProperties[name] !== headProperties[name])
      descend([name], baseAt(name), headAt(name), required.base.has(name))
  }
  let come = -shared
  for (const _ in headProperties) come += 1
  const goneAt = (name: string): SchemaDelta => {
    const facts = propertyFacts(name, required, marksOf(baseAt(name), sources.before), null)
    return new PropertyDelta('removed', name, baseProperties[name], facts)
  }
  if (gone > 0) reportEach(namesOnlyIn(baseProperties, headProperties, gone, goneAt))
  const comeAt = (name: string): SchemaDelta => {
    const facts = propertyFacts(name, required, null, marksOf(headAt(name), sources.after))
    return new PropertyDelta('added', name, headProperties[name], facts)
  }
  if (come > 0) reportEach(namesOnlyIn(headProperties, baseProperties, come, comeAt))
}

/** A property that came or went: of a hostile object there are half a million. */
class PropertyDelta implements SchemaDelta {
  readonly keyword = 'properties'
  readonly action: 'added' | 'removed'
  readonly name: string
  readonly #value: unknown
  readonly property: PropertyFacts

  constructor(action: 'added' | 'removed', name: string, value: unknown, property: PropertyFacts) {
    this.action = action
    this.name = name
    this.#value = value
    this.property = property
  }

  get before(): unknown {
    return this.action === 'removed' ? this.#value : null
  }

  get after(): unknown {
    return this.action === 'added' ? this.#value : null
  }

  get steps(): readonly string[] {
    return [this.keyword, this.name]
  }
}

function namesOnlyIn(
  members: JsonRecord,
  others: JsonRecord,
  count: number,
  make: (name: string) => SchemaDelta,
): DeltaSeries {
  return {
    count,
    *each() {
      for (const name in members) if (!Object.hasOwn(others, name)) yield make(name)
    },
  }
}

function compareRequired({ before, after, base, head, sources, add: say }: Examination): void {
  if (isEqual(base.required, head.required)) return
  const required = requiredOnSides(base, head)
  const baseProperties = membersOf(base, 'properties')
  const headProperties = membersOf(head, 'properties')
  for (const name of new Set([...required.base, ...required.head])) {
    const [baseRequires, headRequires] = [required.base.has(name), required.head.has(name)]
    if (baseRequires === headRequires) continue
    const [wasDefined, isDefined] = [baseProperties, headProperties].map((properties) =>
      Object.hasOwn(properties, name),
    )
    // A required property that comes or goes tells that it is, or was, required.
    if (wasDefined !== isDefined && (wasDefined ? baseRequires : headRequires)) continue
    // An empty name that names no property is a slip of a generator.
    if (name === '' && !wasDefined && !isDefined) continue
    const property = propertyFacts(
      name,
      required,
      wasDefined ? marksOf(locate(before, baseProperties, 'properties', name), sources.before) : null,
      isDefined ? marksOf(locate(after, headProperties, 'properties', name), sources.after) : null,
    )
    const action = headRequires ? 'added' : 'removed'
    say({ keyword: 'required', action, name, before: baseRequires, after: headRequires, steps: ['required'], property })
  }
}

interface RequiredOnSides {
  readonly base: ReadonlySet<string>
  readonly head: ReadonlySet<string>
}

function requiredOnSides(base: JsonRecord, head: JsonRecord): RequiredOnSides {
  return { base: namesRequiredBy(base), head: namesRequiredBy(head) }
}

const NO_NAMES: ReadonlySet<string> = new Set()

function namesRequiredBy({ required }: JsonRecord): ReadonlySet<string> {
  return required === undefined ? NO_NAMES : new Set(textsOf(required))
}

/** The members of the schema of a property, with the marks that its parts state. */
function marksOf(property: Located, source: SchemaSource): JsonRecord {
  const resolved = resolveSchema(property, source)
  return withMarks(resolved.value, resolved, source)
}

/** @param base the schema of the property on that side; null where there is none */
function propertyFacts(
  name: string,
  required: RequiredOnSides,
  base: JsonRecord | null,
  head: JsonRecord | null,
): PropertyFacts {
  return {
    required: required.head.has(name),
    requiredBefore: required.base.has(name),
    hasDefault: head !== null && head.default !== undefined && head.default !== null,
    readOnly: (head ?? base)?.readOnly === true,
    writeOnly: (head ?? base)?.writeOnly === true,
    readOnlyBefore: (base ?? head)?.readOnly === true,
    writeOnlyBefore: (base ?? head)?.writeOnly === true,
  }
}

function comparePropertyNames(examination: Examination): void {
  const { before, after, base, head, add: say, descend } = examination
  const had = base.propertyNames !== undefined
  const has = head.propertyNames !== undefined
  if (had && has) {
    descend(['propertyNames'], locate(before, base, 'propertyNames'), locate(after, head, 'propertyNames'))
  } else if (had !== has) {
    const action = has ? 'added' : 'removed'
    const steps = ['propertyNames']
    say({
      keyword: 'propertyNames',
      action,
      name: null,
      before: base.propertyNames ?? null,
      after: head.propertyNames ?? null,
      steps,
    })
  }
}

type NamedKeyword = 'patternProperties' | 'dependentSchemas'

/** Keywords that hold schemas by name. The keyword decides how added and removed names are reported. */
function compareNamed(
  { before, after, base, head, descend }: Examination,
  keyword: NamedKeyword,
  visit: (name: string, before: unknown, after: unknown) => void,
): void {
  const baseMembers = membersOf(base, keyword)
  const headMembers = membersOf(head, keyword)
  for (const name in baseMembers) {
    if (!Object.hasOwn(headMembers, name)) visit(name, baseMembers[name], null)
    else
      descend(
        [`${keyword}[${name}]`],
        locate(before, baseMembers, keyword, name),
        locate(after, headMembers, keyword, name),
      )
  }
  for (const name in headMembers) if (!Object.hasOwn(baseMembers, name)) visit(name, null, headMembers[name])
}

function compareDependentSchemas(examination: Examination): void {
  const keyword = 'dependentSchemas'
  compareNamed(examination, keyword, (name, before, after) => {
    const action = after === null ? 'removed' : 'added'
    examination.add({ keyword, action, name, before, after, steps: [keyword, name] })
  })
}

/**
 * A pattern is a condition on the names that it matches, and lets them in where names beside the described ones are refused.
 * Where those must be of a schema, a pattern that goes puts them under that schema: what was admitted moves.
 */
function comparePatterns(examination: Examination): void {
  const { base, head, add: say } = examination
  const keyword = 'patternProperties'
  compareNamed(examination, keyword, (name, before, after) => {
    const isGone = after === null
    const others = allowanceOf(othersOf(isGone ? head : base))
    if (others !== 'nothing') {
      say({ keyword, action: isGone ? 'removed' : 'added', name, before, after, steps: [keyword, name] })
    }
    if (others === 'anything') return
    // What refuses the names now is additionalProperties.
    const steps = isGone ? ['additionalProperties'] : [keyword, name]
    say({ keyword, action: isGone ? 'narrowed' : 'widened', name, before, after, steps })
  })
}

/** What is said of names that are neither described nor matched. */
function othersOf(schema: JsonRecord): unknown {
  return schema.additionalProperties ?? unevaluatedOf(schema, 'unevaluatedProperties')
}

function compareDependentRequired({ base, head, add: say }: Examination): void {
  const keyword = 'dependentRequired'
  if (base[keyword] === head[keyword]) return
  const baseMembers = membersOf(base, keyword)
  const headMembers = membersOf(head, keyword)
  for (const name of new Set([...Object.keys(baseMembers), ...Object.keys(headMembers)])) {
    const before = Object.hasOwn(baseMembers, name) ? textsOf(baseMembers[name]) : null
    const after = Object.hasOwn(headMembers, name) ? textsOf(headMembers[name]) : null
    if (before !== null && after !== null && sameTexts(before, after)) continue
    const action = before === null ? 'added' : after === null ? 'removed' : 'changed'
    say({ keyword, action, name, before, after, steps: [keyword, name] })
  }
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  const set = new Set(a)
  return set.size === new Set(b).size && b.every((text) => set.has(text))
}
