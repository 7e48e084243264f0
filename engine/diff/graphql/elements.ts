/** The parts that every schema element has: a description, a life cycle, applied directives. */
import { matchByKey, matchRest } from '../match.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Deprecable, Element, DirectiveUsage } from '../../contracts/graphql/schema.ts'
import { coercedArguments } from '../../contracts/graphql/coercion.ts'
import { federationTerm, hasArguments, isFederationDirective, isLoosened } from '../../contracts/graphql/federation.ts'
import type { DeprecableSite } from '../../rules/graphql/lifecycle-rows.ts'
import type { GraphqlRuleId } from '../../rules/graphql/rows.ts'
import type { Site } from './walk.ts'

export function compareDescription(rule: GraphqlRuleId, before: Element, after: Element, site: Site): void {
  if (before.description === after.description) return
  site.add({ rule, side: 'head', mark: after.mark, before: before.description, after: after.description })
}

export function compareDeprecation(noun: DeprecableSite, base: Deprecable, head: Deprecable, site: Site): void {
  const [before, after] = [base.deprecation, head.deprecation]
  if (before === after) return
  const rule =
    before === null
      ? (`graphql-${noun}-deprecated` as const)
      : after === null
        ? (`graphql-${noun}-reactivated` as const)
        : (`graphql-${noun}-deprecation-reason-changed` as const)
  site.add({ rule, side: 'head', mark: head.mark, before, after })
}

/**
 * Compares the directives of an element; `noun` names the element. Repeated directives are matched by their arguments;
 * unmatched ones of one name are reported as changed.
 */
export function compareUsages(before: Element, after: Element, noun: string, site: Site): void {
  if (before.usages.length + after.usages.length === 0) return
  const { sides } = site.walk
  if (!sides.base.hasUsages || !sides.head.hasUsages) return
  const coerced = new Map<DirectiveUsage, ReadonlyMap<string, string>>()
  for (const side of ['base', 'head'] as const) {
    const { usages } = side === 'base' ? before : after
    for (const usage of usages) coerced.set(usage, coercedArguments(usage, sides[side]))
  }
  // A changed default is reported once, at the definition: uses that are written alike are equal.
  const written = matchByKey(before.usages, after.usages, (usage) => usageText(usage))
  const place = { coerced, noun: noun === '' ? site.coordinate : `${noun} \`${site.coordinate}\``, site }
  const { added, removed } = matchRest(written, (usage) => usageText(usage, coerced.get(usage)))
  const removedByName = Map.groupBy(removed, (usage) => usage.name)
  const addedByName = Map.groupBy(added, (usage) => usage.name)
  for (const name of [...new Set([...removed, ...added].map((usage) => usage.name))].sort(byCodeUnit)) {
    const removedOfName = inTextOrder(removedByName.get(name))
    const addedOfName = new Set(inTextOrder(addedByName.get(name)))
    for (const [usage, partner] of pairsOf(removedOfName, addedOfName)) {
      if (partner === undefined) reportUsage(place, 'removed', usage)
      else reportChangedUsage(place, usage, partner)
    }
    for (const usage of addedOfName) reportUsage(place, 'added', usage)
  }
}

/** Each removed use with the added one that takes its place: one that only loosens it, or the next. Takes them from `added`. */
function pairsOf(
  removed: readonly DirectiveUsage[],
  added: Set<DirectiveUsage>,
): readonly (readonly [DirectiveUsage, DirectiveUsage | undefined])[] {
  const partners = new Map<DirectiveUsage, DirectiveUsage>()
  const take = (usage: DirectiveUsage, partner: DirectiveUsage | undefined): void => {
    if (partner === undefined || !added.delete(partner)) return
    partners.set(usage, partner)
  }
  for (const usage of removed)
    take(
      usage,
      [...added].find((other) => isLoosened(usage, other)),
    )
  for (const usage of removed) if (!partners.has(usage)) take(usage, added.values().next().value)
  return removed.map((usage) => [usage, partners.get(usage)])
}

interface UsagePlace {
  /** The arguments that each directive gets, with defaults. */
  readonly coerced: ReadonlyMap<DirectiveUsage, ReadonlyMap<string, string>>
  readonly noun: string
  readonly site: Site
}

function inTextOrder(usages: readonly DirectiveUsage[] = []): readonly DirectiveUsage[] {
  return [...usages].sort((a, b) => byCodeUnit(usageText(a), usageText(b)))
}

/** The directive as SDL, with its arguments in order. */
function usageText({ name, arguments: written }: DirectiveUsage, given = written): string {
  if (given.size === 0) return `@${name}`
  const texts = [...given].map(([argument, value]) => `${argument}: ${value}`)
  return `@${name}(${texts.sort(byCodeUnit).join(', ')})`
}

function usageSite({ site }: UsagePlace, { name }: DirectiveUsage): Site {
  return site.below(`${site.coordinate}@${name}`, 'directives', name)
}

function reportUsage(place: UsagePlace, action: 'added' | 'removed', usage: DirectiveUsage): void {
  const { name } = usage
  const rule = isFederationDirective(name)
    ? (`graphql-federation-${federationTerm(name)}-${action}` as const)
    : (`graphql-directive-usage-${action}` as const)
  const side = action === 'added' ? 'head' : 'base'
  const text = usageText(usage)
  const change = action === 'added' ? { after: text } : { before: text }
  usageSite(place, usage).add({ rule, side, mark: usage.mark, name: place.noun, ...change })
}

function reportChangedUsage(place: UsagePlace, before: DirectiveUsage, after: DirectiveUsage): void {
  const { name } = after
  if (!isFederationDirective(name) || !hasArguments(name)) {
    reportArguments(place, before, after)
    return
  }
  const site = usageSite(place, after)
  const action = isLoosened(before, after) ? 'loosened' : 'changed'
  const rule = `graphql-federation-${federationTerm(name)}-${action}` as const
  const texts = { before: usageText(before), after: usageText(after) }
  site.add({ rule, side: 'head', mark: after.mark, name: place.noun, ...texts })
}

function reportArguments(place: UsagePlace, before: DirectiveUsage, after: DirectiveUsage): void {
  const { site: owner, noun, coerced } = place
  const [base, head] = [coerced.get(before), coerced.get(after)]
  for (const name of new Set([...before.arguments.keys(), ...after.arguments.keys()])) {
    if (base?.get(name) === head?.get(name)) continue
    const isAdded = !before.arguments.has(name)
    const isRemoved = !after.arguments.has(name)
    const rule = `graphql-directive-usage-argument-${isAdded ? 'added' : isRemoved ? 'removed' : 'changed'}` as const
    const path = ['directives', after.name, 'arguments', name]
    const site = owner.below(`${owner.coordinate}@${after.name}(${name}:)`, ...path)
    const texts = { before: usageArgument(before, name), after: usageArgument(after, name) }
    const source = isRemoved
      ? ({ side: 'base', mark: before.mark } as const)
      : ({ side: 'head', mark: after.mark } as const)
    site.add({ rule, ...source, name: noun, detail: `@${after.name}`, ...texts })
  }
}

function usageArgument({ arguments: given }: DirectiveUsage, name: string): string | null {
  const value = given.get(name)
  return value === undefined ? null : `${name}: ${value}`
}
