/**
 * Security requirements as a set of alternatives, and whether one set admits what another one admits. All formats with
 * security schemes use it. A caller that holds what one alternative requires is admitted.
 */
import { isEqual } from '../schema/equality.ts'

/** The requirement of one scheme of an alternative, and where callers obtain the credential. */
export interface Credential {
  /** The name of its scheme. A renamed scheme has one name on both sides. */
  readonly scheme: string
  /** The form of the credential: `http bearer`, `apiKey header x-key`. Different kinds are never interchangeable. */
  readonly kind: string
  /** Token addresses by flow and member. A flow is present even without an address. */
  readonly flows: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly scopes: readonly string[]
  /** Scopes that the scheme defines, or null if it lists none. */
  readonly defined: DefinedScopes | null
}

/** The scopes that each flow of a scheme lists. Every flow is present. */
export type DefinedScopes = ReadonlyMap<string, ReadonlySet<string>>

/** Null if no flow lists a scope: the scopes are then unknown. */
export function definedScopes(flows: DefinedScopes): DefinedScopes | null {
  return [...flows.values()].some((scopes) => scopes.size > 0) ? flows : null
}

function definesScope(defined: DefinedScopes, scope: string): boolean {
  return [...defined.values()].some((scopes) => scopes.has(scope))
}

/** Scopes that clients of some flow can no longer request. A flow that is gone is a change of its own. */
export function withdrawnScopes(before: DefinedScopes, after: DefinedScopes): readonly string[] {
  return [...scopesOf(before)].filter((scope) => !isOffered(scope, before, after))
}

export function scopesOf(defined: DefinedScopes): ReadonlySet<string> {
  return new Set([...defined.values()].flatMap((scopes) => [...scopes]))
}

/** Whether clients of every flow that offered a scope can still request it. */
export function isOffered(scope: string, before: DefinedScopes, after: DefinedScopes): boolean {
  if (!definesScope(after, scope)) return false
  return [...before].every(([flow, scopes]) => !scopes.has(scope) || after.get(flow)?.has(scope) !== false)
}

export interface Alternative {
  readonly label: string
  readonly credentials: readonly Credential[]
}

interface UnofferedScope {
  readonly scheme: string
  readonly scope: string
}

export interface SecurityChange {
  /** Alternatives of the base that are no longer admitted. */
  readonly refused: readonly Alternative[]
  /** True if all of `refused` would be admitted with more scopes. */
  readonly isByScopes: boolean
  /** Scopes that are required as before, and that the schemes no longer offer. Their alternatives are not in `refused`. */
  readonly unoffered: readonly UnofferedScope[]
  /** Alternatives of the head that were not admitted before. */
  readonly admitted: readonly Alternative[]
}

/** No list of alternatives and an empty list both require nothing. */
const NOTHING: readonly Alternative[] = [{ label: 'none', credentials: [] }]

export function compareAlternatives(base: readonly Alternative[], head: readonly Alternative[]): SecurityChange {
  const [before, after] = [base.length === 0 ? NOTHING : base, head.length === 0 ? NOTHING : head]
  const [admitting, admits] = [new AdmittingAlternatives(before), new AdmittingAlternatives(after)]
  const lost = before
    .filter((offered) => admits.first(offered, isObtainable) === null)
    .map((offered) => ({ offered, unoffered: unofferedScopes(admits.first(offered, isRequiredAsBefore)) }))
  const refused = lost.flatMap(({ offered, unoffered }) => (unoffered.length === 0 ? [offered] : []))
  return {
    refused,
    isByScopes: refused.every((offered) => admits.firstOfAnyScopes(offered) !== null),
    unoffered: lost.flatMap(({ unoffered }) => unoffered),
    admitted: after.filter((offered) => admitting.first(offered, isAlreadyRequired) === null),
  }
}

/** The scopes that are required as before, and that their schemes do not list. */
function unofferedScopes(needed: Alternative | null): readonly UnofferedScope[] {
  return (needed?.credentials ?? []).flatMap(({ scheme, scopes, defined }) =>
    scopes.flatMap((scope) => (defined !== null && definesScope(defined, scope) ? [] : [{ scheme, scope }])),
  )
}

type CredentialCheck = (offered: Credential, needed: Credential) => boolean

interface RankedAlternative {
  readonly needed: Alternative
  readonly rank: number
}

/** Finds the alternative that admits a caller, among those only that need what the caller holds. */
class AdmittingAlternatives {
  readonly #alternatives: readonly Alternative[]
  readonly #byScope: ReadonlyMap<string, readonly RankedAlternative[]>
  #byScheme: ReadonlyMap<string, readonly RankedAlternative[]> | undefined

  constructor(alternatives: readonly Alternative[]) {
    this.#alternatives = alternatives
    this.#byScope = byRarestKey(alternatives, scopeKey)
  }

