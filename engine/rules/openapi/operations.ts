/** Rules about operations: addition, removal, lifecycle, identity. */
import type { OpenApiFacts } from './changes.ts'
import { row, type OpenApiRow, type Section } from './row.ts'

export const OPERATION_RULES: readonly Section[] = [
  {
    direction: 'none',
    area: 'paths',
    kind: 'existence',
    rows: [
      row('operation-added', {}, 'endpoint-added', 'none', 'the operation was added'),
      // The id has the form of the removed operation's rule, and so has the description.
      row(
        'operation-lifecycle',
        { kind: 'sunset-moved-invalid' },
        'api-path-sunset-parse',
        'narrows',
        'the sunset day was moved, and `{sunset}` is no date',
      ),
      row(
        'path-shadowed',
        {},
        'api-path-shadowed',
        'may-narrow',
        'the new path `{name}` takes some calls of the operation',
        {
          advice: {
            explanation: 'Calls that match both paths now reach the other operation.',
            fix: 'Choose a path that no existing path matches.',
          },
        },
      ),
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
        'callback-address',
        {},
        'callback-address-changed',
        'moves',
        'the callback `{name}` goes to {after} instead of {before}',
        {
          advice: {
            explanation: 'The provider calls another address. A receiver at the old one gets nothing.',
            fix: 'Call both addresses until receivers have moved.',
          },
        },
      ),
      row(
        'link',
        { action: 'removed' },
        'response-link-removed',
        'may-narrow',
        'the link `{name}` of the response {status} was removed',
        {
          advice: {
            explanation: 'Clients that follow the link no longer find the next operation.',
            fix: 'Keep the link until clients know the operation themselves.',
          },
        },
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
        {
          advice: {
            explanation: 'Clients that follow the link now call another operation.',
            fix: 'Add the new link under another name.',
          },
        },
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
        'the sunset day was moved from {before} to {sunset}, less than {days} days ahead',
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
]

/** The four rules about a removed operation, by how it was announced. */
function removal(isWholePath: boolean, stem: string, what: string): readonly OpenApiRow[] {
  const when = (verdict: OpenApiFacts['operation-removed']['removal']) => ({ isWholePath, removal: verdict })
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
      { kind: 'lifecycle' },
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
