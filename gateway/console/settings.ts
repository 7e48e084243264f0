/** Settings of the web console. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { Provider } from '../callers/settings.ts'
import { period, strict } from '../settings/fields.ts'
import { isLoopback } from '../network/listen-address.ts'
import { absenceAt, mistakeAt } from '../settings/mistake-collector.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'

export const ConsoleSettings = strict(
  {
    enabled: Type.Boolean({ default: true, description: 'Serve the web console at /console of the API listener.' }),
    session: period(28_800, 'Maximum time until a person has to sign in again', 60),
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

/** What the schema cannot say of sign-in: the address that people come back to, and names twice. */
export function checkSignIn({
  console: { enabled, providers },
  public_url: publicUrl,
}: ConsoleConfig & AddressConfig): readonly LocatedMistake[] {
  const hasConsolePages = publicUrl !== undefined && URL.canParse(publicUrl) && new URL(publicUrl).pathname === '/'
  return [
    ...(enabled && providers.length > 0 && !hasConsolePages
      ? [
          absenceAt(
            publicUrl === undefined ? '/console/providers' : '/public_url',
            ['public_url'],
            'the provider sends people back to the address in public_url, which is absent or has a path',
            'set public_url to the origin that browsers use, for example https://preflight.example.org',
          ),
        ]
      : []),
    ...providers.flatMap(({ name, issuer }, index) => {
      const pointer = `/console/providers/${index}`
      const first = providers.findIndex((one) => one.name === name)
      return [
        ...(first === index
          ? []
          : [
              mistakeAt(
                `${pointer}/name`,
                `the provider name "${name}" is used by providers[${first}] too`,
                'names are unique',
              ),
            ]),
        ...(isIssuer(issuer)
          ? []
          : [mistakeAt(`${pointer}/issuer`, 'must be an https address', 'http is for loopback only')]),
      ]
    }),
  ]
}

/** A text that is no URL is a mistake of its own. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  return url === null || url.protocol === 'https:' || isLoopback(url.hostname)
}
