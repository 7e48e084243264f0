/** The part of the configuration that baselines read. */
import type { ApprovalsConfig } from '../approvals/settings.ts'
import type { DocumentsConfig } from '../documents/settings.ts'
import type { Route } from '../routing/route.ts'

export interface BaselinesConfig extends ApprovalsConfig, DocumentsConfig {
  readonly routes: readonly Route[]
}
