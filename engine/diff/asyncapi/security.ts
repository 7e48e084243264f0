/** The security requirements of AsyncAPI servers and operations: which clients were admitted, and which are now. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { AsyncApi } from '../../contracts/asyncapi/contract.ts'
import { canonicalJson } from '../../common/hash.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, stepInto, textAt, type JsonRecord, type Located } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import {
  addressText,
  compareAlternatives,
  definedScopes,
  isOffered,
  scopesOf,
  UNDEFINED_KIND,
  type Alternative,
  type Credential,
  type DefinedScopes,
} from '../security.ts'
import type { AsyncWalk } from './walk.ts'

/** A server, or a part of an operation. */
interface Secured {
  readonly security: Located | null
  readonly located: Located
}

/** Each item of a security list is one alternative. An empty list requires nothing. */
export function compareAsyncSecurity(walk: AsyncWalk, before: Secured, after: Secured, of: string): void {
  const [base, head] = [
    // A scheme that the base does not define cannot be distinguished from its first definition.
    securityAlternatives(before.security, [walk.base, walk.head]),
    securityAlternatives(after.security, [walk.head]),
  ]
  const { refused, unoffered, admitted } = compareAlternatives(base, head)
  const baseSite = { side: 'base', located: before.security ?? before.located } as const
  const headSite = { side: 'head', located: after.security ?? after.located } as const
  if (base.length === 0 && refused.length > 0) {
    walk.add({ ...headSite, rule: 'asyncapi-security-added', subject: of, after: alternativeLabels(head) })
    return
  }
  if (head.length === 0 && admitted.length > 0) {
    walk.add({ ...baseSite, rule: 'asyncapi-security-removed', subject: of, before: alternativeLabels(base) })
    return
  }
  const keptOf = Map.groupBy(head, (alternative) => alternativeKey(alternative, true))
  for (const alternative of refused) {
    const { label: name } = alternative
    const subject = `${of} ${alternativeKey(alternative)}`
    const shared = { subject, name, before: name }
    // When only scopes or addresses differ, the change is reported for the kept alternative.
    const kept = keptOf.get(alternativeKey(alternative, true))?.[0]
    const addresses = { before: addressesIn(alternative), after: kept === undefined ? {} : addressesIn(kept) }
    if (kept === undefined) walk.add({ ...baseSite, ...shared, rule: 'asyncapi-security-alternative-removed' })
    else if (alternativeKey(kept) === alternativeKey(alternative) && !isEqual(addresses.before, addresses.after)) {
      walk.add({ ...headSite, subject, name, rule: 'asyncapi-security-flow-changed', ...addresses })
    } else walk.add({ ...headSite, ...shared, rule: 'asyncapi-security-scope-tightened', after: kept.label })
  }
  if (refused.length === 0)
    for (const name of new Set([...unoffered.map(({ scope }) => scope), ...withdrawnFrom(base, head)]))
      walk.add({ ...headSite, rule: 'asyncapi-security-scope-withdrawn', subject: `${of} ${name}`, name, before: name })
  const reported = new Set(refused.map((alternative) => alternativeKey(alternative, true)))
  for (const alternative of admitted) {
    const { label: name } = alternative
    if (reported.has(alternativeKey(alternative, true))) continue
    const subject = `${of} ${alternativeKey(alternative)}`
    walk.add({ ...headSite, rule: 'asyncapi-security-alternative-added', subject, name, after: name })
  }
}

/** Scopes that a scheme in use offered, and that no scheme of its kind offers any more. */
function withdrawnFrom(base: readonly Alternative[], head: readonly Alternative[]): ReadonlySet<string> {
  const partners = head.flatMap(({ credentials }) => credentials)
  const kinds = new Set(partners.map(({ kind }) => kind))
  const offering = new Map<string, DefinedScopes[]>()
  for (const { kind, defined } of partners)
    for (const scope of defined === null ? [] : scopesOf(defined)) {
      const key = `${kind} ${scope}`
      const known = offering.get(key)
      if (known === undefined) offering.set(key, [defined ?? new Map()])
      else known.push(defined ?? new Map())
    }
  const withdrawn = base
    .flatMap(({ credentials }) => credentials)
    .flatMap(({ kind, defined }) => {
      if (defined === null || !kinds.has(kind)) return []
      const isKept = (scope: string): boolean =>
        offering.get(`${kind} ${scope}`)?.some((after) => isOffered(scope, defined, after)) === true
      return [...scopesOf(defined)].filter((scope) => !isKept(scope))
    })
  return new Set(withdrawn)
}

function alternativeLabels(alternatives: readonly Alternative[]): readonly string[] {
  return alternatives.map(({ label }) => label)
}

/** The key that distinguishes one alternative from another. */
function alternativeKey({ credentials }: Alternative, isWithoutScopes = false): string {
  const parts = credentials.map(({ scheme, kind, scopes }) =>
    canonicalJson([scheme, kind, ...(isWithoutScopes ? [] : scopes)]),
  )
  return parts.sort(byCodeUnit).join(' ')
}

