/** Warns of a sidecar whose pins end with its pod: the next pod would pin whatever the upstream offers then. */
import type { Config } from './config/schema.ts'
import { protocolSettings } from './protocols/settings.ts'
import { variable, type Environment } from './settings/environment.ts'
import { isHubUrl } from './store/settings.ts'

/** A sentence for people; null: there is nothing to warn of. Kubernetes sets the variable in every pod. */
export function pinsWarning({ tier, store, routes }: Config, environment: Environment): string | null {
  const isInPod = variable(environment, 'KUBERNETES_SERVICE_HOST') !== null
  if (!isInPod || tier !== 'sidecar' || isHubUrl(store.url)) return null
  const names = routes
    .filter(
      ({ protocol, contract }) =>
        protocolSettings(protocol).contractType !== undefined && contract?.baseline === undefined,
    )
    .map(({ name }) => name)
  if (names.length === 0) return null
  return (
    `The pins of ${names.join(', ')} end with this pod, unless data_dir is on a persistent volume: ` +
    'name a hub (store.url), or a baseline (routes[].contract.baseline).'
  )
}
