/** Makes the listeners beside the proxy: API and console, ext_authz, webhooks, hub. Rare ones are loaded where they are set. */
import { createApi } from '../api/serving/listener.ts'
import { configInputSchema } from '../config/input-schema.ts'
import { createConsole } from '../console/serving/console.ts'
import type { GrpcAuthzDeps } from '../ext-authz/grpc.ts'
import type { GrpcListener } from '../ext-authz/grpc-listener.ts'
import { createHttpAuthz } from '../ext-authz/http.ts'
import type { Hub, HubDeps } from '../hub/listener.ts'
import type { Webhooks, WebhooksDeps } from '../kubernetes/webhooks.ts'
import { listenerEntry } from '../listen/secure-entry.ts'
import { createMergeChecks } from '../merge-checks/merge-checks.ts'
import { sniffing } from '../protocols/kubernetes/change.ts'
import { createScmAccess } from '../scm/access.ts'
import { createStatusPublisher } from '../status-lists/publisher.ts'
import type { Inspection } from '../telemetry/inspection.ts'
import type { SecureListener } from '../tls/settings.ts'
import type { Deciding, PartsOptions } from './deciding.ts'
import type { Judging } from './judging.ts'
import type { Listeners } from './listeners.ts'

/** The listeners of calls and checks. The admin listener, which reports on all of them, is made separately. */
type TrafficListeners = Omit<Listeners, 'admin'>

export async function createTrafficListeners(
  { live, metrics, logger, now, closers }: PartsOptions,
  { flow, fleet, notifier, recorder, observer }: Deciding,
  { proxy, bundle, shared }: Judging,
  inspection: Inspection,
): Promise<TrafficListeners> {
  const { store, keys, bodies } = shared
  const settings = live.current
  const { config } = settings()
  const entry = (name: SecureListener) => listenerEntry(name, { settings, metrics, logger })
  const signer = () => keys.signer()
  const statusLists = createStatusPublisher({ store, signer, config: () => settings().config, now })
  const receiptChanged = (decisionId: string): void => {
    proxy.receiptChanged(decisionId)
    statusLists.changed()
  }
  const changes = { receiptChanged, approvalDecided: () => proxy.approvalDecided() }
  const authz = { settings, pipeline: proxy.pipeline, observer, metrics, logger }
  const scm = createScmAccess({ settings, flow, now })
  const console = createConsole({ ...shared, ...changes, fleet, notifier })
  const mergeChecks = createMergeChecks({ ...shared, scm, receiptChanged })
  closers.push(() => mergeChecks.stop())
  mergeChecks.start()
  const api = createApi(
    { ...shared, ...changes, fleet, inspection, configSchema: configInputSchema, scm, statusLists },
    [createHttpAuthz(authz), console, mergeChecks],
    entry('api'),
  )
  const { ext_authz: asked, webhooks: reviewed, hub: joined } = config.listen
  const grpcAuthz = asked === undefined ? null : await openGrpc({ ...authz, entry: entry('ext_authz') })
  const injector = () => settings().config.injector
  const webhooks =
    reviewed === undefined
      ? null
      : await openWebhooks({ ...authz, injector, bodies, sniff: sniffing(flow), entry: entry('webhooks') })
  const hub = joined === undefined ? null : await openHub({ ...shared, recorder, receiptChanged, entry: entry('hub') })
  return { proxy, api, grpcAuthz, webhooks, hub, mergeChecks, bundle }
}

/** Loaded only where it is wanted: an idle sidecar stays small. */
async function openGrpc(deps: GrpcAuthzDeps): Promise<GrpcListener> {
  const { openGrpcAuthz } = await import('../ext-authz/grpc.ts')
  return openGrpcAuthz(deps)
}

async function openHub(deps: HubDeps): Promise<Hub> {
  const { createHub } = await import('../hub/listener.ts')
  return createHub(deps)
}

async function openWebhooks(deps: WebhooksDeps): Promise<Webhooks> {
  const { createWebhooks } = await import('../kubernetes/webhooks.ts')
  return createWebhooks(deps)
}
