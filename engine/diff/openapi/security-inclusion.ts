/**
 * Whether callers that an operation admitted are still admitted. The requirements in force, own or of the whole
 * interface, are compared as sets of alternatives, with the definitions of their schemes.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { itemsAt, objectAt, type OpenApiContract } from '../../contracts/openapi/contract.ts'
import { hasMember } from '../../contracts/openapi/version-members.ts'
import { isRecord, memberOf, type JsonRecord, type Located } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import {
  addressText,
  compareAlternatives,
  alternativesLabel,
  definedScopes,
  renamedSchemes,
  UNDEFINED_KIND,
  withdrawnScopes,
  type Alternative,
  type Credential,
  type DefinedScopes,
  type SecurityChange,
} from '../security.ts'
import { flowsOf, schemeKind, requirementLabel, securitySchemesOf } from './security-schemes.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { OperationSide, SecuritySchemes, SideSchemes, Walk } from './walk.ts'

export function readSecuritySchemes(base: OpenApiContract, head: OpenApiContract): SecuritySchemes {
  const [before, after] = [schemeDefinitions(base), schemeDefinitions(head)]
  const [kindsBefore, kindsAfter] = [kinds(before), kinds(after)]
  return {
    base: { contract: base, definitions: withTokensOf(base, before, after), renamed: new Map(), read: new Map() },
    head: {
      contract: head,
      definitions: withTokensOf(head, after, before),
      renamed: renamedSchemes(kindsBefore, kindsAfter),
      read: new Map(),
    },
  }
}

/** The requirements in force for an operation on both sides. For a callback or webhook only its own count. */
export function compareAdmission(walk: Walk, before: OperationSide, after: OperationSide): void {
  const [base, head] = [
    ownSecurity(before) ?? globalSecurity(walk.base),
    ownSecurity(after) ?? globalSecurity(walk.head),
  ]
  const [baseAlternatives, headAlternatives] = [
    requiredAlternatives(base, walk.security.base),
    requiredAlternatives(head, walk.security.head),
  ]
  const { refused, isByScopes, unoffered, admitted, texts } = comparedAlternatives(baseAlternatives, headAlternatives)
  const located = head ?? after.operation.located
  const add = (action: OpenApiFacts['admission']['action']): void =>
    reportRequirement(walk, 'admission', { action }, { located, texts })
  if (refused.length > 0) add(isByScopes ? 'scopes' : 'tightened')
  else if (admitted.length > 0) add('loosened')
  if (refused.length > 0) return
  const withdrawn = [...unoffered, ...withdrawnFrom(baseAlternatives, walk.security.head)]
  for (const { scheme, scope } of new Map(withdrawn.map((one) => [JSON.stringify(one), one])).values()) {
    reportRequirement(walk, 'admission', { action: 'withdrawn', scheme, scope }, { located, texts: [scope, null] })
  }
}

interface ComparedAlternatives extends SecurityChange {
  /** Both sides as texts. */
  readonly texts: readonly [before: string, after: string]
}

/** By the alternatives of both sides: most operations have those of the whole interface. */
const compared = new WeakMap<readonly Alternative[], WeakMap<readonly Alternative[], ComparedAlternatives>>()

function comparedAlternatives(base: readonly Alternative[], head: readonly Alternative[]): ComparedAlternatives {
  const byHead = compared.get(base) ?? new WeakMap<readonly Alternative[], ComparedAlternatives>()
  compared.set(base, byHead)
  const known = byHead.get(head) ?? { ...compareAlternatives(base, head), texts: labels(base, head) }
  byHead.set(head, known)
  return known
}

/**
 * The credentials that the provider sends to a receiver. The receiver checks the described ones, so no other may be
 * sent.
 */
export function compareShownCredentials(walk: Walk, before: OperationSide, after: OperationSide): void {
  const [base, head] = [ownSecurity(before), ownSecurity(after)]
  const [baseAlternatives, headAlternatives] = [
    requiredAlternatives(base, walk.security.base),
    requiredAlternatives(head, walk.security.head),
  ]
  const { refused, unoffered } = compareAlternatives(headAlternatives, baseAlternatives)
  if (refused.length === 0 && unoffered.length === 0) return
  const located = head ?? after.operation.located
  reportRequirement(walk, 'callback-security', {}, { located, texts: labels(baseAlternatives, headAlternatives) })
}

/** Requirements of both sides, as texts. */
interface StatedRequirements {
  readonly located: Located
  readonly texts: readonly [before: string, after: string | null]
}

function reportRequirement<Change extends 'admission' | 'callback-security'>(
  walk: Walk,
  change: Change,
  facts: OpenApiFacts[Change],
  { located, texts: [before, after] }: StatedRequirements,
): void {
  // One change of a scheme or of the interface may reach many operations: one change at many places.
  const subject = `${change} ${Object.values(facts).join(' ')}`
  const { operation } = walk
  walk.add({ change, facts: { ...facts, before, after }, operation, side: 'head', located, before, after, subject })
}

/** Both sides as text. If the requirements have the same text, the definitions of their schemes show the difference. */
function labels(base: readonly Alternative[], head: readonly Alternative[]): readonly [string, string] {
  const [before, after] = [alternativesLabel(base), alternativesLabel(head)]
  if (before !== after) return [before, after]
  return [alternativesLabel(base.map(defined)), alternativesLabel(head.map(defined))]
}

function defined({ label, credentials }: Alternative): Alternative {
  return { label: `${label} (${credentials.map(definitionText).join(', ')})`, credentials }
}

