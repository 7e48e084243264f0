/** Opens the listeners; an error names the listener that could not be opened, the reason, and what to change. */
import { lookupTable } from '../../engine/base.ts'
import type { Admin } from '../listen/admin.ts'
import type { Api } from '../api/serving/listener.ts'
import type { GrpcListener } from '../ext-authz/grpc-listener.ts'
import { formatAddress, parseAddress } from '../network/listen-address.ts'
import { CONFIG_LEAVES } from '../config/leaves.ts'
import type { Config } from '../config/schema.ts'
import type { Webhooks } from '../kubernetes/webhooks.ts'
import type { Hub } from '../hub/listener.ts'
import type { MergeChecks } from '../merge-checks/merge-checks.ts'
import type { Proxy } from '../enforce/proxy.ts'
import { errorCode, messageOf, StartupError } from '../errors/startup-error.ts'

/** The address of each listener, e.g. `http://127.0.0.1:15080`. */
export type BoundAddresses = Readonly<Record<'proxy' | 'api' | 'admin', string>> & {
  /** Only where it is configured. */
  readonly transparent?: string
  readonly ext_authz?: string
  readonly webhooks?: string
  readonly hub?: string
}

export interface Listeners {
  readonly admin: Admin
  readonly api: Api
  readonly proxy: Proxy
  /** Null: ext_authz over gRPC is off. */
  readonly grpcAuthz: GrpcListener | null
  /** Null: no API server is answered. */
  readonly webhooks: Webhooks | null
  /** Null: no sidecars use this gateway's state. */
  readonly hub: Hub | null
  /** Carries out what webhooks of source-control platforms ask for. */
  readonly mergeChecks: Pick<MergeChecks, 'stop'>
  /** What the listeners write for agents beside the gateway. Null: nothing. */
  readonly bundle: { stop(): void } | null
}

/**
 * Admin first, so that a probe gets an answer during the start; the proxy last, when a call can be judged.
 * @param ownPorts receives each port once it is bound
 */
export async function openListeners(
  { admin, api, proxy, grpcAuthz, webhooks, hub }: Listeners,
  config: Config,
  closers: (() => unknown)[],
  ownPorts: Set<number>,
): Promise<BoundAddresses> {
  const secureOf = (name: keyof BoundAddresses): boolean =>
    name !== 'transparent' && config.tls.listeners[name] !== undefined
  const bind = async (name: keyof BoundAddresses, text: string, listener: Pick<Admin, 'listen'>): Promise<string> => {
    const { host, port } = parseAddress(text)
    try {
      const bound = await listener.listen(host, port)
      ownPorts.add(bound.port)
      const scheme = secureOf(name) ? 'https' : 'http'
      return `${scheme}://${formatAddress({ host: bound.address, port: bound.port })}`
    } catch (error) {
      throw listenFailure(name, text, error)
    }
  }
  const adminAddress = await bind('admin', config.listen.admin, admin)
  closers.push(() => admin.close())
  const apiAddress = await bind('api', config.listen.api, api)
  closers.push(() => api.close(0))
  const proxyAddress = await bind('proxy', config.listen.proxy, proxy)
  closers.push(() => proxy.close(0))
  const { transparent, ext_authz: asked, webhooks: reviewed, hub: joined } = config.listen
  if (webhooks !== null) closers.push(() => webhooks.close(0))
  if (grpcAuthz !== null) closers.push(() => grpcAuthz.close(0))
  if (hub !== null) closers.push(() => hub.close(0))
  return {
    proxy: proxyAddress,
    api: apiAddress,
    admin: adminAddress,
    ...(transparent !== undefined && { transparent: await bind('transparent', transparent, proxy.transparent) }),
    ...(asked !== undefined && grpcAuthz !== null && { ext_authz: await bind('ext_authz', asked, grpcAuthz) }),
    ...(reviewed !== undefined && webhooks !== null && { webhooks: await bind('webhooks', reviewed, webhooks) }),
    ...(joined !== undefined && hub !== null && { hub: await bind('hub', joined, hub) }),
  }
}

/** Why `listen` failed, by the code of the system. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = lookupTable({
  EADDRINUSE: 'another program (or another gateway) uses it',
  EACCES: 'this user may not open it; ports under 1024 usually need a privilege',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is not known',
})

/** Why the listener of this name cannot be opened, and what to change. */
export function listenFailure(name: string, address: string, cause: unknown): StartupError {
  const code = errorCode(cause) ?? ''
  const reason = Object.hasOwn(LISTEN_FAILURES, code) ? LISTEN_FAILURES[code] : messageOf(cause)
  return new StartupError(
    `The ${name} listener cannot be opened on ${address}: ${reason}. ` +
      `Choose another address with listen.${name} or ${variableOf(name)} (port 0 picks a free one).`,
    { cause },
  )
}

/** The documented variable where there is one, else the generated one. */
function variableOf(name: string): string {
  const leaf = CONFIG_LEAVES.find(({ path }) => path === `listen.${name}`)
  return leaf?.aliases[0] ?? leaf?.env ?? ''
}
