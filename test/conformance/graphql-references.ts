/**
 * Findings of graphql-js and graphql-inspector → the findings required here. One row for each of their kinds of change,
 * with the place and the rules that report it here. Recorded entries and those of a live run have one form.
 */
import { LEVELS, type FindingGroup, type Level } from '../../engine/model/finding.ts'

/** One change as a reference reports it; inspector’s have a path. */
export interface ReferenceEntry {
  readonly reference: 'graphql-js' | 'inspector'
  readonly kind: string
  readonly level: Level
  readonly path: string | null
  readonly message: string
}

/** What covers an entry: a finding of one of these rules at one of these places. */
interface Demand {
  readonly locations: readonly string[]
  readonly rules: RegExp
}

type Translate = (entry: ReferenceEntry) => Demand

const quoted = (message: string): string => /'([^']+)'/.exec(message)?.[1] ?? ''

/** Schema coordinates in the sentences of graphql-js 16 and 17, most specific first. */
const COORDINATES: readonly (readonly [RegExp, (names: readonly string[]) => string])[] = [
  [/@(\w+)\((\w+):\)/, ([d, a]) => `/directives/${d}/arguments/${a}`],
  [/(\w+)\.(\w+)\((\w+):\)/, ([t, f, a]) => `/types/${t}/fields/${f}/arguments/${a}`],
  [/(\w+)\.(\w+) arg (\w+)/, ([t, f, a]) => `/types/${t}/fields/${f}/arguments/${a}`],
  [/arg (\w+) on (\w+)\.(\w+)/, ([a, t, f]) => `/types/${t}/fields/${f}/arguments/${a}`],
  [/field (\w+) on input type (\w+)/, ([f, t]) => `/types/${t}/fields/${f}`],
  [/Enum value (\w+)\.(\w+) was/, ([t, v]) => `/types/${t}/values/${v}`],
  [/(\w+) was (?:added to|removed from) enum type (\w+)/, ([v, t]) => `/types/${t}/values/${v}`],
  [/(\w+) was (?:added to|removed from) union type (\w+)/, ([m, t]) => `/types/${t}/members/${m}`],
  [/(\w+) added to interfaces implemented by (\w+)/, ([i, t]) => `/types/${t}/interfaces/${i}`],
  [/(\w+) no longer implements interface (\w+)/, ([t, i]) => `/types/${t}/interfaces/${i}`],
  [/([A-Z_]+) was removed from @(\w+)/, ([l, d]) => `/directives/${d}/locations/${l}`],
  [/flag was removed from @(\w+)|Directive @(\w+)/, ([a, b]) => `/directives/${a ?? b}`],
  [/(\w+)\.(\w+)/, ([t, f]) => `/types/${t}/fields/${f}`],
  [/Standard scalar (\w+)/, ([t]) => `/types/${t}`],
  [/^(\w+) (?:was|changed)/, ([t]) => `/types/${t}`],
]

function coordinateIn(message: string): string {
  for (const [pattern, compose] of COORDINATES) {
    const match = pattern.exec(message)
    if (match !== null) return compose(match.slice(1))
  }
  return ''
}

const bySentence =
  (rules: RegExp): Translate =>
  ({ message }) => ({ locations: [coordinateIn(message)], rules })

