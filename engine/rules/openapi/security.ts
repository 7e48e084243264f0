/** Rules about required security of an operation or the interface, and about the definitions of its schemes. */
import { row, type OpenApiRow, type Section } from './row.ts'

export const SECURITY_RULES: readonly Section[] = [
  {
    direction: 'none',
    area: 'security',
    kind: 'existence',
    rows: [
      row(
        'admission',
        { action: 'tightened' },
        'api-security-tightened',
        'narrows',
        'the operation requires {after} instead of {before}, so that callers are refused',
        {
          advice: {
            explanation: 'Callers without the credentials that are now required are refused.',
            fix: 'Accept the old credentials too until callers have the new ones.',
          },
        },
      ),
      row(
        'admission',
        { action: 'scopes' },
        'api-security-scope-tightened',
        'narrows',
        'the operation requires more scopes: {after} instead of {before}',
        {
          advice: {
            explanation: 'Callers whose tokens lack the new scopes are refused.',
            fix: 'Give callers the scopes before the operation requires them.',
          },
        },
      ),
      row(
        'admission',
        { action: 'withdrawn' },
        'api-security-scope-withdrawn',
        'narrows',
        'the scheme `{scheme}` no longer offers the scope `{scope}`, so that callers that ask for it get no token',
        {
          advice: {
            explanation: 'Callers that ask for the scope get no token.',
            fix: 'Offer the scope until callers no longer ask for it.',
          },
        },
      ),
      row(
        'admission',
        { action: 'loosened' },
        'api-security-loosened',
        'may-widen',
        'the operation lets in more callers: it requires {after} instead of {before}',
        {
          advice: {
            explanation: 'Callers that were refused before can now call the operation.',
            fix: 'Check that this is intended, and what these callers can do.',
          },
        },
      ),
      row(
        'callback-security',
        {},
        'callback-security-changed',
        'moves',
        'the provider authenticates to the receiver by {after} instead of {before}',
        {
          advice: {
            explanation: 'Receivers that check the old credentials refuse the calls of the provider.',
            fix: 'Send the old credentials too until receivers check the new ones.',
          },
        },
      ),
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
      ...(
        [
          ['refreshUrl', 'refresh', 'the refresh address'],
          ['deviceAuthorizationUrl', 'device-authorization', 'the device authorization address'],
        ] as const
      ).map(([part, name, words]) =>
        row(
          'component-scheme-changed',
          { part },
          `api-security-component-oauth-${name}-url-changed`,
          'none',
          `${words} of \`{name}\` is {after} instead of {before}`,
        ),
      ),
      // Clients find everything else there, whatever the flows state.
      ...(
        [
          ['oauth2MetadataUrl', 'oauth-metadata', 'the metadata address'],
          ['openIdConnectUrl', 'open-id-connect', 'the OpenID Connect address'],
        ] as const
      ).map(([part, name, words]) =>
        row(
          'component-scheme-changed',
          { part },
          `api-security-component-${name}-url-changed`,
          'may-narrow',
          `${words} of \`{name}\` is {after} instead of {before}`,
          {
            advice: {
              explanation: 'Clients look for the endpoints and keys of another provider.',
              fix: 'Keep the old address working until clients use the new one.',
            },
          },
        ),
      ),
      row(
        'component-scheme-flow',
        { action: 'added' },
        'api-security-component-oauth-flow-added',
        'none',
        'the scheme `{name}` offers the OAuth flow `{flow}`, too',
      ),
      row(
        'component-scheme-flow',
        { action: 'removed' },
        'api-security-component-oauth-flow-removed',
        'may-narrow',
        'the scheme `{name}` no longer offers the OAuth flow `{flow}`',
        {
          advice: {
            explanation: 'Clients that get their tokens by this flow get no more.',
            fix: 'Keep the flow until clients use another one.',
          },
        },
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
]

function security(
  requirement: 'operation-security' | 'global-security',
  scope: 'operation-scope' | 'global-scope',
  stem: string,
  whose: string,
): readonly OpenApiRow[] {
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