  /** The first one by order, or null. */
  first(offered: Alternative, check: CredentialCheck): Alternative | null {
    const keys = offered.credentials.flatMap((one) => [schemeKey(one), ...one.scopes.map((scope) => keyOf(one, scope))])
    return firstAdmitting(this.#byScope, keys, offered, check)
  }

  firstOfAnyScopes(offered: Alternative): Alternative | null {
    this.#byScheme ??= byRarestKey(this.#alternatives, schemeKey)
    return firstAdmitting(this.#byScheme, offered.credentials.map(schemeKey), offered, isSameCredential)
  }
}

const NO_CREDENTIAL = ''

/** Each alternative under that of its credentials which the fewest of them need. */
function byRarestKey(
  alternatives: readonly Alternative[],
  keyOfCredential: (credential: Credential) => string,
): ReadonlyMap<string, readonly RankedAlternative[]> {
  const counts = new Map<string, number>()
  const keysOf = alternatives.map(({ credentials }) => [...new Set(credentials.map(keyOfCredential))])
  for (const key of keysOf.flat()) counts.set(key, (counts.get(key) ?? 0) + 1)
  const rarest = (keys: readonly string[]): string =>
    keys.reduce(
      (best, key) => ((counts.get(key) ?? 0) < (counts.get(best) ?? 0) ? key : best),
      keys[0] ?? NO_CREDENTIAL,
    )
  const ranked = alternatives.map((needed, rank) => ({ needed, rank }))
  return Map.groupBy(ranked, ({ rank }) => rarest(keysOf[rank] ?? []))
}

function firstAdmitting(
  index: ReadonlyMap<string, readonly RankedAlternative[]>,
  keys: readonly string[],
  offered: Alternative,
  check: CredentialCheck,
): Alternative | null {
  const found = [...new Set([NO_CREDENTIAL, ...keys])].flatMap(
    (key) => index.get(key)?.find(({ needed }) => admits(needed, offered, check)) ?? [],
  )
  return found.sort((one, other) => one.rank - other.rank)[0]?.needed ?? null
}

function scopeKey(credential: Credential): string {
  return keyOf(credential, credential.scopes[0] ?? null)
}

function schemeKey(credential: Credential): string {
  return keyOf(credential, null)
}

/** Schemes without a name are matched by their kind. */
function keyOf({ scheme, kind }: Credential, scope: string | null): string {
  return JSON.stringify([scheme, scheme === '' ? kind : null, scope])
}

/** Each required credential is among the held ones. */
function admits(needed: Alternative, offered: Alternative, check: CredentialCheck): boolean {
  return needed.credentials.every((one) => offered.credentials.some((other) => check(other, one)))
}

/** The kind of a required scheme that is not defined. */
export const UNDEFINED_KIND = 'not defined'

function isSameCredential(offered: Credential, needed: Credential): boolean {
  // An undefined scheme cannot be distinguished from its first definition.
  const isKind = offered.kind === needed.kind || offered.kind === UNDEFINED_KIND
  return offered.scheme === needed.scheme && isKind && hasFlowsOf(offered, needed, isAddressKept)
}

function isRequiredAsBefore(offered: Credential, needed: Credential): boolean {
  return isSameCredential(offered, needed) && hasScopes(offered, needed)
}

/** Whether callers that held the credential can still obtain it, with everything that is required of it. */
function isObtainable(offered: Credential, needed: Credential): boolean {
  if (!isRequiredAsBefore(offered, needed)) return false
  // A scheme that no longer lists scopes offers none.
  const isWantedDefined = needed.scopes.every((scope) =>
    needed.defined === null ? offered.defined === null : definesScope(needed.defined, scope),
  )
  const { defined } = offered
  return isWantedDefined || !offered.scopes.every((scope) => defined === null || definesScope(defined, scope))
}

/** Whether the credential was already valid. An address decides where it is obtained, not what it admits to. */
function isAlreadyRequired(offered: Credential, needed: Credential): boolean {
  if (offered.scheme !== needed.scheme || !hasScopes(offered, needed)) return false
  return needed.kind === UNDEFINED_KIND || (offered.kind === needed.kind && hasFlowsOf(offered, needed, () => true))
}

function hasScopes(offered: Credential, needed: Credential): boolean {
  return needed.scopes.every((scope) => offered.scopes.includes(scope))
}

type AddressByUse = ReadonlyMap<string, string>

/** The flow of a caller is unknown, so every flow must remain. */
function hasFlowsOf(
  offered: Credential,
  needed: Credential,
  isKept: (base: AddressByUse, head: AddressByUse) => boolean,
): boolean {
  return [...offered.flows].every(([flow, base]) => {
    const head = needed.flows.get(flow)
    return head !== undefined && isKept(base, head)
  })
}

function isAddressKept(base: AddressByUse, head: AddressByUse): boolean {
  return [...base].every(([member, address]) => head.get(member) === address)
}

/** The base name of each scheme that the head only renamed: equal definition, and neither name is on both sides. */
export function renamedSchemes(
  base: ReadonlyMap<string, unknown>,
  head: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
  const removedSchemes = [...base].filter(([name]) => !head.has(name))
  const renamed = new Map<string, string>()
  for (const [name, definition] of head) {
    if (base.has(name)) continue
    const index = removedSchemes.findIndex(([, other]) => isEqual(other, definition))
    const [match] = index === -1 ? [] : removedSchemes.splice(index, 1)
    if (match !== undefined) renamed.set(name, match[0])
  }
  return renamed
}

/** An address that clients configure. Letter case of scheme and host has no meaning (RFC 3986 §6.2.2.1). */
export function addressText(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, (origin) => origin.toLowerCase())
}

export function alternativesLabel(alternatives: readonly Alternative[]): string {
  return alternatives.length === 0 ? 'none' : alternatives.map(({ label }) => label).join(' or ')
}
