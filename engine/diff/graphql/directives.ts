/** Directive definitions, matched by name: their locations and arguments. */
import type { DirectiveDefinition } from '../../contracts/graphql/schema.ts'
import { compareDescription, compareDeprecation, compareUsages } from './elements.ts'
import { compareInputs } from './inputs.ts'
import { type GraphqlWalk, Site } from './walk.ts'

export function compareDirectives(walk: GraphqlWalk): void {
  const { base, head } = walk.sides
  for (const before of base.directives.values()) {
    const after = head.directives.get(before.name)
    if (after !== undefined) compareDirective(before, after, walk)
    else
      directiveSite(before, walk).add({
        rule: 'graphql-directive-removed',
        side: 'base',
        mark: before.mark,
        before: before.name,
      })
  }
  for (const after of head.directives.values()) {
    if (base.directives.has(after.name)) continue
    directiveSite(after, walk).add({
      rule: 'graphql-directive-added',
      side: 'head',
      mark: after.mark,
      after: after.name,
    })
  }
}

function directiveSite({ name }: DirectiveDefinition, walk: GraphqlWalk): Site {
  return new Site(walk, { coordinate: `@${name}`, path: ['directives', name], type: null })
}

function compareDirective(before: DirectiveDefinition, after: DirectiveDefinition, walk: GraphqlWalk): void {
  const site = directiveSite(after, walk)
  compareLocations(before, after, site)
  if (before.isRepeatable !== after.isRepeatable && walk.areAsked('isRepeatable')) {
    const rule = after.isRepeatable ? 'graphql-directive-repeatable-added' : 'graphql-directive-repeatable-removed'
    site.add({ rule, side: 'head', mark: after.mark, before: before.isRepeatable, after: after.isRepeatable })
  }
  const inputSite = (name: string): Site => site.below(`${site.coordinate}(${name}:)`, 'arguments', name)
  const kind = { id: 'directive-argument', noun: 'directive argument', siteOf: inputSite } as const
  compareInputs(before.arguments, after.arguments, kind)
  compareDescription('graphql-directive-description-changed', before, after, site)
  compareDeprecation('directive', before, after, site)
  compareUsages(before, after, 'the directive', site)
}

function compareLocations(before: DirectiveDefinition, after: DirectiveDefinition, site: Site): void {
  const name = site.coordinate
  for (const { name: location, mark } of before.locations.values()) {
    if (after.locations.has(location)) continue
    const place = site.below(`${name}/${location}`, 'locations', location)
    place.add({ rule: 'graphql-directive-location-removed', side: 'base', mark, before: location, name })
  }
  for (const { name: location, mark } of after.locations.values()) {
    if (before.locations.has(location)) continue
    const place = site.below(`${name}/${location}`, 'locations', location)
    place.add({ rule: 'graphql-directive-location-added', side: 'head', mark, after: location, name })
  }
}
