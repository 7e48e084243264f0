/**
 * The rules about an OpenAPI contract outside its schemas, one row each. A row holds when its change was told and its
 * condition on the facts is met; of several rows of one change the first that applies holds. Level follows from direction and effect.
 */
import type { Direction } from '../finding.ts'
import type { Effect, Rule } from './rule.ts'
import { makeRule } from './schema-rules.ts'

type Facts = Readonly<Record<string, unknown>>

interface Row {
  readonly change: string
  /** Facts that must have these values; none for a row that always applies. */
  readonly when: Facts
  readonly id: string
  readonly effect: Effect
  /** What happened: facts are filled in for `{name}`. */
  readonly says: string
}

interface Section {
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly rows: readonly Row[]
}

function row(change: OpenApiChange, when: Facts, id: string, effect: Effect, says: string): Row {
  return { change, when, id, effect, says }
}

export type OpenApiChange =
  | 'callback-added'
  | 'callback-body'
  | 'callback-removed'
  | 'component-scheme-added'
  | 'component-scheme-changed'
  | 'component-scheme-removed'
  | 'component-scope'
  | 'component-schema-removed'
  | 'dangling-reference'
  | 'global-security'
  | 'global-scope'
  | 'header-added'
  | 'header-removed'
  | 'header-requiredness'
  | 'link'
  | 'media-type'
  | 'media-type-encoding'
  | 'media-type-schema'
  | 'operation-added'
  | 'operation-id'
  | 'operation-lifecycle'
  | 'operation-removed'
  | 'operation-scope'
  | 'operation-security'
  | 'operation-stability'
  | 'operation-tag'
  | 'parameter-added'
  | 'parameter-content'
  | 'parameter-empty'
  | 'parameter-lifecycle'
  | 'parameter-removed'
  | 'parameter-requiredness'
  | 'parameter-style'
  | 'request-body'
  | 'response-status'
  | 'server'
  | 'version'
  | 'webhook-added'
  | 'webhook-removed'

