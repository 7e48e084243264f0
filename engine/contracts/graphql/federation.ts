/** The federation directives of a subgraph that have an effect beyond documentation (Apollo Federation 2). */

import { parseConstValue } from 'graphql/language'
import { lookupTable } from '../../common/lookup-table.ts'
import { literalOf } from './literals.ts'
import type { DirectiveUsage } from './schema.ts'

/** Whether the element is not in the schema that clients see. */
export function isInaccessible({ usages }: { readonly usages: readonly DirectiveUsage[] }): boolean {
  return usages.some(({ name }) => name === ('inaccessible' satisfies FederationDirective))
}

/** Directive → whether its arguments have an effect. */
const HAS_ARGUMENTS = {
  key: true,
  inaccessible: false,
  shareable: false,
  external: false,
  requires: true,
  provides: true,
  override: true,
  interfaceObject: false,
  link: true,
  authenticated: false,
  requiresScopes: true,
  policy: true,
} as const

export type FederationDirectives = typeof HAS_ARGUMENTS
export type FederationDirective = keyof FederationDirectives

export function isFederationDirective(name: string): name is FederationDirective {
  return Object.hasOwn(HAS_ARGUMENTS, name)
}

export function hasArguments(directive: FederationDirective): boolean {
  return HAS_ARGUMENTS[directive]
}

/** Directives that a type has for each field of its definition, or of one of its extensions. */
const OF_EACH_FIELD: ReadonlySet<string> = new Set<FederationDirective>(['shareable', 'external'])

export function isOfEachField(directive: string): boolean {
  return OF_EACH_FIELD.has(directive)
}

/** Federation arguments that contain alternatives of rights, each a list of rights that are all needed. */
export const ALTERNATIVES: Readonly<Record<string, string>> = lookupTable({
  requiresScopes: 'scopes',
  policy: 'policies',
})

/**
 * Whether a use admits what it admitted. Every client that had the rights still has them: each alternative contains one of
 * the new ones. A key that was for references only is resolved, too.
 */
export function isLoosened(before: DirectiveUsage, after: DirectiveUsage): boolean {
  if (before.name !== after.name) return false
  if (after.name === 'key') {
    const isResolved = before.arguments.get('resolvable') === 'false' && after.arguments.get('resolvable') !== 'false'
    return isResolved && before.arguments.get('fields') === after.arguments.get('fields')
  }
  const argument = ALTERNATIVES[after.name]
  if (argument === undefined) return false
  const [base, head] = [before, after].map((usage) => rightsOf(usage.arguments.get(argument)))
  return base?.every((rights) => head?.some((fewer) => fewer.every((right) => rights.includes(right)))) ?? false
}

/** Alternatives in their canonical form. */
function rightsOf(literal: string | undefined): readonly (readonly string[])[] | null {
  const value = literal === undefined ? null : parseConstValue(literal, { noLocation: true })
  if (value?.kind !== 'ListValue') return null
  return value.values.map((item) => (item.kind === 'ListValue' ? item.values.map(literalOf) : [literalOf(item)]))
}

/** The name of a directive in the ids of rules: `requires-scopes`. */
export function federationTerm(directive: FederationDirective): string {
  return directive.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
