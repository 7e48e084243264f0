/** Settings of the web console. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { Provider } from '../callers/provider-settings.ts'
import { seconds, strict } from '../settings/fields.ts'

export const ConsoleSettings = strict(
  {
    enabled: Type.Boolean({ default: true, description: 'Serve the web console at /console of the API listener.' }),
    session: seconds(28_800, 'Maximum time until a person has to sign in again', 60),
    trace_url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s]*\\{trace_id\\}[^\\s]*$',
        description:
          'Address of a trace in your tracing system. {trace_id} is replaced; pages of decisions link to it.',
      }),
    ),
    providers: Type.Array(Provider, { default: [], description: 'OpenID Connect providers that people sign in with.' }),
  },
  'Web console.',
)
export type ConsoleSettings = Static<typeof ConsoleSettings>

/** The part of the configuration that the console reads. */
export interface ConsoleConfig {
  readonly console: ConsoleSettings
}
