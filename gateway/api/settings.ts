/** Settings of the API: who may sign up, and how many requests a key may make. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { integer, strict } from '../settings/fields.ts'
import type { BaselinesConfig } from '../baselines/settings.ts'
import type { BreakGlassConfig } from '../break-glass/settings.ts'
import type { ProvidersConfig } from '../callers/settings.ts'
import type { FlowConfig } from '../flow/settings.ts'
import type { ListenSettings } from '../listen/settings.ts'
import type { Route } from '../routing/route.ts'
import type { ScmConfig } from '../scm/settings.ts'
import type { CurrentSettingsOf, SettingsOf } from '../settings/current.ts'

export const SignupSettings = strict(
  { enabled: Type.Optional(Type.Boolean({ description: 'Default: only when the API listens on loopback.' })) },
  'POST /api/signup.',
)
export type SignupSettings = Static<typeof SignupSettings>

export const RateSettings = strict(
  { per_minute: integer(600, 'Counted API requests of one key in a minute') },
  'Rate limit of the API.',
)
export type RateSettings = Static<typeof RateSettings>

export const Plans = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$' }),
  Type.Object({ monthly: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]) }, { additionalProperties: false }),
  {
    default: { free: { monthly: 50 }, pro: { monthly: 1000 }, enterprise: { monthly: null } },
    description: 'Requests a month by plan; null is unlimited.',
  },
)
export type Plans = Static<typeof Plans>

export const Tier = Type.Union([Type.Literal('sidecar'), Type.Literal('gateway'), Type.Literal('verifier')], {
  default: 'sidecar',
  description: 'What this deployment guarantees; stated in every control_envelope.enforcement and in the metrics.',
})
export type Tier = Static<typeof Tier>

/** The part of the configuration that the API reads. */
export interface ApiConfig extends BaselinesConfig, BreakGlassConfig, FlowConfig, ProvidersConfig, ScmConfig {
  readonly console: BaselinesConfig['console'] & ProvidersConfig['console']
  readonly listen: ListenSettings
  readonly plans: Plans
  readonly rate: RateSettings
  readonly routes: readonly Route[]
  readonly signup: SignupSettings
  readonly tier: Tier
}
export type ApiSettings = SettingsOf<ApiConfig>
export type CurrentApiSettings = CurrentSettingsOf<ApiConfig>
