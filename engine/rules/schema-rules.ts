/** The rules that the families make at a site, each once: the schema rows of the rule table. */
import { lookupTable } from '../common/lookup-table.ts'
import type { Level } from '../model/finding.ts'
import { exceptionOf } from './exceptions.ts'
import { generalSentence } from './general-sentence.ts'
import { FAMILIES, TYPE_FAMILIES, type Family } from './families.ts'
import { PROPERTY_RULES } from './properties.ts'
import { directionOf, levelOf, type Effect, type Rule, type Variance } from './rule.ts'
import type { SchemaSite, SitePair } from '../schema/sites.ts'

/** Ids that existed before the families named them. */
const NAMED: Readonly<Record<string, string>> = lookupTable({
  'response-body-enum-value-removed': 'response-mediatype-enum-value-removed',
})

export function schemaRuleId(site: SchemaSite, family: Family): string {
  const id = `${site.prefix}-${family.stem}`
  if (site.scope === 'request-header' && family.stem === 'became-enum' && site.isProperty)
    return `${site.scope}-property-became-enum`
  return NAMED[id] ?? id
}

/** Every rule about schemas at these sites. */
export function schemaRules(sites: SitePair): readonly Rule[] {
  const rules = [sites.root, sites.property].flatMap((site) =>
    [...FAMILIES, ...typeFamiliesAt(site)]
      .filter((family) => isReportedAt(site, family))
      .map((family) => familyRule(site, family)),
  )
  const { scope, direction, area } = sites.property
  const ofProperties = PROPERTY_RULES.filter((rule) => rule.direction === direction).map((rule) =>
    makeRule({
      ...rule,
      id: rule.id.replace('{scope}', scope),
      variance: direction,
      area,
      description: generalSentence(rule.sentence),
    }),
  )
  return [...rules, ...ofProperties, ...unusedRules(sites.property), ...lifecycleRules(sites.property)]
}

/** Scopes of the contents that may be XML. */
const XML_SCOPES: ReadonlySet<string> = new Set(['request', 'response', 'callback-request', 'callback-response'])

/** A family about all values of a schema is reported only if it breaks the users of that schema. */
export function isReportedAt(
  { direction, scope }: Pick<SchemaSite, 'direction' | 'scope'>,
  { keyword, action }: Family,
): boolean {
  if (keyword === 'xml') return XML_SCOPES.has(scope)
  if (keyword !== 'values' && keyword !== 'values-unproved') return true
  return direction === 'shared' || action === (direction === 'request' ? 'narrowed' : 'widened')
}

/** The possible outcomes of a change of type at a site. */
function typeFamiliesAt({ direction, isProperty, area }: SchemaSite): readonly Family[] {
  const { changed, specialized, generalized, compatible } = TYPE_FAMILIES
  if (direction === 'shared') return [changed, specialized, generalized]
  if (direction === 'response') return [changed, specialized, generalized, compatible]
  if (area === 'parameters')
    return isProperty ? [changed, specialized, generalized] : [changed, generalized, compatible]
  return [changed, generalized, compatible]
}

function familyRule(site: SchemaSite, { stem, effect, kind, action, sentence, ...family }: Family): Rule {
  const id = schemaRuleId(site, { stem, effect, kind, action, sentence, ...family })
  const what = site.noun.replace(' `{path}`', '')
  const description = `${what} ${generalSentence(sentence)}`
  return makeRule({ id, variance: site.direction, area: site.area, kind, action, effect, description })
}

/** The prefix of rules about properties that a side does not send. */
export function unusedPrefix({ direction, scope }: SchemaSite): string {
  return `${scope}-${direction === 'request' ? 'read-only' : 'write-only'}-property`
}

/**
 * Outcomes that the reference implementation names have an id of their own. All other breaking changes of such
 * properties share one.
 */
export function unusedStemOf(direction: SchemaSite['direction'], { effect, kind, stem }: Family): string {
  const isNamed =
    direction === 'request'
      ? effect === 'narrows' && (kind === 'constraints' || stem === 'enum-value-removed')
      : stem === 'enum-value-added'
  return isNamed ? stem : 'changed'
}

/** Rules about properties that a side does not use: always information. */
function unusedRules(site: SchemaSite): readonly Rule[] {
  const { direction, area } = site
  if (direction === 'shared') return []
  const word = direction === 'request' ? 'read-only' : 'write-only'
  const made = (stem: string, kind: string, action: string, sentence: string): Rule => {
    const id = `${unusedPrefix(site)}-${stem}`
    const description = `a ${word} property ${sentence}`
    return makeRule({ id, variance: direction, area, kind, action, effect: 'none', description })
  }
  const named = FAMILIES.filter((family) => unusedStemOf(direction, family) === family.stem)
  return [
    ...named.map(({ stem, kind, action, sentence }) => made(stem, kind, action, generalSentence(sentence))),
    made('changed', 'structure', 'changed', 'changed in a way that would break if it were sent'),
  ]
}

const LIFECYCLE_RULES: readonly (readonly [stem: string, action: string, effect: Effect, description: string])[] = [
  ['deprecated', 'deprecated', 'none', 'a property was deprecated'],
  ['deprecated-with-sunset', 'deprecated', 'none', 'a property was deprecated with a sunset day'],
  [
    'deprecated-sunset-missing',
    'deprecated',
    'moves',
    'a property was deprecated without the sunset day that is promised',
  ],
  ['deprecated-sunset-invalid', 'deprecated', 'moves', 'a property was deprecated with a sunset day that is no date'],
  ['sunset-date-too-small', 'deprecated', 'moves', 'a property was deprecated with a sunset day nearer than promised'],
  ['reactivated', 'reactivated', 'none', 'a property is no longer deprecated'],
  ['stability-decreased', 'decreased', 'moves', 'a property became less stable'],
  ['stability-increased', 'increased', 'none', 'a property became more stable'],
]

function lifecycleRules({ scope, direction, area }: SchemaSite): readonly Rule[] {
  return LIFECYCLE_RULES.map(([stem, action, effect, description]) =>
    makeRule({
      id: `${scope}-property-${stem}`,
      variance: direction,
      area,
      kind: 'lifecycle',
      action,
      effect,
      description,
    }),
  )
}

interface StatedRule extends Pick<Rule, 'id' | 'area' | 'kind' | 'action' | 'description'> {
  readonly variance: Variance
  readonly effect: Effect
}

/** A rule whose level follows from direction and effect, unless an exception states another. */
export function makeRule({ id, variance, area, kind, action, effect, description }: StatedRule): Rule {
  const exception = exceptionOf(id)
  const level: Level = exception?.level ?? levelOf(variance, effect)
  const direction = directionOf(variance)
  return { id, level, direction, area, kind, action, effect, description, because: exception?.because ?? null }
}
