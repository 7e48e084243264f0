/** The parts that every schema element has: a description, a life cycle, applied directives. */
import { changedTexts, matchByKey } from '../match.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Deprecable, Element, DirectiveUsage } from '../../contracts/graphql/schema.ts'
import { federationTerm, hasArguments, isFederationDirective } from '../../contracts/graphql/federation.ts'
import type { DeprecableSite } from '../../rules/graphql/lifecycle-rows.ts'
import type { GraphqlRuleId } from '../../rules/graphql/rows.ts'
import { below, type GraphqlWalk, type Site } from './walk.ts'

export function compareDescription(
  rule: GraphqlRuleId,
  before: Element,
  after: Element,
  site: Site,
  walk: GraphqlWalk,
): void {
  if (before.description === after.description) return
  walk.add(site, { rule, side: 'head', mark: after.mark, before: before.description, after: after.description })
}

export function compareLifecycle(
  noun: DeprecableSite,
  base: Deprecable,
  head: Deprecable,
  site: Site,
  walk: GraphqlWalk,
): void {
  const [before, after] = [base.deprecation, head.deprecation]
  if (before === after) return
  const rule =
    before === null
      ? (`graphql-${noun}-deprecated` as const)
      : after === null
        ? (`graphql-${noun}-reactivated` as const)
        : (`graphql-${noun}-deprecation-reason-changed` as const)
  walk.add(site, { rule, side: 'head', mark: head.mark, before, after })
}

/**
 * Compares the directives of an element; `noun` names the element. Repeated directives are matched by their arguments;
 * unmatched ones of one name are reported as changed.
 */
export function compareUsages(before: Element, after: Element, noun: string, site: Site, walk: GraphqlWalk): void {
  if (before.usages.length + after.usages.length === 0) return
  if (!walk.sides.base.hasUsages || !walk.sides.head.hasUsages) return
  const place = { noun: noun === '' ? site.coordinate : `${noun} \`${site.coordinate}\``, site, walk }
  const { added, removed } = matchByKey(before.usages, after.usages, usageText)
  for (const name of [...new Set([...removed, ...added].map((usage) => usage.name))].sort(byCodeUnit)) {
    const gone = ofName(removed, name)
    const come = ofName(added, name)
    const changed = Math.min(gone.length, come.length)
    for (const [index, usage] of gone.entries()) {
      const partner = come[index]
      if (partner === undefined) reportUsage(place, 'removed', usage)
      else reportChanged(place, usage, partner)
    }
    for (const usage of come.slice(changed)) reportUsage(place, 'added', usage)
  }
}

interface UsagePlace {
  readonly noun: string
  readonly site: Site
  readonly walk: GraphqlWalk
}

function ofName(usages: readonly DirectiveUsage[], name: string): readonly DirectiveUsage[] {
  return usages.filter((usage) => usage.name === name).sort((a, b) => byCodeUnit(usageText(a), usageText(b)))
}

/** The directive as SDL, with its arguments in order. */
function usageText({ name, arguments: given }: DirectiveUsage): string {
  if (given.size === 0) return `@${name}`
  return `@${name}(${[...given].map(([argument, value]) => `${argument}: ${value}`).join(', ')})`
}

function usageSite({ site, noun }: UsagePlace, { name }: DirectiveUsage): Site & { readonly noun: string } {
  return { ...below(site, `${site.coordinate}@${name}`, 'directives', name), noun }
}

function reportUsage(place: UsagePlace, action: 'added' | 'removed', usage: DirectiveUsage): void {
  const { name } = usage
  const rule = isFederationDirective(name)
    ? (`graphql-federation-${federationTerm(name)}-${action}` as const)
    : (`graphql-directive-usage-${action}` as const)
  const side = action === 'added' ? 'head' : 'base'
  const text = usageText(usage)
  const change = action === 'added' ? { after: text } : { before: text }
  place.walk.add(usageSite(place, usage), { rule, side, mark: usage.mark, name: place.noun, ...change })
}

function reportChanged(place: UsagePlace, before: DirectiveUsage, after: DirectiveUsage): void {
  const { name } = after
  if (!isFederationDirective(name) || !hasArguments(name)) {
    reportArguments(place, before, after)
    return
  }
  const site = usageSite(place, after)
  const rule = `graphql-federation-${federationTerm(name)}-changed` as const
  const texts = { before: usageText(before), after: usageText(after) }
  place.walk.add(site, { rule, side: 'head', mark: after.mark, name: place.noun, ...texts })
}

function reportArguments(place: UsagePlace, before: DirectiveUsage, after: DirectiveUsage): void {
  const { site: owner, noun, walk } = place
  const { added, removed } = changedTexts([...before.arguments.keys()], [...after.arguments.keys()])
  const add = (rule: GraphqlRuleId, name: string, usage: DirectiveUsage, side: 'base' | 'head'): void => {
    const site = below(
      owner,
      `${owner.coordinate}@${after.name}(${name}:)`,
      'directives',
      after.name,
      'arguments',
      name,
    )
    const texts = { before: argumentText(before, name), after: argumentText(after, name) }
    walk.add(site, { rule, side, mark: usage.mark, name: noun, detail: `@${after.name}`, ...texts })
  }
  for (const name of removed) add('graphql-directive-usage-argument-removed', name, before, 'base')
  for (const name of added) add('graphql-directive-usage-argument-added', name, after, 'head')
  for (const [name, value] of after.arguments) {
    const base = before.arguments.get(name)
    if (base !== undefined && base !== value) add('graphql-directive-usage-argument-changed', name, after, 'head')
  }
}

function argumentText({ arguments: given }: DirectiveUsage, name: string): string | null {
  const value = given.get(name)
  return value === undefined ? null : `${name}: ${value}`
}
