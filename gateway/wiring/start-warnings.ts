/** Problems that do not prevent a start, and that people should know of. */
import type { LiveSettings } from '../config/live-settings.ts'
import type { Config } from '../config/schema.ts'
import { formatMistake } from '../errors/mistake.ts'
import { keyFile } from '../keys/key-file.ts'
import { protocolSettings } from '../protocols/settings.ts'
import { exposedFiles } from '../runtime/private-file.ts'
import { variable, type Environment } from '../settings/environment.ts'
import { isHubUrl } from '../store/settings.ts'
import type { Logger } from '../telemetry/log.ts'
import { authorityFile } from '../tls/authority-file.ts'
import type { State } from './state.ts'

/**
 * Warns of a sidecar whose pins end with its pod: the next pod would pin whatever the upstream offers then. Kubernetes sets
 * the variable in every pod.
 * @returns a sentence for people; null: there is nothing to warn of
 */
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

/** @param pins what is wrong with the pins of this sidecar; null: nothing */
export function logWarnings(
  { warnings }: Pick<LiveSettings, 'warnings'>,
  { bootstrap, dataDir }: Pick<State, 'bootstrap' | 'dataDir'>,
  pins: string | null,
  logger: Logger,
): void {
  if (pins !== null) logger.warn({ event: 'gateway.warning' }, pins)
  for (const warning of warnings) logger.warn({ event: 'settings.warning' }, formatMistake(warning))
  if (bootstrap.warning !== null) logger.warn({ event: 'gateway.warning' }, bootstrap.warning)
  for (const file of exposedFiles([keyFile(dataDir), authorityFile(dataDir)]))
    logger.warn(
      { event: 'keys.readable_by_all', file },
      'every user of this machine can read these private keys: chmod 600',
    )
}
