/** The definitions of security schemes of Swagger 2.0 and OpenAPI 3.x in one form. */
import { membersAt, objectAt, type OpenApiContract } from '../../contracts/openapi/contract.ts'
import { hasMember, withKnownMembers } from '../../contracts/openapi/version-members.ts'
import { memberOf, type JsonRecord, type Located } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import { ABSENT, nameValue } from '../../schema/values.ts'

export function securitySchemesOf(contract: OpenApiContract): readonly (readonly [string, Located])[] {
  const { root, isSwagger, isStrict } = contract
  if (isSwagger) return membersAt(root, 'securityDefinitions')
  const components = memberOf(root, 'components')
  const schemes = components === null ? [] : membersAt(components, 'securitySchemes')
  return isStrict === true ? schemes.map(([name, scheme]) => [name, knownScheme(contract, scheme)] as const) : schemes
}

/** A scheme as the version of its contract has it: without a type that the version does not know. */
function knownScheme(contract: OpenApiContract, located: Located): Located {
  const found = objectAt(contract.documents, located)
  if (found === null) return located
  const scheme = withKnownMembers(contract, 'security scheme', found)
  const { type, ...rest } = scheme.value
  if (typeof type === 'string' && !hasMember(contract, 'type of a security scheme', type))
    return { ...scheme, value: rest }
  const flows = memberOf(scheme, 'flows')
  if (flows === null) return scheme
  return { ...scheme, value: { ...scheme.value, flows: withKnownMembers(contract, 'flows', flows).value } }
}

/**
 * The kind of credential that a scheme requires. Header field names (RFC 9110 §5.1) and schemes (§11.1) are
 * case-insensitive.
 */
export function schemeKind({ type, scheme, in: place, name }: JsonRecord): string {
  if (type === 'basic') return 'http basic'
  if (type === 'apiKey') {
    const field = statedText(name)
    return `apiKey ${statedText(place)} ${place === 'header' ? field.toLowerCase() : field}`
  }
  return type === 'http' ? `http ${statedText(scheme).toLowerCase()}` : statedText(type)
}

function statedText(value: unknown): string {
  return value === undefined ? ABSENT : nameValue(value)
}

const SWAGGER_FLOWS: ReadonlyMap<string, string> = new Map([
  ['accessCode', 'authorizationCode'],
  ['application', 'clientCredentials'],
])

/** OAuth flows by name. Swagger 2.0 has a single flow with other names. */
export function flowsOf(scheme: JsonRecord): JsonRecord {
  if (typeof scheme.flow !== 'string') return membersOf(scheme, 'flows')
  return { [SWAGGER_FLOWS.get(scheme.flow) ?? scheme.flow]: scheme }
}

/** A requirement as text: its schemes, all required together, with their scopes. */
export function requirementLabel(requirement: JsonRecord): string {
  const names = Object.keys(requirement).sort()
  const parts = names.map((name) => {
    const scopes = textsOf(requirement[name])
    return scopes.length === 0 ? name : `${name}: [${scopes.join(', ')}]`
  })
  return parts.length === 0 ? 'none' : parts.join(' and ')
}
