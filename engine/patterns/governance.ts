/**
 * Governance patterns: the API owner's names for kinds of change. Each is measured, because it restates findings.
 * There is one row for each pattern, and every matching finding group is a detected pattern.
 */
import type { FindingGroup, Level } from '../model/finding.ts'
import type { DetectedPattern } from './pattern.ts'

export interface GovernancePattern {
  readonly name: string
  /** Severity by the level of the finding. */
  readonly severity: Readonly<Record<Level, DetectedPattern['severity']>>
  readonly consequence: string
  readonly matches: (group: FindingGroup) => boolean
  /** The side of the exchange is reported, because it decides whether callers break. */
  readonly hasSide?: true
}

type Severity = GovernancePattern['severity']
const GRAVE: Severity = { breaking: 'CRITICAL', dangerous: 'HIGH', info: 'MEDIUM' }
const SERIOUS: Severity = { breaking: 'HIGH', dangerous: 'MEDIUM', info: 'MEDIUM' }

/** Rules by their ids. */
function rules(pattern: RegExp): GovernancePattern['matches'] {
  return ({ rule }) => pattern.test(rule)
}

/** Rules by id, if the change breaks or may break: a side that only gains does not count. */
function breaking(pattern: RegExp): GovernancePattern['matches'] {
  return ({ rule, level }) => level !== 'info' && pattern.test(rule)
}

const PAGING_WORDS = String.raw`(?:page|per_page|page_?size|page_?token|next_page_?token|limit|offset|cursor|next_?cursor|starting_after|ending_before|has_more)`
const PAGING_MEMBER = new RegExp(
  String.raw`/properties/${PAGING_WORDS}(?:/|$)|/arguments/(?:${PAGING_WORDS}|first|last|after|before)$|/types/PageInfo(?:/|$)`,
  'i',
)
/** As messages name a member or a parameter. */
const PAGING_NAME = new RegExp(`(?:\`|/|parameter )${PAGING_WORDS}(?:[\`/)]|$)`, 'i')
const RATE_LIMIT =
  /(?:^|[/`]|header )(?:x-)?(?:rate-?limit(?:-[a-z]+)*|retry-after)(?:[/`,)]|$)|\/responses\/429(?:\/|$)/i