function definitionText({ kind, flows }: Credential): string {
  const parts = [...flows].map(([flow, addresses]) => [flow, ...addresses.values()].join(' ')).sort(byCodeUnit)
  return [kind, ...parts].join(', ')
}

function ownSecurity({ operation: { located } }: OperationSide): Located | null {
  return memberOf(located, 'security')
}

function globalSecurity({ root }: OpenApiContract): Located | null {
  return memberOf(root, 'security')
}

const NOTHING_REQUIRED: readonly Alternative[] = []

function requiredAlternatives(security: Located | null, schemes: SideSchemes): readonly Alternative[] {
  if (security === null) return NOTHING_REQUIRED
  const known = schemes.read.get(security.value)
  if (known !== undefined) return known
  const owner = { ...security, value: { security: security.value } }
  const alternatives = itemsAt(owner, 'security').flatMap(({ value }) =>
    isRecord(value) ? [requiredAlternative(value, schemes)] : [],
  )
  schemes.read.set(security.value, alternatives)
  return alternatives
}

function requiredAlternative(requirement: JsonRecord, schemes: SideSchemes): Alternative {
  const credentials = Object.keys(requirement)
    .sort()
    .map((name) => namedCredential(name, textsOf(requirement[name]), schemes))
  return { label: requirementLabel(requirement), credentials }
}

function namedCredential(
  key: string,
  scopes: readonly string[],
  { contract, definitions, renamed }: SideSchemes,
): Credential {
  // OpenAPI 3.2: the name of a component, or else its address.
  const isName = definitions.has(key) || !hasMember(contract, 'requirement', 'addresses')
  const name = isName ? key : key.replace(/^#\/components\/securitySchemes\//, '')
  const definition = definitions.get(name)
  const scheme = renamed.get(name) ?? name
  if (definition === undefined) return { scheme, kind: UNDEFINED_KIND, flows: new Map(), scopes, defined: null }
  return {
    scheme,
    kind: schemeKind(definition),
    flows: flowAddresses(definition),
    scopes,
    defined: definition.type === 'oauth2' ? definedScopes(scopesOf(definition)) : null,
  }
}

const ADDRESSES = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl']

function flowAddresses(definition: JsonRecord): Credential['flows'] {
  if (definition.type === 'openIdConnect') {
    return new Map([['discovery', textMembers(definition, ['openIdConnectUrl'])]])
  }
  if (definition.type !== 'oauth2') return new Map()
  const flows = flowsOf(definition)
  return new Map(Object.keys(flows).map((flow) => [flow, textMembers(membersOf(flows, flow), ADDRESSES)]))
}

function textMembers(owner: JsonRecord, names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name): [string, string][] => {
      const text = owner[name]
      return typeof text === 'string' ? [[name, addressText(text)]] : []
    }),
  )
}

/** By the definition of a scheme: each alternative of each operation names it. */
const scopesByFlow = new WeakMap<JsonRecord, DefinedScopes>()

function scopesOf(definition: JsonRecord): DefinedScopes {
  const known = scopesByFlow.get(definition)
  if (known !== undefined) return known
  const flows = flowsOf(definition)
  const scopes = new Map(
    Object.keys(flows).map((flow) => [flow, new Set(Object.keys(membersOf(membersOf(flows, flow), 'scopes')))]),
  )
  scopesByFlow.set(definition, scopes)
  return scopes
}

/** RFC 6749 §4.1.2.1: a caller that requests a scope unknown to the server gets no token. */
function withdrawnFrom(
  alternatives: readonly Alternative[],
  { definitions, renamed }: SideSchemes,
): SecurityChange['unoffered'] {
  const names = new Map([...renamed].map(([name, baseName]) => [baseName, name]))
  const held = new Map(alternatives.flatMap(({ credentials }) => credentials.map((one) => [one.scheme, one] as const)))
  return [...held.values()].flatMap(({ scheme, defined: before }) => {
    const definition = definitions.get(names.get(scheme) ?? scheme)
    if (before === null || definition?.type !== 'oauth2') return []
    return withdrawnScopes(before, scopesOf(definition)).map((scope) => ({ scheme, scope }))
  })
}

function schemeDefinitions(contract: OpenApiContract): ReadonlyMap<string, JsonRecord> {
  return new Map(
    securitySchemesOf(contract).flatMap(([name, located]): [string, JsonRecord][] => {
      const scheme = objectAt(contract.documents, located)
      return scheme === null ? [] : [[name, scheme.value]]
    }),
  )
}

/** The key by which two schemes are the same credential, under any name. */
function kinds(definitions: ReadonlyMap<string, JsonRecord>): ReadonlyMap<string, unknown> {
  return new Map(
    [...definitions].map(([name, definition]) => {
      const flows = Object.fromEntries(
        [...flowAddresses(definition)].map(([flow, all]) => [flow, Object.fromEntries(all)]),
      )
      return [name, { kind: schemeKind(definition), flows }]
    }),
  )
}

/** Swagger 2.0 has no bearer scheme: contracts write tokens as an API key in the field `Authorization`. */
function withTokensOf(
  { isSwagger }: OpenApiContract,
  definitions: ReadonlyMap<string, JsonRecord>,
  others: ReadonlyMap<string, JsonRecord>,
): ReadonlyMap<string, JsonRecord> {
  if (!isSwagger) return definitions
  return new Map(
    [...definitions].map(([name, definition]) => {
      const other = others.get(name)
      return [
        name,
        schemeKind(definition) === 'apiKey header authorization' && other?.type === 'http' ? other : definition,
      ]
    }),
  )
}