function addressesIn({ credentials }: Alternative): Readonly<Record<string, string>> {
  const addresses = credentials.flatMap(({ flows }) =>
    [...flows].flatMap(([flow, members]) => [...members].map(([member, url]) => [`${flow}.${member}`, url] as const)),
  )
  return Object.fromEntries(addresses)
}

/**
 * AsyncAPI 2.x names schemes with their scopes, all required. AsyncAPI 3.x refers to one scheme that contains its
 * scopes.
 * @param apis the contract, and those that define what it does not
 */
function securityAlternatives(security: Located | null, apis: readonly AsyncApi[]): readonly Alternative[] {
  if (security === null || !Array.isArray(security.value)) return []
  const items: readonly unknown[] = security.value
  const [own] = apis
  return items.flatMap((value, index) => {
    if (!isRecord(value)) return []
    const located = { value, at: stepInto(security.at, String(index)), document: security.document }
    const credentials =
      own?.version.startsWith('2') === true ? requirementOf(value, apis) : [referredCredential(located, apis)]
    const label = credentials.map(credentialLabel).join(' and ')
    return [{ label: label === '' ? 'none' : label, credentials }]
  })
}

function requirementOf(requirement: JsonRecord, apis: readonly AsyncApi[]): readonly Credential[] {
  return Object.keys(requirement)
    .sort(byCodeUnit)
    .map((name) => {
      const scheme = firstFound(apis, (api) => namedScheme(api, name))
      return schemeCredential(scheme, { name, scopes: requirement[name] })
    })
}

function namedScheme({ documents }: AsyncApi, name: string): Located | null {
  const components = memberOf(documents.root, 'components')
  const schemes = components === null ? null : memberOf(components, 'securitySchemes')
  const held = schemes === null ? null : memberOf(schemes, name)
  return held === null ? null : documents.follow(held)
}

function referredCredential(located: Located, apis: readonly AsyncApi[]): Credential {
  const name = textAt(located.value, '$ref') ?? ''
  return schemeCredential(
    firstFound(apis, ({ documents }) => documents.follow(located)),
    { name, scopes: null },
  )
}

function firstFound(apis: readonly AsyncApi[], find: (api: AsyncApi) => Located | null): Located | null {
  for (const api of apis) {
    const found = find(api)
    if (found !== null) return found
  }
  return null
}

const KIND_MEMBERS = ['type', 'scheme', 'in', 'name']

/** Authentication schemes and header names (RFC 9110 §11.1 and §5.1). */
function hasNoCase(scheme: JsonRecord, member: string): boolean {
  return member === 'scheme' || (member === 'name' && scheme['in'] === 'header')
}

/** Schemes are matched by content: 3.x may inline what 2.x named. Those without content are matched by name. */
function schemeCredential(
  scheme: Located | null,
  required: { readonly name: string; readonly scopes: unknown },
): Credential {
  const value: JsonRecord = isRecord(scheme?.value) ? scheme.value : {}
  const reported = KIND_MEMBERS.flatMap((member) => {
    const stated = value[member]
    if (typeof stated !== 'string') return []
    return [hasNoCase(value, member) ? stated.toLowerCase() : stated]
  })
  return {
    scheme: reported.length === 0 ? required.name : '',
    kind: reported.length === 0 ? UNDEFINED_KIND : reported.join(' '),
    flows: flowEndpoints(value),
    scopes: [...textsOf(required.scopes ?? value.scopes)].sort(byCodeUnit),
    defined: scopesByFlow(value),
  }
}

function credentialLabel({ scheme, kind, scopes }: Credential): string {
  const type = kind === UNDEFINED_KIND ? `the scheme ${scheme}, which is not defined` : (kind.split(' ')[0] ?? '')
  return scopes.length === 0 ? type : `${type} (${scopes.join(', ')})`
}

function flowEndpoints(scheme: JsonRecord): Credential['flows'] {
  const discovery = scheme.openIdConnectUrl
  if (typeof discovery === 'string') return new Map([['discovery', new Map([['url', addressText(discovery)]])]])
  const flows = membersOf(scheme, 'flows')
  return new Map(
    Object.keys(flows).map((flow) => {
      const addresses = Object.entries(membersOf(flows, flow)).flatMap(([member, url]): [string, string][] =>
        typeof url === 'string' ? [[member, addressText(url)]] : [],
      )
      return [flow, new Map(addresses)]
    }),
  )
}

/** Scopes of each flow: `scopes` in 2.x, `availableScopes` in 3.x. Null if none is listed. */
function scopesByFlow(scheme: JsonRecord): DefinedScopes | null {
  const flows = membersOf(scheme, 'flows')
  const scopes = Object.keys(flows).map((flow) => {
    const held = membersOf(flows, flow)
    const names = [...Object.keys(membersOf(held, 'scopes')), ...Object.keys(membersOf(held, 'availableScopes'))]
    return [flow, new Set(names)] as const
  })
  return definedScopes(new Map(scopes))
}
