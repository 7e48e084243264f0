/**
 * Tunnels that are open: one ends when it would not be opened any more. Egress denies its destination now, a route names
 * its host, or the key of its client has ended. What is in a tunnel is not judged, and may go on for days.
 */
import { stillCaller } from '../callers/proxy-auth.ts'
import { authorityText } from '../network/authority.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Egress } from '../upstream/egress-policy.ts'
import { wayFor, type OpenTunnel, type OpenTunnels } from './connection-decision.ts'
import type { ListenSettingsInForce } from './settings.ts'

interface OpenTunnelsDeps {
  readonly settings: () => ListenSettingsInForce
  readonly egressOf: (settings: Pick<ListenSettingsInForce, 'config'>) => Egress
  readonly store: StorePart<'apiKeys.byHash'> & Pick<Store, 'changes'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const LOOK_MS = 1000

export function createOpenTunnels(deps: OpenTunnelsDeps): OpenTunnels {
  return new FollowedTunnels(deps)
}

class FollowedTunnels implements OpenTunnels {
  readonly #deps: OpenTunnelsDeps
  /** With the configuration that last allowed it. */
  readonly #open = new Map<OpenTunnel, ListenSettingsInForce['config']>()
  #timer: NodeJS.Timeout | null = null
  #isLooking = false

  constructor(deps: OpenTunnelsDeps) {
    this.#deps = deps
  }

  follow(tunnel: OpenTunnel): void {
    const { socket, settings } = tunnel.connectionRequest
    if (socket.destroyed) return
    this.#open.set(tunnel, settings.config)
    socket.once('close', () => this.#forget(tunnel))
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref()
  }

  #forget(tunnel: OpenTunnel): void {
    this.#open.delete(tunnel)
    if (this.#open.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#lookAtEach()
    } finally {
      this.#isLooking = false
    }
  }

  async #lookAtEach(): Promise<void> {
    const answers = new Map<string | null, Promise<boolean>>()
    for (const [tunnel, allowedBy] of this.#open) {
      const { config } = this.#deps.settings()
      const isOpenable = config === allowedBy || this.#isAllowed(tunnel)
      if (isOpenable) this.#open.set(tunnel, config)
      if (!isOpenable || !(await this.#hasKey(tunnel, answers))) this.#end(tunnel)
    }
  }

  #isAllowed({ connectionRequest: { authority }, destination }: OpenTunnel): boolean {
    const settings = this.#deps.settings()
    const egress = this.#deps.egressOf(settings)
    if (wayFor({ authority, settings }, egress).kind !== 'tunnel') return false
    return egress.addressDenialOf(authority, destination.remoteAddress ?? '') === null
  }

  /** Each key is looked up once a round. While the store cannot be read, a tunnel goes on until it can. */
  #hasKey({ holder }: OpenTunnel, answers: Map<string | null, Promise<boolean>>): Promise<boolean> | boolean {
    if (holder === null) return true
    const { settings, store, now } = this.#deps
    const known = answers.get(holder.keyHash)
    if (known !== undefined) return known
    const answer = stillCaller(holder, settings(), store, now()).then(
      (caller) => caller !== null,
      () => true,
    )
    answers.set(holder.keyHash, answer)
    return answer
  }

  #end({ connectionRequest, destination }: OpenTunnel): void {
    const { socket, authority, correlationId } = connectionRequest
    this.#deps.logger.warn(
      { event: 'tunnel.no_longer_allowed', correlation_id: correlationId, destination: authorityText(authority) },
      'tunnel closed: it would not be opened any more',
    )
    socket.destroy()
    destination.destroy()
  }
}
