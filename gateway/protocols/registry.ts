/** The recognisers, one for each protocol that a route can name, with what they need of the gateway. */
import type { BaselineService, OfferedContract } from '../baselines/baselines.ts'
import type { BaselinesConfig } from '../baselines/settings.ts'
import type { AnalysisSettings } from '../flow/settings.ts'
import type { MonitoringSettings } from '../monitoring/settings.ts'
import type { ScmConfig } from '../scm/settings.ts'
import type { RouteOf } from './route.ts'
import { readContractSource } from '../documents/contract-source.ts'
import type { ContractSource, Protocol, Route } from '../routing/route.ts'
import type { Upstreams } from '../upstream/pools.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import type { Flow } from '../flow/flow.ts'
import { bindingOf, provenAt } from '../scm/bindings.ts'
import type { StorePart } from '../store/store.ts'
import type { Validator } from '../validation/validator.ts'
import type { Recogniser } from './common/action.ts'
import { createApiConformance } from './http/conformance.ts'
import { createArgocdRecogniser } from './argocd/recogniser.ts'
import { createContractChecks } from './common/contract-checks.ts'
import { createBitbucketRecogniser } from './bitbucket/recogniser.ts'
import { createGithubRecogniser } from './github/recogniser.ts'
import { createGitlabRecogniser } from './gitlab/recogniser.ts'
import { createGraphqlRecogniser } from './graphql/recogniser.ts'
import { createGrpcRecogniser } from './grpc/recogniser.ts'
import { createHttpApiRecogniser } from './http/recogniser.ts'
import { createCluster } from './kubernetes/cluster.ts'
import { createKubernetesRecogniser } from './kubernetes/recogniser.ts'
import { sniffing } from './kubernetes/change.ts'
import { discover, listAll } from './mcp/listing.ts'
import { createLlmRecogniser } from './llm/recogniser.ts'
import { createMcpEdits } from './mcp/edits.ts'
import { createPendingRequests } from './mcp/pending-requests.ts'
import { createMcpRegistryRecogniser } from './mcp-registry/recogniser.ts'
import { OfferedManifests } from './mcp/manifests.ts'
import { createMcpResults } from './mcp/results.ts'
import { createMcpRecogniser } from './mcp/recogniser.ts'
import { createMappedRecogniser } from './mapped/recogniser.ts'
import { createNpmRecogniser } from './npm/recogniser.ts'
import type { ContractTexts } from '../scm/selector.ts'
import type { ScmDeps } from './scm/action.ts'
import type { KubernetesDeps } from './kubernetes/actions.ts'

export type Recognisers = Readonly<Record<Protocol, Recogniser>>

/** The part of the configuration that recognisers read. */
export interface RecognisersConfig extends BaselinesConfig, ScmConfig {
  readonly analysis: AnalysisSettings
  readonly monitoring: Pick<MonitoringSettings, 'window'>
}

/** Each reads the routes of its own protocol. */
type RecognisersByProtocol = { readonly [Name in Protocol]: Recogniser<RouteOf<Name>> }

export interface RecogniserDeps {
  readonly settings: () => { readonly config: RecognisersConfig; readonly generation: number }
  readonly flow: ContractTexts & Pick<Flow, 'readJson'>
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly upstreams: Upstreams
  readonly validator: Validator
  readonly store: StorePart<'bindings.list' | 'calls.record'>
  readonly monitoring: Pick<Monitoring, 'reportViolation'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createRecognisers(deps: RecogniserDeps): Recognisers {
  const { baselines, upstreams, validator, flow, metrics, logger, now, settings } = deps
  const config = () => settings().config
  const checks = createContractChecks({ ...deps, window: () => config().monitoring.window * 1000 })
  const scm = scmDeps(deps)
  const readSource = (source: ContractSource, { contract }: Route): Promise<string> =>
    readContractSource(source, { repository: config().diff.repository, texts: flow }, contract?.origins)
  const contractReading = () => ({
    inlineBelow: config().analysis.inline_below,
    timeoutMs: config().limits.analysis * 1000,
  })
  const contracts = { baselines, logger, metrics, now, contractReading, readSource }
  const recognisers = {
    github: createGithubRecogniser(scm),
    gitlab: createGitlabRecogniser(scm),
    bitbucket: createBitbucketRecogniser(scm),
    mcp: createMcpRecogniser({
      manifests: offeredManifests(deps),
      edits: createMcpEdits({ upstreams, texts: flow, config }),
      results: createMcpResults({ validator, checks, logger }),
      pending: createPendingRequests(),
    }),
    http: createHttpApiRecogniser({
      ...contracts,
      checks,
      conformance: createApiConformance({ validator, config, checks, logger }),
    }),
    grpc: createGrpcRecogniser(contracts),
    graphql: createGraphqlRecogniser({ ...contracts, validator, checks, upstreams, flow, config }),
    argocd: createArgocdRecogniser(),
    mapped: createMappedRecogniser({ upstreams, readSource }),
    llm: createLlmRecogniser({ flow, config }),
    mcp_registry: createMcpRegistryRecogniser({ upstreams, flow }),
    npm: createNpmRecogniser({ upstreams, flow, config }),
    kubernetes: createKubernetesRecogniser(kubernetesDeps(deps)),
  } satisfies RecognisersByProtocol
  return recognisers
}

function offeredManifests(deps: RecogniserDeps): OfferedManifests {
  const { upstreams, metrics, logger, now } = deps
  return new OfferedManifests({
    list: (asker, list) => listAll(asker, list, upstreams),
    discover: (asker) => discover(asker, upstreams),
    onManifest: (route, manifest) => void holdManifest(route, manifest, deps),
    metrics,
    logger,
    now,
  })
}

function kubernetesDeps({ upstreams, flow, metrics, logger }: RecogniserDeps): KubernetesDeps {
  return {
    cluster: createCluster(upstreams),
    sniff: sniffing(flow),
    onWritten({ route, correlationId }, name, result) {
      metrics.count('preflight_written_objects_total', { route: route.name, result })
      if (result !== 'differs') return
      logger.error(
        { event: 'kubernetes.concurrent_change', correlation_id: correlationId, route: route.name, call: name },
        'object changed by another writer while a write to it was judged: the stored object is not the judged one',
      )
    },
  }
}

/** Never rejects: nobody waits for a manifest that was observed in an answer. */
async function holdManifest(
  route: Route,
  manifest: OfferedContract,
  { baselines, logger }: Pick<RecogniserDeps, 'baselines' | 'logger'>,
): Promise<void> {
  try {
    await baselines.baselineFor(route, manifest)
  } catch (error) {
    // The next call asks again, and is not forwarded while there is no baseline.
    logger.error(
      { event: 'manifest.check_failed', err: error, route: route.name },
      'manifest could not be compared with its baseline',
    )
  }
}

function scmDeps({ upstreams, flow, settings, store }: RecogniserDeps): ScmDeps {
  return {
    upstreams,
    flow,
    config: () => settings().config,
    async provenAt(tenant, platform, repository) {
      const binding = await bindingOf(store, tenant, repository, platform)
      return binding === null ? null : provenAt(binding)
    },
  }
}