/** graphql-js, breaking and dangerous. */
const GRAPHQL_JS: Readonly<Record<string, Translate>> = {
  TYPE_REMOVED: bySentence(/^graphql-(?:type-removed|standard-scalar-unused)$/),
  TYPE_CHANGED_KIND: bySentence(/^graphql-type-kind-changed$/),
  TYPE_REMOVED_FROM_UNION: bySentence(/^graphql-union-member-removed$/),
  VALUE_REMOVED_FROM_ENUM: bySentence(/-enum-value-removed$/),
  REQUIRED_INPUT_FIELD_ADDED: bySentence(/^graphql-required-input-field-added$/),
  IMPLEMENTED_INTERFACE_REMOVED: bySentence(/^graphql-interface-implementation-removed$/),
  FIELD_REMOVED: bySentence(
    /^graphql-(?:(?:root-field|field|input-field)-removed|federation-inaccessible-element-removed)$/,
  ),
  FIELD_CHANGED_KIND: bySentence(
    /^graphql-(?:(?:field|input-field)-(?:type-(?:changed|widened|narrowed)|became-(?:nullable|required))|federation-inaccessible-element-changed)$/,
  ),
  REQUIRED_ARG_ADDED: bySentence(/^graphql-required-argument-added$/),
  ARG_REMOVED: bySentence(/^graphql-argument-removed$/),
  ARG_CHANGED_KIND: bySentence(/^graphql-(?:directive-)?argument-(?:type-(?:changed|narrowed)|became-required)$/),
  DIRECTIVE_REMOVED: bySentence(/^graphql-directive-removed$/),
  DIRECTIVE_ARG_REMOVED: bySentence(/^graphql-directive-argument-removed$/),
  REQUIRED_DIRECTIVE_ARG_ADDED: bySentence(/^graphql-required-directive-argument-added$/),
  DIRECTIVE_REPEATABLE_REMOVED: bySentence(/^graphql-directive-repeatable-removed$/),
  DIRECTIVE_LOCATION_REMOVED: bySentence(/^graphql-directive-location-removed$/),
  VALUE_ADDED_TO_ENUM: bySentence(/-enum-value-added$/),
  TYPE_ADDED_TO_UNION: bySentence(/^graphql-union-member-added$/),
  OPTIONAL_INPUT_FIELD_ADDED: bySentence(/^graphql-optional-input-field-added$/),
  OPTIONAL_ARG_ADDED: bySentence(/^graphql-optional-argument-added$/),
  IMPLEMENTED_INTERFACE_ADDED: bySentence(/^graphql-interface-implementation-added$/),
  ARG_DEFAULT_VALUE_CHANGE: bySentence(
    /^graphql-(?:directive-)?argument-(?:required-)?default-value-(?:changed|removed)$/,
  ),
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: bySentence(/^graphql-input-field-(?:required-)?default-value-(?:changed|removed)$/),
}

/** The path of inspector (`Type.field.argument`, `@directive.argument`) as a location. */
function locationOf(path: string, member: 'fields' | 'values' = 'fields'): string {
  const [first = '', second, third] = path.split('.')
  if (first.startsWith('@')) return `/directives/${first.slice(1)}${second === undefined ? '' : `/arguments/${second}`}`
  const owner = second === undefined ? `/types/${first}` : `/types/${first}/${member}/${second}`
  return third === undefined ? owner : `${owner}/arguments/${third}`
}

const byPath =
  (rules: RegExp, member: 'fields' | 'values' = 'fields'): Translate =>
  ({ path }) => ({ locations: [locationOf(path ?? '', member)], rules })

/** Paths that end above what changed: the sentence names it. */
const byPathAnd =
  (member: string, rules: RegExp, name: (message: string) => string = quoted): Translate =>
  ({ path, message }) => ({
    locations: [`${locationOf((path ?? '').split('.')[0] ?? '')}/${member}/${name(message)}`],
    rules,
  })

const root =
  (kind: string): Translate =>
  () => ({ locations: [`/schema/${kind}`], rules: /^graphql-root-operation-(?:added|changed|removed)$/ })

const interfaceName = (message: string): string => /(?:implements|implement) '([^']+)'/.exec(message)?.[1] ?? ''

const DEPRECATION = /-(?:deprecated|reactivated|deprecation-reason-changed)$/

/** Directives of the language are members of what they stand on. */
const LANGUAGE_DIRECTIVES: Readonly<Record<string, RegExp>> = {
  deprecated: DEPRECATION,
  oneOf: /^graphql-input-one-of-(?:added|removed)$/,
  specifiedBy: /^graphql-scalar-specification-/,
}

/** `Type.field.@directive.argument`: the place is that of the directive, or of its owner. */
function usage({ path }: ReferenceEntry): Demand {
  const [, owner = '', directive = ''] = /^(.*?)\.?@(\w+)(?:\.\w+)*$/.exec(path ?? '') ?? []
  const owners = owner === '' ? ['/schema'] : [locationOf(owner), locationOf(owner, 'values')]
  const rules = Object.hasOwn(LANGUAGE_DIRECTIVES, directive) ? LANGUAGE_DIRECTIVES[directive] : undefined
  if (rules !== undefined) return { locations: owners, rules }
  const argument = /@\w+\.(\w+)$/.exec(path ?? '')?.[1]
  const places = owners.map((place) => `${place}/directives/${directive}`)
  return {
    locations:
      argument === undefined ? places : [...places, ...places.map((place) => `${place}/arguments/${argument}`)],
    rules: /^graphql-(?:directive-usage|federation)-/,
  }
}

