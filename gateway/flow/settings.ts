/** Settings of the comparison of contracts. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { integer, strict } from '../settings/fields.ts'
import type { ApprovalsConfig } from '../approvals/settings.ts'
import type { ConsumersConfig } from '../consumers/settings.ts'
import type { CurrentSettingsOf, SettingsOf } from '../settings/current.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import type { StoreConfig } from '../store/settings.ts'

export const AnalysisSettings = strict(
  {
    workers: integer(2, 'Worker threads that parse and compare'),
    inline_below: integer(
      64 * 1024,
      'Artifacts smaller than this (both sides, code units) are compared on the main thread, unless their schemas are composed of others or refer to many',
      0,
    ),
    cache: integer(256, 'Comparisons kept by content digest', 0),
  },
  'Where contracts are compared.',
)
export type AnalysisSettings = Static<typeof AnalysisSettings>

/** The part of the configuration that a decision reads. */
export interface FlowConfig extends ApprovalsConfig, ConsumersConfig, LimitsConfig {
  readonly analysis: AnalysisSettings
  readonly ledger: Pick<StoreConfig['ledger'], 'inputs'>
  readonly policy_pin?: string
}
export type FlowSettings = SettingsOf<FlowConfig>
export type CurrentFlowSettings = CurrentSettingsOf<FlowConfig>
