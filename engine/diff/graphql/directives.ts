/** Definitions of directives, matched by name: what operations and schemas may apply, where, and with which arguments. */
import type { DirectiveDefinition } from '../../contracts/graphql/schema.ts'
import { compareDescription, compareLifecycle, compareUsages } from './elements.ts'
import { compareInputs } from './inputs.ts'
import { below, type GraphqlReport, type Site } from './report.ts'

export function compareDirectives(report: GraphqlReport): void {
  const { base, head } = report.sides
  for (const was of base.directives.values()) {
    const is = head.directives.get(was.name)
    if (is !== undefined) compareDirective(was, is, report)
    else report.say(siteOf(was), { rule: 'graphql-directive-removed', side: 'base', mark: was.mark, before: was.name })
  }
  for (const is of head.directives.values()) {
    if (base.directives.has(is.name)) continue
    report.say(siteOf(is), { rule: 'graphql-directive-added', side: 'head', mark: is.mark, after: is.name })
  }
}

function siteOf({ name }: DirectiveDefinition): Site {
  return { coordinate: `@${name}`, path: ['directives', name], type: null }
}

function compareDirective(was: DirectiveDefinition, is: DirectiveDefinition, report: GraphqlReport): void {
  const site = siteOf(is)
  compareLocations(was, is, site, report)
  if (was.isRepeatable !== is.isRepeatable) {
    const rule = is.isRepeatable ? 'graphql-directive-repeatable-added' : 'graphql-directive-repeatable-removed'
    report.say(site, { rule, side: 'head', mark: is.mark, before: was.isRepeatable, after: is.isRepeatable })
  }
  const inputSite = (name: string): Site => below(site, `${site.coordinate}(${name}:)`, 'arguments', name)
  const kind = { id: 'directive-argument', noun: 'directive argument', siteOf: inputSite } as const
  compareInputs(was.arguments, is.arguments, kind, report)
  compareDescription('graphql-directive-description-changed', was, is, site, report)
  compareLifecycle('directive', was, is, site, report)
  compareUsages(was, is, 'the directive', site, report)
}

function compareLocations(was: DirectiveDefinition, is: DirectiveDefinition, site: Site, report: GraphqlReport): void {
  const name = site.coordinate
  for (const { name: location, mark } of was.locations.values()) {
    if (is.locations.has(location)) continue
    const place = below(site, `${name}/${location}`, 'locations', location)
    report.say(place, { rule: 'graphql-directive-location-removed', side: 'base', mark, before: location, name })
  }
  for (const { name: location, mark } of is.locations.values()) {
    if (was.locations.has(location)) continue
    const place = below(site, `${name}/${location}`, 'locations', location)
    report.say(place, { rule: 'graphql-directive-location-added', side: 'head', mark, after: location, name })
  }
}
