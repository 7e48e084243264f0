/** Directive definitions, matched by name: their locations and arguments. */
import type { DirectiveDefinition } from '../../contracts/graphql/schema.ts'
import { compareDescription, compareLifecycle, compareUsages } from './elements.ts'
import { compareInputs } from './inputs.ts'
import { below, type GraphqlWalk, type Site } from './walk.ts'

export function compareDirectives(walk: GraphqlWalk): void {
  const { base, head } = walk.sides
  for (const before of base.directives.values()) {
    const after = head.directives.get(before.name)
    if (after !== undefined) compareDirective(before, after, walk)
    else
      walk.add(siteOf(before), {
        rule: 'graphql-directive-removed',
        side: 'base',
        mark: before.mark,
        before: before.name,
      })
  }
  for (const after of head.directives.values()) {
    if (base.directives.has(after.name)) continue
    walk.add(siteOf(after), { rule: 'graphql-directive-added', side: 'head', mark: after.mark, after: after.name })
  }
}

function siteOf({ name }: DirectiveDefinition): Site {
  return { coordinate: `@${name}`, path: ['directives', name], type: null }
}

function compareDirective(before: DirectiveDefinition, after: DirectiveDefinition, walk: GraphqlWalk): void {
  const site = siteOf(after)
  compareLocations(before, after, site, walk)
  if (before.isRepeatable !== after.isRepeatable) {
    const rule = after.isRepeatable ? 'graphql-directive-repeatable-added' : 'graphql-directive-repeatable-removed'
    walk.add(site, { rule, side: 'head', mark: after.mark, before: before.isRepeatable, after: after.isRepeatable })
  }
  const inputSite = (name: string): Site => below(site, `${site.coordinate}(${name}:)`, 'arguments', name)
  const kind = { id: 'directive-argument', noun: 'directive argument', siteOf: inputSite } as const
  compareInputs(before.arguments, after.arguments, kind, walk)
  compareDescription('graphql-directive-description-changed', before, after, site, walk)
  compareLifecycle('directive', before, after, site, walk)
  compareUsages(before, after, 'the directive', site, walk)
}

function compareLocations(
  before: DirectiveDefinition,
  after: DirectiveDefinition,
  site: Site,
  walk: GraphqlWalk,
): void {
  const name = site.coordinate
  for (const { name: location, mark } of before.locations.values()) {
    if (after.locations.has(location)) continue
    const place = below(site, `${name}/${location}`, 'locations', location)
    walk.add(place, { rule: 'graphql-directive-location-removed', side: 'base', mark, before: location, name })
  }
  for (const { name: location, mark } of after.locations.values()) {
    if (before.locations.has(location)) continue
    const place = below(site, `${name}/${location}`, 'locations', location)
    walk.add(place, { rule: 'graphql-directive-location-added', side: 'head', mark, after: location, name })
  }
}
