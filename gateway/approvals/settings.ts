/** Settings of approvals. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import { integer, period, strict } from '../settings/fields.ts'

export const ApprovalSettings = strict(
  {
    four_eyes: Type.Boolean({
      default: true,
      description: 'A key that asked for an approval may not grant or deny it.',
    }),
    needed: integer(1, 'Number of people who have to grant a request'),
    needed_by_group: Type.Record(
      Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }),
      Type.Integer({ minimum: 1 }),
      {
        default: {},
        description: 'The same for requests that the policy gives to a group, by group. The largest number counts.',
      },
    ),
    validity: period(14_400, 'Maximum and default validity of a grant'),
    remind: period(
      3600,
      'Time before the end of a pending request at which channels of notifications get a reminder, once; 0: none',
      0,
    ),
    pending: period(
      86_400,
      'A request that nobody grants or denies within this time expires; a denial is valid as long',
    ),
  },
  'Approvals of changes that the policy answers with REQUIRE_APPROVAL.',
)
export type ApprovalSettings = Static<typeof ApprovalSettings>

/** The part of the configuration that approvals read. */
export interface ApprovalsConfig extends AddressConfig {
  readonly approvals: ApprovalSettings
}
