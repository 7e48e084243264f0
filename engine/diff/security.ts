/**
 * Security requirements as a set of alternatives, and whether one set admits what another one admits. Shared by the formats
 * that have security schemes. A caller that holds what one alternative wants is admitted.
 */
import { isEqual } from '../schema/equality.ts'

/** What one scheme of an alternative wants, and where callers obtain it. */
export interface Credential {
  /** The name of its scheme; a renamed scheme has one name on both sides. */
  readonly scheme: string
  /** What callers show: `http bearer`, `apiKey header x-key`. Two kinds are never exchangeable. */
  readonly kind: string
  /** Addresses at which callers obtain tokens, by flow and member; a flow is there even without an address. */
  readonly flows: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly scopes: readonly string[]
  /** Scopes that can be asked for; null when the scheme lists none. */
  readonly defined: ReadonlySet<string> | null
}

export interface Alternative {
  readonly label: string
  readonly credentials: readonly Credential[]
}

interface SecurityChange {
  /** Alternatives of the base that are no longer admitted. */
  readonly refused: readonly Alternative[]
  /** True when all of `refused` would be admitted with more scopes. */
  readonly isByScopes: boolean
  /** Alternatives of the head that were not admitted before. */
  readonly admitted: readonly Alternative[]
}

/** No list of alternatives and an empty list both want nothing. */
const NOTHING: readonly Alternative[] = [{ label: 'none', credentials: [] }]

export function compareAlternatives(base: readonly Alternative[], head: readonly Alternative[]): SecurityChange {
  const [before, after] = [base.length === 0 ? NOTHING : base, head.length === 0 ? NOTHING : head]
  const refused = before.filter((held) => !after.some((wanted) => admits(wanted, held, isObtained)))
  return {
    refused,
    isByScopes: refused.every((held) => after.some((wanted) => admits(wanted, held, isSameCredential))),
    admitted: after.filter((held) => !before.some((wanted) => admits(wanted, held, isHeld))),
  }
}

type CredentialCheck = (held: Credential, wanted: Credential) => boolean

/** Each credential that is wanted is among those that are held. */
function admits(wanted: Alternative, held: Alternative, check: CredentialCheck): boolean {
  return wanted.credentials.every((one) => held.credentials.some((other) => check(other, one)))
}

/** The kind of a scheme that is wanted by a name that nothing defines. */
export const UNDEFINED_KIND = 'not defined'

function isSameCredential(held: Credential, wanted: Credential): boolean {
  // What was never defined cannot be told from its first definition.
  const isKind = held.kind === wanted.kind || held.kind === UNDEFINED_KIND
  return held.scheme === wanted.scheme && isKind && hasFlowsOf(held, wanted, isAddressKept)
}

/** Whether callers that held the credential still obtain it, with all that is wanted of it. */
function isObtained(held: Credential, wanted: Credential): boolean {
  const isDefined = wanted.scopes.every((scope) => wanted.defined?.has(scope) ?? true)
  const wasDefined = held.scopes.every((scope) => held.defined?.has(scope) ?? true)
  return isSameCredential(held, wanted) && hasScopes(held, wanted) && (isDefined || !wasDefined)
}

/** Whether the credential was good already. An address decides where it is obtained, not what it opens. */
function isHeld(held: Credential, wanted: Credential): boolean {
  if (held.scheme !== wanted.scheme || !hasScopes(held, wanted)) return false
  return wanted.kind === UNDEFINED_KIND || (held.kind === wanted.kind && hasFlowsOf(held, wanted, () => true))
}

function hasScopes(held: Credential, wanted: Credential): boolean {
  return wanted.scopes.every((scope) => held.scopes.includes(scope))
}

type Addresses = ReadonlyMap<string, string>

/** Which flow a caller uses is not known, so that each of them has to be left. */
function hasFlowsOf(
  held: Credential,
  wanted: Credential,
  isKept: (base: Addresses, head: Addresses) => boolean,
): boolean {
  return [...held.flows].every(([flow, base]) => {
    const head = wanted.flows.get(flow)
    return head !== undefined && isKept(base, head)
  })
}

function isAddressKept(base: Addresses, head: Addresses): boolean {
  return [...base].every(([member, address]) => head.get(member) === address)
}

/** The name in the base of each scheme that the head only renamed: same definition, and neither name stands on both sides. */
export function renamedSchemes(
  base: ReadonlyMap<string, unknown>,
  head: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
  const gone = [...base].filter(([name]) => !head.has(name))
  const renamed = new Map<string, string>()
  for (const [name, definition] of head) {
    if (base.has(name)) continue
    const index = gone.findIndex(([, other]) => isEqual(other, definition))
    const [old] = index === -1 ? [] : gone.splice(index, 1)
    if (old !== undefined) renamed.set(name, old[0])
  }
  return renamed
}

/** An address by which clients are configured: letter case of scheme and host says nothing (RFC 3986 §6.2.2.1). */
export function addressText(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, (origin) => origin.toLowerCase())
}

export function labelOf(alternatives: readonly Alternative[]): string {
  return alternatives.length === 0 ? 'none' : alternatives.map(({ label }) => label).join(' or ')
}