const ERROR_RESPONSE = /\/responses\/(?:[45]..|default)(?:\/|$)/i
/** As messages name the answer that a change reaches. */
const ERROR_STATUS = /\(response (?:[45]..|default)\b/i

/** Whether a change concerns something by its place, or by the message of some place that it reaches. */
function speaksOf({ location, message, occurrences }: FindingGroup, place: RegExp, words: RegExp): boolean {
  return place.test(location) || words.test(message) || occurrences.some((occurrence) => words.test(occurrence.message))
}

/** In the order of their names. */
export const GOVERNANCE_PATTERNS: readonly GovernancePattern[] = [
  {
    name: 'AUTH_REQUIRED_ADDED',
    severity: SERIOUS,
    consequence: 'Callers without the new credential or scope are refused.',
    matches: rules(
      /^api-(?:global-)?security-(?:scope-)?added$|^api-security-tightened$|^mcp-(?:tool-security-tightened|authorization-added)$|^asyncapi-security-added$|^graphql-federation-(?:authenticated|requires-scopes|policy)-added$/,
    ),
  },
  {
    name: 'AUTH_SCHEME_REMOVED',
    severity: GRAVE,
    consequence: 'Callers that authenticate this way must change to another.',
    matches: rules(/^api-(?:global-)?security-removed$|^api-security-component-removed$/),
  },
  {
    name: 'AUTH_SCOPE_REDUCTION',
    severity: SERIOUS,
    consequence: 'Tokens no longer carry the scopes that are required: authenticate again with the required scopes.',
    matches: rules(/scope-removed$|^(?:api|asyncapi)-security-scope-(?:tightened|withdrawn)$/),
  },
  {
    name: 'DEFAULT_CHANGED',
    severity: SERIOUS,
    consequence: 'Whoever relies on the default gets another behaviour without having changed anything.',
    matches: rules(/-default-value-(?:added|changed|removed)$|^proto-field-default-changed$/),
  },
  {
    name: 'DEPRECATION_WITHOUT_SUNSET',
    severity: SERIOUS,
    consequence: 'Callers do not learn how long they may stay.',
    matches: rules(/-deprecated$|-deprecated-sunset-missing$|^sunset-deleted$|-sunset-deleted$/),
  },
  {
    name: 'ENDPOINT_REMOVED',
    severity: GRAVE,
    consequence: 'Every call of the operation fails.',
    matches: rules(
      /^api-(?:path-)?removed-|^webhook-removed$|^graphql-root-(?:field|operation)-removed$|^proto-rpc-removed$|^proto-service-(?:removed|left-package)/,
    ),
  },
  {
    name: 'ENUM_NARROWING',
    severity: SERIOUS,
    consequence: 'A value that was valid is no longer; in a request it is refused.',
    matches: rules(/enum-value-removed$|-became-enum$|^proto-enum-value-removed/),
    hasSide: true,
  },
  {
    name: 'ERROR_SHAPE_CHANGED',
    severity: SERIOUS,
    consequence: 'Error handling that reads the old form misses what went wrong.',
    matches: (group) =>
      group.rule === 'response-non-success-status-removed' ||
      (group.level !== 'info' && group.rule.startsWith('response-') && speaksOf(group, ERROR_RESPONSE, ERROR_STATUS)),
  },
  {
    name: 'FIELD_REMOVED',
    severity: GRAVE,
    consequence: 'Whoever sends or reads the field by its name fails or loses it.',
    matches: breaking(
      /-property-removed$|^request-parameter-removed|-response-header-removed$|^mcp-prompt-argument-removed$|^graphql-(?:field|argument|input-field)-removed$|^proto-field-removed/,
    ),
  },
  {
    name: 'NULLABLE_REMOVED',
    severity: SERIOUS,
    consequence: 'Callers that send null are refused.',
    matches: breaking(/-became-not-nullable$|^graphql-(?:argument|input-field)-(?:became-required|type-narrowed)$/),
  },
  {
    name: 'PAGINATION_CHANGED',
    severity: SERIOUS,
    consequence: 'Clients that walk through pages stop early, repeat themselves or fail.',
    matches: (group) => group.level !== 'info' && speaksOf(group, PAGING_MEMBER, PAGING_NAME),
  },
  {
    name: 'RATE_LIMIT_CHANGED',
    severity: SERIOUS,
    consequence: 'Clients that pace themselves by these headers or answers are throttled.',
    matches: (group) => speaksOf(group, RATE_LIMIT, RATE_LIMIT),
  },
  {
    name: 'REQUIRED_FIELD_ADDED',
    severity: GRAVE,
    consequence: 'Calls without the field are refused.',
    matches: (group) =>
      /^proto-(?:required-field-added|field-became-required)$/.test(group.rule) ||
      (group.direction !== 'response' &&
        /^new-required-|^new-request-path-parameter$|-became-required(?:-with-default)?$|^request-body-added-required$|^graphql-required-|^mcp-prompt-argument-required$/.test(
          group.rule,
        )),
  },
  {
    name: 'TYPE_CHANGED',
    severity: GRAVE,
    consequence: 'Values of the old type are refused or misread.',
    matches: (group) =>
      group.level !== 'info' &&
      /-type-(?:changed|specialized|generalized)$|-list-of-types-(?:narrowed|widened)$|^graphql-.+-type-(?:narrowed|widened)$|^graphql-type-kind-changed$|^proto-field-type-changed|^proto-rpc-(?:request|response)-type-changed$/.test(
        group.rule,
      ),
  },
]