/** `Type.field`, with or without `.@deprecated` behind it. */
function lifecycle({ path }: ReferenceEntry): Demand {
  const owner = (path ?? '').replace(/\.@deprecated$/, '')
  return { locations: [locationOf(owner), locationOf(owner, 'values')], rules: DEPRECATION }
}

const INPUT_TYPE = '(?:type-(?:changed|narrowed|widened)|became-(?:required|optional))'

/** graphql-inspector, all levels. What begins with DIRECTIVE_USAGE_ has one row. */
const INSPECTOR: Readonly<Record<string, Translate>> = {
  TYPE_ADDED: byPath(/^graphql-type-added$/),
  TYPE_REMOVED: byPath(/^graphql-type-removed$/),
  TYPE_KIND_CHANGED: byPath(/^graphql-type-kind-changed$/),
  TYPE_DESCRIPTION_ADDED: byPath(/^graphql-type-description-changed$/),
  TYPE_DESCRIPTION_REMOVED: byPath(/^graphql-type-description-changed$/),
  TYPE_DESCRIPTION_CHANGED: byPath(/^graphql-type-description-changed$/),
  FIELD_ADDED: byPath(/^graphql-(?:root-)?field-added$/),
  FIELD_REMOVED: byPath(/^graphql-(?:(?:root-)?field-removed|federation-inaccessible-element-removed)$/),
  FIELD_TYPE_CHANGED: byPath(/^graphql-(?:field-(?:type-|became-|null-)|federation-inaccessible-element-changed$)/),
  FIELD_DESCRIPTION_ADDED: byPath(/^graphql-field-description-changed$/),
  FIELD_DESCRIPTION_REMOVED: byPath(/^graphql-field-description-changed$/),
  FIELD_DESCRIPTION_CHANGED: byPath(/^graphql-field-description-changed$/),
  FIELD_DEPRECATION_ADDED: lifecycle,
  FIELD_DEPRECATION_REMOVED: lifecycle,
  FIELD_DEPRECATION_REASON_ADDED: lifecycle,
  FIELD_DEPRECATION_REASON_REMOVED: lifecycle,
  FIELD_DEPRECATION_REASON_CHANGED: lifecycle,
  FIELD_ARGUMENT_ADDED: byPath(/^graphql-(?:required|optional)-argument-added$/),
  FIELD_ARGUMENT_REMOVED: byPath(/^graphql-argument-removed$/),
  FIELD_ARGUMENT_TYPE_CHANGED: byPath(new RegExp(`^graphql-argument-${INPUT_TYPE}$`)),
  FIELD_ARGUMENT_DEFAULT_CHANGED: byPath(/^graphql-argument-(?:required-)?default-value-/),
  FIELD_ARGUMENT_DESCRIPTION_CHANGED: byPath(/^graphql-argument-description-changed$/),
  INPUT_FIELD_ADDED: byPath(/^graphql-(?:required|optional)-input-field-added$/),
  INPUT_FIELD_REMOVED: byPath(/^graphql-input-field-removed$/),
  INPUT_FIELD_TYPE_CHANGED: byPath(new RegExp(`^graphql-input-field-${INPUT_TYPE}$`)),
  INPUT_FIELD_DEFAULT_VALUE_CHANGED: byPath(/^graphql-input-field-(?:required-)?default-value-/),
  INPUT_FIELD_DESCRIPTION_ADDED: byPath(/^graphql-input-field-description-changed$/),
  INPUT_FIELD_DESCRIPTION_REMOVED: byPath(/^graphql-input-field-description-changed$/),
  INPUT_FIELD_DESCRIPTION_CHANGED: byPath(/^graphql-input-field-description-changed$/),
  ENUM_VALUE_ADDED: byPath(/-enum-value-added$/, 'values'),
  ENUM_VALUE_REMOVED: byPath(/-enum-value-removed$/, 'values'),
  ENUM_VALUE_DESCRIPTION_CHANGED: byPath(/^graphql-enum-value-description-changed$/, 'values'),
  ENUM_VALUE_DEPRECATION_REASON_ADDED: lifecycle,
  ENUM_VALUE_DEPRECATION_REASON_REMOVED: lifecycle,
  ENUM_VALUE_DEPRECATION_REASON_CHANGED: lifecycle,
  UNION_MEMBER_ADDED: byPathAnd('members', /^graphql-union-member-added$/),
  UNION_MEMBER_REMOVED: byPathAnd('members', /^graphql-union-member-removed$/),
  OBJECT_TYPE_INTERFACE_ADDED: byPathAnd('interfaces', /^graphql-interface-implementation-added$/, interfaceName),
  OBJECT_TYPE_INTERFACE_REMOVED: byPathAnd('interfaces', /^graphql-interface-implementation-removed$/, interfaceName),
  SCHEMA_QUERY_TYPE_CHANGED: root('query'),
  SCHEMA_MUTATION_TYPE_CHANGED: root('mutation'),
  SCHEMA_SUBSCRIPTION_TYPE_CHANGED: root('subscription'),
  DIRECTIVE_ADDED: byPath(/^graphql-directive-added$/),
  DIRECTIVE_REMOVED: byPath(/^graphql-directive-removed$/),
  DIRECTIVE_DESCRIPTION_CHANGED: byPath(/^graphql-directive-description-changed$/),
  DIRECTIVE_REPEATABLE_ADDED: byPath(/^graphql-directive-repeatable-added$/),
  DIRECTIVE_REPEATABLE_REMOVED: byPath(/^graphql-directive-repeatable-removed$/),
  DIRECTIVE_LOCATION_ADDED: byPathAnd('locations', /^graphql-directive-location-added$/),
  DIRECTIVE_LOCATION_REMOVED: byPathAnd('locations', /^graphql-directive-location-removed$/),
  DIRECTIVE_ARGUMENT_ADDED: byPathAnd('arguments', /^graphql-(?:required|optional)-directive-argument-added$/),
  DIRECTIVE_ARGUMENT_REMOVED: byPathAnd('arguments', /^graphql-directive-argument-removed$/),
  DIRECTIVE_ARGUMENT_TYPE_CHANGED: byPath(new RegExp(`^graphql-directive-argument-${INPUT_TYPE}$`)),
  DIRECTIVE_ARGUMENT_DEFAULT_VALUE_CHANGED: byPath(/^graphql-directive-argument-(?:required-)?default-value-/),
  DIRECTIVE_ARGUMENT_DESCRIPTION_CHANGED: byPath(/^graphql-directive-argument-description-changed$/),
}