const SECTIONS: readonly Section[] = [
  {
    direction: 'response',
    area: 'callbacks',
    kind: 'existence',
    rows: [
      row('callback-body', { action: 'added' }, 'callback-request-body-added', 'none', 'the callback got a body'),
      row(
        'callback-body',
        { action: 'removed' },
        'callback-request-body-removed',
        'widens',
        'the callback lost its body',
      ),
      row(
        'callback-body',
        { action: 'became' },
        'callback-request-body-became-required',
        'none',
        'the callback always has a body',
      ),
      row(
        'callback-body',
        { action: 'ceased' },
        'callback-request-body-became-optional',
        'widens',
        'the callback may come without a body',
      ),
    ],
  },
  {
    direction: 'none',
    area: 'paths',
    kind: 'existence',
    rows: [
      row('operation-added', {}, 'endpoint-added', 'none', 'the operation was added'),
      ...removal(true, 'api-path-removed', 'the path and its operation were removed'),
      ...removal(false, 'api-removed', 'the operation was removed'),
      row(
        'operation-id',
        { action: 'added' },
        'api-operation-id-added',
        'none',
        'the operation id `{after}` was added',
      ),
      row(
        'operation-id',
        { action: 'removed' },
        'api-operation-id-removed',
        'none',
        'the operation id `{before}` was replaced with `{after}`',
      ),
      row('callback-added', {}, 'callback-added', 'none', 'the callback `{name}` was added'),
      row('callback-removed', {}, 'callback-removed', 'narrows', 'the callback `{name}` was removed'),
      row(
        'link',
        { action: 'removed' },
        'response-link-removed',
        'may-narrow',
        'the link `{name}` of the response {status} was removed',
      ),
      row(
        'link',
        { action: 'added' },
        'response-link-added',
        'none',
        'the link `{name}` of the response {status} was added',
      ),
      row(
        'link',
        { action: 'changed' },
        'response-link-changed',
        'may-narrow',
        'the link `{name}` of the response {status} leads elsewhere',
      ),
    ],
  },
  {
    direction: 'none',
    area: 'paths',
    kind: 'lifecycle',
    rows: [
      row('operation-lifecycle', { kind: 'deprecated' }, 'endpoint-deprecated', 'none', 'the operation was deprecated'),
      row(
        'operation-lifecycle',
        { kind: 'deprecated-with-sunset' },
        'endpoint-deprecated-with-sunset',
        'none',
        'the operation was deprecated with the sunset day {sunset}',
      ),
      row(
        'operation-lifecycle',
        { kind: 'sunset-missing' },
        'api-deprecated-sunset-missing',
        'moves',
        'the operation was deprecated without a sunset day',
      ),
      row(
        'operation-lifecycle',
        { kind: 'sunset-invalid' },
        'api-deprecated-sunset-parse',
        'moves',
        'the sunset day `{sunset}` of the deprecated operation is no date',
      ),
      row(
        'operation-lifecycle',
        { kind: 'sunset-too-small' },
        'api-sunset-date-too-small',
        'moves',
        'the operation was deprecated with the sunset day {sunset}, less than {days} days ahead',
      ),
      row(
        'operation-lifecycle',
        { kind: 'sunset-moved-too-small' },
        'api-sunset-date-changed-too-small',
        'moves',
        'the sunset day was moved from {was} to {sunset}, less than {days} days ahead',
      ),
      row(
        'operation-lifecycle',
        { kind: 'sunset-deleted' },
        'sunset-deleted',
        'moves',
        'the sunset day was removed, but the operation is still deprecated',
      ),
      row(
        'operation-lifecycle',
        { kind: 'reactivated' },
        'endpoint-reactivated',
        'none',
        'the operation is no longer deprecated',
      ),
      row(
        'operation-stability',
        { step: 'invalid' },
        'api-invalid-stability-level',
        'moves',
        'the stability level `{after}` is none of draft, alpha, beta, stable',
      ),
      row(
        'operation-stability',
        { step: 'decreased' },
        'api-stability-decreased',
        'moves',
        'the stability of the operation went down from {before} to {after}',
      ),
      row(
        'operation-stability',
        { step: 'increased' },
        'api-stability-increased',
        'none',
        'the stability of the operation went up from {before} to {after}',
      ),
    ],
  },
  {
    direction: 'none',
    area: 'tags',
    kind: 'existence',
    rows: [
      row('operation-tag', { action: 'added' }, 'api-tag-added', 'none', 'the tag `{name}` was added'),
      row('operation-tag', { action: 'removed' }, 'api-tag-removed', 'none', 'the tag `{name}` was removed'),
    ],
  },
  {
    direction: 'none',
    area: 'security',
    kind: 'existence',
    rows: [
      ...security('operation-security', 'operation-scope', 'api-security', 'the operation'),
      ...security('global-security', 'global-scope', 'api-global-security', 'the whole interface'),
      row(
        'component-scheme-added',
        {},
        'api-security-component-added',
        'none',
        'the security scheme `{name}` was defined',
      ),
      row(
        'component-scheme-removed',
        {},
        'api-security-component-removed',
        'none',
        'the security scheme `{name}` is no longer defined',
      ),
      row(
        'component-scheme-changed',
        { part: 'type' },
        'api-security-component-type-changed',
        'none',
        'the security scheme `{name}` is of type {after} instead of {before}',
      ),
      row(
        'component-scheme-changed',
        { part: 'url' },
        'api-security-component-oauth-url-changed',
        'none',
        'the authorization address of `{name}` is {after} instead of {before}',
      ),
      row(
        'component-scheme-changed',
        { part: 'tokenUrl' },
        'api-security-component-oauth-token-url-changed',
        'none',
        'the token address of `{name}` is {after} instead of {before}',
      ),
      row(
        'component-scope',
        { action: 'added' },
        'api-security-component-oauth-scope-added',
        'none',
        'the scope `{scope}` of `{name}` was defined',
      ),
      row(
        'component-scope',
        { action: 'removed' },
        'api-security-component-oauth-scope-removed',
        'none',
        'the scope `{scope}` of `{name}` is no longer defined',
      ),
      row(
        'component-scope',
        { action: 'changed' },
        'api-security-component-oauth-scope-changed',
        'none',
        'the scope `{scope}` of `{name}` is described as `{after}` instead of `{before}`',
      ),
    ],
  },
  {
    direction: 'none',
    area: 'components',
    kind: 'existence',
    rows: [
      row('component-schema-removed', {}, 'api-schema-removed', 'none', 'the schema `{name}` is no longer defined'),
      row('webhook-added', {}, 'webhook-added', 'none', 'the webhook `{name}` was added'),
      row('webhook-removed', {}, 'webhook-removed', 'narrows', 'the webhook `{name}` was removed'),
      row(
        'dangling-reference',
        {},
        'reference-unresolved',
        'none',
        'the reference `{reference}` names nothing, so that what it stands for was not compared',
      ),
      row('server', { action: 'added' }, 'server-added', 'none', 'the server `{name}` was added'),
      row('server', { action: 'removed' }, 'server-removed', 'may-narrow', 'the server `{name}` was removed'),
    ],
  },
  {
    direction: 'none',
    area: 'info',
    kind: 'lifecycle',
    rows: [
      row(
        'version',
        { step: 'same' },
        'api-version-not-bumped',
        'none',
        'something breaks, but the version is still {before}',
      ),
      row(
        'version',
        { step: 'decreased' },
        'api-version-decreased',
        'none',
        'something breaks, but the version went down from {before} to {after}',
      ),
      row(
        'version',
        { step: 'minor' },
        'api-major-version-not-bumped',
        'none',
        'something breaks, but the major version is the same in {before} and {after}',
      ),
    ],
  },
  {
    direction: 'request',
    area: 'parameters',
    kind: 'existence',
    rows: [
      row(
        'parameter-added',
        { place: 'path' },
        'new-request-path-parameter',
        'narrows',
        'the path parameter `{name}` was added',
      ),
      row(
        'parameter-added',
        { isInherited: true, isRequired: true },
        'new-required-request-default-parameter-to-existing-path',
        'narrows',
        'the required {place} parameter `{name}` was added to every operation of the path',
      ),
      row(
        'parameter-added',
        { isInherited: true },
        'new-optional-request-default-parameter-to-existing-path',
        'widens',
        'the optional {place} parameter `{name}` was added to every operation of the path',
      ),
      row(
        'parameter-added',
        { isRequired: true },
        'new-required-request-parameter',
        'narrows',
        'the required {place} parameter `{name}` was added',
      ),
      row(
        'parameter-added',
        {},
        'new-optional-request-parameter',
        'widens',
        'the optional {place} parameter `{name}` was added',
      ),
      row(
        'parameter-removed',
        { removal: 'before-sunset' },
        'request-parameter-removed-before-sunset',
        'narrows',
        'the {place} parameter `{name}` was removed before its sunset day {sunset}',
      ),
      row(
        'parameter-removed',
        { removal: 'sunset-invalid' },
        'request-parameter-sunset-parse',
        'narrows',
        'the {place} parameter `{name}` was removed, and its sunset day `{sunset}` is no date',
      ),
      row(
        'parameter-removed',
        { removal: 'after-sunset' },
        'request-parameter-removed-with-deprecation',
        'none',
        'the deprecated {place} parameter `{name}` was removed after its sunset day {sunset}',
      ),
      row(
        'parameter-removed',
        { removal: 'announced' },
        'request-parameter-removed-with-deprecation',
        'none',
        'the deprecated {place} parameter `{name}` was removed',
      ),
      row(
        'parameter-removed',
        {},
        'request-parameter-removed',
        'may-narrow',
        'the {place} parameter `{name}` was removed',
      ),
    ],
  },
  {
    direction: 'request',
    area: 'parameters',
    kind: 'requiredness',
    rows: [
      row(
        'parameter-requiredness',
        { action: 'became' },
        'request-parameter-became-required',
        'narrows',
        'the {place} parameter `{name}` became required',
      ),
      row(
        'parameter-requiredness',
        { action: 'ceased' },
        'request-parameter-became-optional',
        'widens',
        'the {place} parameter `{name}` became optional',
      ),
      row(
        'parameter-empty',
        { action: 'ceased' },
        'request-parameter-empty-value-disallowed',
        'narrows',
        'the {place} parameter `{name}` may no longer be empty',
      ),
      row(
        'parameter-empty',
        { action: 'became' },
        'request-parameter-empty-value-allowed',
        'widens',
        'the {place} parameter `{name}` may be empty',
      ),
    ],
  },
  {
    direction: 'request',
    area: 'parameters',
    kind: 'type',
    rows: [
      row(
        'parameter-style',
        {},
        'request-parameter-style-changed',
        'moves',
        'the {place} parameter `{name}` is written as {after} instead of {before}',
      ),
      row(
        'parameter-content',
        {},
        'request-parameter-content-type-changed',
        'moves',
        'the {place} parameter `{name}` is written as {after} instead of {before}',
      ),
    ],
  },
  {
    direction: 'request',
    area: 'parameters',
    kind: 'lifecycle',
    rows: [
      row(
        'parameter-lifecycle',
        { kind: 'deprecated' },
        'request-parameter-deprecated',
        'none',
        'the {place} parameter `{name}` was deprecated',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'deprecated-with-sunset' },
        'request-parameter-deprecated',
        'none',
        'the {place} parameter `{name}` was deprecated with the sunset day {sunset}',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'sunset-missing' },
        'request-parameter-deprecated-sunset-missing',
        'moves',
        'the {place} parameter `{name}` was deprecated without a sunset day',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'sunset-invalid' },
        'request-parameter-sunset-parse',
        'moves',
        'the sunset day `{sunset}` of the {place} parameter `{name}` is no date',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'sunset-too-small' },
        'request-parameter-sunset-date-too-small',
        'moves',
        'the {place} parameter `{name}` was deprecated with the sunset day {sunset}, less than {days} days ahead',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'sunset-moved-too-small' },
        'request-parameter-sunset-date-changed-too-small',
        'moves',
        'the sunset day of the {place} parameter `{name}` was moved from {was} to {sunset}, less than {days} days ahead',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'sunset-deleted' },
        'request-parameter-sunset-deleted',
        'moves',
        'the sunset day of the deprecated {place} parameter `{name}` was removed',
      ),
      row(
        'parameter-lifecycle',
        { kind: 'reactivated' },
        'request-parameter-reactivated',
        'none',
        'the {place} parameter `{name}` is no longer deprecated',
      ),
    ],
  },
  {
    direction: 'request',
    area: 'requestBody',
    kind: 'existence',
    rows: [
      row(
        'request-body',
        { action: 'added', isRequired: true },
        'request-body-added-required',
        'narrows',
        'a required request body was added',
      ),
      row(
        'request-body',
        { action: 'added' },
        'request-body-added-optional',
        'widens',
        'an optional request body was added',
      ),
      row('request-body', { action: 'removed' }, 'request-body-removed', 'narrows', 'the request body was removed'),
      row(
        'request-body',
        { action: 'became' },
        'request-body-became-required',
        'narrows',
        'the request body became required',
      ),
      row(
        'request-body',
        { action: 'ceased' },
        'request-body-became-optional',
        'widens',
        'the request body became optional',
      ),
      row(
        'media-type',
        { of: 'request', action: 'added' },
        'request-body-media-type-added',
        'widens',
        'the request body may be {name}',
      ),
      row(
        'media-type',
        { of: 'request', action: 'removed' },
        'request-body-media-type-removed',
        'narrows',
        'the request body may no longer be {name}',
      ),
      row(
        'media-type-schema',
        { of: 'request', action: 'added' },
        'request-body-media-type-schema-added',
        'narrows',
        'the request body got a schema for {name}',
      ),
      row(
        'media-type-schema',
        { of: 'request', action: 'removed' },
        'request-body-media-type-schema-removed',
        'widens',
        'the request body lost its schema for {name}',
      ),
      row(
        'media-type-encoding',
        { of: 'request' },
        'request-body-encoding-changed',
        'moves',
        'the field `{field}` of the {name} request body is written as {after} instead of {before}',
      ),
    ],
  },
  {
    direction: 'response',
    area: 'responses',
    kind: 'existence',
    rows: [
      row(
        'response-status',
        { action: 'added', isSuccess: true },
        'response-success-status-added',
        'none',
        'the success response {status} was added',
      ),
      row(
        'response-status',
        { action: 'removed', isSuccess: true },
        'response-success-status-removed',
        'widens',
        'the success response {status} was removed',
      ),
      row(
        'response-status',
        { action: 'added' },
        'response-non-success-status-added',
        'none',
        'the response {status} was added',
      ),
      row(
        'response-status',
        { action: 'removed' },
        'response-non-success-status-removed',
        'none',
        'the response {status} was removed',
      ),
      row(
        'media-type',
        { of: 'response', action: 'added' },
        'response-media-type-added',
        'none',
        'the response {status} may be {name}',
      ),
      row(
        'media-type',
        { of: 'response', action: 'removed' },
        'response-media-type-removed',
        'widens',
        'the response {status} is never {name} any more',
      ),
      row(
        'media-type',
        { of: 'response', action: 'generalized' },
        'response-media-type-name-generalized',
        'widens',
        'the response {status} is {after} instead of the more specific {before}',
      ),
      row(
        'media-type',
        { of: 'response', action: 'specialized' },
        'response-media-type-name-specialized',
        'narrows',
        'the response {status} is {after} instead of the more general {before}',
      ),
      row(
        'media-type',
        { of: 'response', action: 'changed' },
        'response-media-type-name-changed',
        'none',
        'the response {status} is {after} instead of {before}',
      ),
      row(
        'media-type-schema',
        { of: 'response', action: 'added' },
        'response-body-media-type-schema-added',
        'narrows',
        'the response {status} got a schema for {name}',
      ),
      row(
        'media-type-schema',
        { of: 'response', action: 'removed' },
        'response-body-media-type-schema-removed',
        'may-widen',
        'the response {status} lost its schema for {name}',
      ),
      row(
        'media-type-encoding',
        { of: 'response' },
        'response-body-encoding-changed',
        'moves',
        'the field `{field}` of the {name} response {status} is written as {after} instead of {before}',
      ),
    ],
  },
  {
    direction: 'response',
    area: 'headers',
    kind: 'existence',
    rows: [
      row(
        'header-added',
        {},
        'response-header-added',
        'none',
        'the header `{name}` of the response {status} was added',
      ),
      row(
        'header-removed',
        { isRequired: true },
        'required-response-header-removed',
        'widens',
        'the required header `{name}` of the response {status} was removed',
      ),
      row(
        'header-removed',
        {},
        'optional-response-header-removed',
        'may-widen',
        'the optional header `{name}` of the response {status} was removed',
      ),
      row(
        'header-requiredness',
        { action: 'ceased' },
        'response-header-became-optional',
        'widens',
        'the header `{name}` of the response {status} became optional',
      ),
      row(
        'header-requiredness',
        { action: 'became' },
        'response-header-became-required',
        'narrows',
        'the header `{name}` of the response {status} became required',
      ),
    ],
  },
]

