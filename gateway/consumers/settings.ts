/** Settings of the observation of consumers. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { integer, period, strict } from '../settings/fields.ts'
import type { Consumers } from './declared.ts'

export const ObservedConsumers = strict(
  {
    window: period(30 * 86_400, 'A consumer that called within this counts; 0 observes nobody', 0),
    limit: integer(1000, 'Consumers of one tool or operation that are distinguished; the rest counts as one'),
  },
  'Who calls through the proxy, by the audience of the key, a keyed hash of the credential or the product of the user agent: blast_radius.consumers_observed.',
)
export type ObservedConsumers = Static<typeof ObservedConsumers>

/** What of the configuration is read about consumers. */
export interface ConsumersConfig {
  readonly consumers: Static<typeof Consumers>
  readonly observed_consumers: ObservedConsumers
  readonly routes: readonly { readonly name: string }[]
}