function demandOf(entry: ReferenceEntry): Demand | null {
  if (entry.kind.startsWith('DIRECTIVE_USAGE_')) return usage(entry)
  const table = entry.reference === 'inspector' ? INSPECTOR : GRAPHQL_JS
  return Object.hasOwn(table, entry.kind) ? (table[entry.kind]?.(entry) ?? null) : null
}

export type Coverage =
  /** Told here at the same level, or a stricter one. */
  | { readonly kind: 'told'; readonly groups: readonly FindingGroup[]; readonly isSameLevel: boolean }
  /** A part of something that is new as a whole, which is reported once. */
  | { readonly kind: 'part-of-new' }
  | { readonly kind: 'weaker'; readonly groups: readonly FindingGroup[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown' }

const NEW =
  /^graphql-(?:type|root-field|field|directive|(?:required|optional)-(?:argument|input-field|directive-argument)|(?:request|response)-enum-value)-added$/

/** Our findings by place, so that thousands of entries are looked up quickly. */
export class Findings {
  readonly #byLocation = new Map<string, FindingGroup[]>()

  constructor(groups: readonly FindingGroup[]) {
    for (const group of groups) {
      const known = this.#byLocation.get(group.location)
      if (known === undefined) this.#byLocation.set(group.location, [group])
      else known.push(group)
    }
  }

  cover(entry: ReferenceEntry): Coverage {
    const demand = demandOf(entry)
    if (demand === null) return { kind: 'unknown' }
    const groups = demand.locations
      .flatMap((location) => this.#byLocation.get(location) ?? [])
      .filter(({ rule }) => demand.rules.test(rule))
    const strict = groups.filter(({ level }) => LEVELS.indexOf(level) <= LEVELS.indexOf(entry.level))
    if (strict.length > 0) {
      return { kind: 'told', groups: strict, isSameLevel: strict.some(({ level }) => level === entry.level) }
    }
    if (groups.length > 0) return { kind: 'weaker', groups }
    return entry.level === 'info' && demand.locations.some((location) => this.#isInNew(location))
      ? { kind: 'part-of-new' }
      : { kind: 'missing' }
  }

  #isInNew(location: string): boolean {
    for (let place = location; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      if (this.#byLocation.get(place)?.some(({ rule }) => NEW.test(rule))) return true
    }
    return false
  }
}