/** The four ways in which an operation can go, by how it was announced. */
function removal(isWholePath: boolean, stem: string, what: string): readonly Row[] {
  const when = (verdict: string): Facts => ({ isWholePath, removal: verdict })
  return [
    row(
      'operation-removed',
      when('unannounced'),
      `${stem}-without-deprecation`,
      'narrows',
      `${what} without having been deprecated`,
    ),
    row(
      'operation-removed',
      when('announced'),
      `${stem}-with-deprecation`,
      'none',
      `${what} after having been deprecated`,
    ),
    row(
      'operation-removed',
      when('before-sunset'),
      `${stem}-before-sunset`,
      'narrows',
      `${what} before the sunset day {sunset}`,
    ),
    row(
      'operation-removed',
      when('sunset-invalid'),
      'api-path-sunset-parse',
      'narrows',
      `${what}, and the sunset day \`{sunset}\` is no date`,
    ),
  ]
}

function security(requirement: OpenApiChange, scope: OpenApiChange, stem: string, whose: string): readonly Row[] {
  return [
    row(
      requirement,
      { action: 'added' },
      `${stem}-added`,
      'none',
      `the security requirement \`{name}\` of ${whose} was added`,
    ),
    row(
      requirement,
      { action: 'removed' },
      `${stem}-removed`,
      'none',
      `the security requirement \`{name}\` of ${whose} was removed`,
    ),
    row(
      scope,
      { action: 'added' },
      `${stem}-scope-added`,
      'none',
      `the scope \`{scope}\` of \`{name}\` is required for ${whose}`,
    ),
    row(
      scope,
      { action: 'removed' },
      `${stem}-scope-removed`,
      'none',
      `the scope \`{scope}\` of \`{name}\` is no longer required for ${whose}`,
    ),
  ]
}

const ALL_ROWS: readonly Row[] = SECTIONS.flatMap(({ rows }) => rows)

/** The row of a change; undefined when it is of no consequence. */
export function openApiRowOf(
  change: OpenApiChange,
  facts: Facts,
): { readonly id: string; readonly says: string } | undefined {
  return ALL_ROWS.find(
    (candidate) =>
      candidate.change === change && Object.entries(candidate.when).every(([name, value]) => facts[name] === value),
  )
}

/** Every rule of these rows, each id once. */
export function openApiRules(): readonly Rule[] {
  const rules = SECTIONS.flatMap(({ direction, area, kind, rows }) =>
    rows.map(({ id, effect, says, when, change }) =>
      makeRule(
        id,
        direction,
        area,
        kind,
        typeof when.action === 'string' ? when.action : change,
        effect,
        says.replaceAll(/[`{}]/g, ''),
      ),
    ),
  )
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()]
}
