/** Settings of approvals. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

export const ApprovalSettings = strict(
  {
    four_eyes: Type.Boolean({
      default: true,
      description: 'A key that asked for an approval may not grant or deny it.',
    }),
    validity: seconds(14_400, 'How long a grant holds at the most, and unless the approver says shorter'),
    pending: seconds(86_400, 'A request that nobody settled within this is expired; a denial holds as long'),
  },
  'Approvals of what the policy holds up with REQUIRE_APPROVAL.',
)
export type ApprovalSettings = Static<typeof ApprovalSettings>

/** What of the configuration approvals read. */
export interface ApprovalsConfig {
  readonly approvals: ApprovalSettings
  readonly public_url?: string
}
