/** Rules about the interface as a whole: components, webhooks, servers, its version. */
import { MALFORMED_PART } from '../row.ts'
import { row, type Section } from './row.ts'

export const INTERFACE_RULES: readonly Section[] = [
  {
    direction: 'none',
    area: 'components',
    kind: 'existence',
    rows: [
      row('component-schema-removed', {}, 'api-schema-removed', 'none', 'the schema `{name}` is no longer defined'),
      row(
        'schema-dialect',
        {},
        'api-schema-dialect-changed',
        'may-narrow',
        'the language of schemas is {after} instead of {before}',
        {
          advice: {
            explanation: 'Another version of JSON Schema may read the same schema in another way.',
            fix: 'Check the schemas against the version that is stated now.',
          },
        },
      ),
      row(
        'malformed-part',
        { isAdded: true },
        'api-added-part-malformed',
        'none',
        'the part `{name}` is new and has to be {form}, which it is not',
        { kind: MALFORMED_PART.kind },
      ),
      row('malformed-part', {}, 'api-part-malformed', 'may-narrow', MALFORMED_PART.sentence, {
        kind: MALFORMED_PART.kind,
      }),
      row('webhook-added', {}, 'webhook-added', 'none', 'the webhook `{name}` was added'),
      row('webhook-removed', {}, 'webhook-removed', 'narrows', 'the webhook `{name}` was removed', {
        advice: {
          explanation: 'Receivers of the webhook get no more events.',
          fix: 'Keep it, mark it deprecated with an x-sunset day, and remove it after that day.',
        },
      }),
      row(
        'dangling-reference',
        {},
        'reference-unresolved',
        'none',
        'the reference `{reference}` names nothing, so that what it stands for was not compared',
      ),
      row('server', { action: 'added' }, 'server-added', 'none', 'the server `{name}` was added'),
      row('server', { action: 'removed' }, 'server-removed', 'may-narrow', 'the server `{name}` was removed', {
        advice: {
          explanation: 'Clients that use this address may no longer reach the service.',
          fix: 'Keep the address working until clients use another one.',
        },
      }),
    ],
  },
  {
    direction: 'none',
    area: 'servers',
    kind: 'existence',
    rows: [
      row(
        'operation-server',
        { action: 'added' },
        'operation-server-added',
        'none',
        'the operation can be reached at the server `{name}`, too',
      ),
      row(
        'operation-server',
        { action: 'removed' },
        'operation-server-removed',
        'may-narrow',
        'the operation can no longer be reached at the server `{name}`',
        {
          advice: {
            explanation: 'Clients that use this address may no longer reach the service.',
            fix: 'Keep the address working until clients use another one.',
          },
        },
      ),
      row(
        'server-variable',
        { part: 'default' },
        'server-variable-default-changed',
        'may-narrow',
        'the variable `{name}` of the address is {after} by default instead of {before}',
        {
          advice: {
            explanation: 'Clients that leave the variable out reach another address.',
            fix: 'Keep the default until clients state the variable themselves.',
          },
        },
      ),
      row(
        'server-variable',
        { part: 'narrowed' },
        'server-variable-narrowed',
        'may-narrow',
        'the variable `{name}` of the address takes {after} instead of {before}',
        {
          advice: {
            explanation: 'Clients that fill in a value that is gone may no longer reach the service.',
            fix: 'Keep the value until no client uses it.',
          },
        },
      ),
      row(
        'server-variable',
        { part: 'widened' },
        'server-variable-widened',
        'none',
        'the variable `{name}` of the address takes {after} instead of {before}',
      ),
    ],
  },
  {
    direction: 'none',
    area: 'info',
    kind: 'version',
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
]
