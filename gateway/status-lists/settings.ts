/** Settings of the status lists of receipts. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { period, strict } from '../settings/fields.ts'

export const StatusListSettings = strict(
  {
    ttl: period(60, 'How long a verifier may use its copy before it asks again', 1),
    lifetime: period(3600, 'How long a copy is valid for a verifier that cannot ask again', 60),
  },
  'Status lists of receipts (/.well-known/status/…).',
)
export type StatusListSettings = Static<typeof StatusListSettings>

/** The part of the configuration that status lists read. */
export interface StatusListConfig {
  readonly public_url?: string
  readonly status_list: StatusListSettings
}
