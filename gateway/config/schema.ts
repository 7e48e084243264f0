/**
 * The whole configuration, one TypeBox schema. The TypeScript type, the JSON Schema, docs/config.md, the chart's values and the
 * names of the environment variables come from it. Unknown members are mistakes.
 */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { Plans, RateSettings, SignupSettings, Tier } from '../api/settings.ts'
import { ApprovalSettings } from '../approvals/settings.ts'
import { BreakGlassSettings } from '../break-glass/settings.ts'
import { ProxyAuth } from '../callers/settings.ts'
import { ConsoleSettings } from '../console/settings.ts'
import { Consumers } from '../consumers/declared.ts'
import { ObservedConsumers } from '../consumers/settings.ts'
import { DiffSettings } from '../documents/settings.ts'
import { AnalysisSettings } from '../flow/settings.ts'
import { SignerSettings } from '../keys/settings.ts'
import { ListenSettings, TransparentSettings } from '../listen/settings.ts'
import { MonitoringSettings } from '../monitoring/settings.ts'
import { NotificationSettings } from '../notifications/settings.ts'
import { RouteSchema, type RouteConfig } from '../protocols/route.ts'
import { ScmSettings } from '../scm/settings.ts'
import { InjectorSection } from '../kubernetes/settings.ts'
import type { CurrentSettingsOf, SettingsOf } from '../settings/current.ts'
import { seconds, strict } from '../settings/fields.ts'
import { Limits } from '../settings/limits.ts'
import { LedgerSettings, StoreSettings } from '../store/settings.ts'
import { HubSettings } from '../hub/settings.ts'
import { StatusListSettings } from '../status-lists/settings.ts'
import { DecisionLogSettings } from '../telemetry/decision-log/settings.ts'
import { OtelSettings } from '../telemetry/otel/settings.ts'
import { LogSettings } from '../telemetry/settings.ts'
import { TlsSettings } from '../tls/settings.ts'
import { EgressSettings } from '../upstream/settings.ts'

export const Config = Type.Object(
  {
    data_dir: Type.String({
      minLength: 1,
      default: '.preflight',
      description: 'Directory of the ledger, the receipt key and the event spool; relative to the working directory.',
    }),
    listen: ListenSettings,
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Address of the API listener for its clients: report_url and issuer of receipts.',
      }),
    ),
    tier: Tier,
    policy: Type.String({
      default: 'default',
      minLength: 1,
      description: 'Name of a shipped policy pack, or path of a pack.yaml.',
    }),
    policy_pin: Type.Optional(
      Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        description: 'policy_hash expected; another one in force is a POLICY_PIN_DRIFT warning.',
      }),
    ),
    store: StoreSettings,
    ledger: LedgerSettings,
    log: LogSettings,
    limits: Limits,
    analysis: AnalysisSettings,
    diff: DiffSettings,
    signup: SignupSettings,
    rate: RateSettings,
    plans: Plans,
    monitoring: MonitoringSettings,
    decision_log: DecisionLogSettings,
    otel: OtelSettings,
    notifications: NotificationSettings,
    signer: SignerSettings,
    status_list: StatusListSettings,
    hub: HubSettings,
    approvals: ApprovalSettings,
    console: ConsoleSettings,
    break_glass: BreakGlassSettings,
    consumers: Consumers,
    egress: EgressSettings,
    proxy_auth: ProxyAuth,
    tls: TlsSettings,
    injector: InjectorSection,
    transparent: TransparentSettings,
    observed_consumers: ObservedConsumers,
    scm: ScmSettings,
    consumers_file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Further consumers, in a YAML or JSON file with the one member `consumers`; relative to this file, and reloaded when it changes.',
      }),
    ),
    reload: Type.Union([Type.Literal('apply'), Type.Literal('refuse_weaker')], {
      default: 'apply',
      description:
        'How a reload that enforces less is handled. apply: it takes effect with a warning. refuse_weaker: the settings in force stay until a restart. Examples: a route removed or observing, authentication off, wider egress, a weaker policy. Settings that cannot be ranked, such as the rules of a map or a condition of a pack, count as weaker with every change.',
    }),
    shutdown: strict({ drain: seconds(20, 'Time for calls in flight to finish at a stop', 0) }, 'SIGTERM.'),
    routes: Type.Array(RouteSchema, {
      default: [],
      description:
        'Routes. A named host has precedence over none, an exact host over *.SUFFIX, then the longest prefix.',
    }),
  },
  { additionalProperties: false, $id: 'config', title: 'Preflight Gateway configuration' },
)

/** The configuration after defaults: frozen, passed on in slices. */
export type Config = Omit<Static<typeof Config>, 'routes'> & { readonly routes: readonly RouteConfig[] }

/** The settings that are in force, with the whole configuration. */
export type Settings = SettingsOf<Config>
export type CurrentSettings = CurrentSettingsOf<Config>
