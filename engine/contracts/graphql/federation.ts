/** The federation directives of a subgraph that have an effect beyond documentation (Apollo Federation 2). */

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

/** The name of a directive in the ids of rules: `requires-scopes`. */
export function federationTerm(directive: FederationDirective): string {
  return directive.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
