/** The API on a free port with everything real: flow, engine, SQLite store, receipt keys, policy pack. A test may replace single functions of the store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { CompiledPolicy } from '../../engine/internal.ts'
import { configInputSchema } from '../../gateway/config/input-schema.ts'
import { createApi } from '../../gateway/api/serving/listener.ts'
import { bodyPace, createBodies } from '../../gateway/listen/bodies.ts'
import { RouteBaselines, type BaselineService } from '../../gateway/baselines/baselines.ts'
import { createBreakGlass } from '../../gateway/break-glass/break-glass.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { createRecorder } from '../../gateway/flow/recorder.ts'
import { createFlow } from '../../gateway/flow/authorize.ts'
import type { Flow } from '../../gateway/flow/flow.ts'
import { createInputKeeper, type InputKeeper } from '../../gateway/flow/input-store.ts'
import { createMemoryBudget } from '../../gateway/runtime/memory-budget.ts'
import { apiKeyRow, mintApiKey } from '../../gateway/callers/api-keys.ts'
import { openKeyRing, type KeyRing } from '../../gateway/keys/key-ring.ts'
import { createScmAccess } from '../../gateway/scm/access.ts'
import type { CurrentSettings } from '../../gateway/config/schema.ts'
import { openStore } from '../../gateway/store/opening/open.ts'
import type { Role } from '../../gateway/store/api-keys.ts'
import type { Store } from '../../gateway/store/store.ts'
import { assertDescribed } from './described-answers.ts'
import { withFaults, type StoreFaults } from './store-faults.ts'
import { createStatusPublisher } from '../../gateway/status-lists/publisher.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createObserver } from '../../gateway/telemetry/observer.ts'
import { NO_DECISION_LOG } from '../../gateway/telemetry/decision-log/decision-log.ts'
import { createMetrics, type Metrics } from '../../gateway/telemetry/metrics.ts'
import { createMonitoring, type Monitoring } from '../../gateway/monitoring/monitoring.ts'
import { createAuthorities } from '../../gateway/tls/authorities.ts'
import { loadPolicy } from '../../gateway/config/policy.ts'
import type { GatewayStatus, Inspection } from '../../gateway/telemetry/inspection.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
  readonly text: string
}

export interface ApiFake {
  readonly url: string
  /** Of the store and the keys; `--data-dir` of commands. */
  readonly directory: string
  readonly store: Store
  readonly flow: Flow
  readonly inputs: InputKeeper
  readonly keys: KeyRing
  readonly baselines: BaselineService
  readonly monitoring: Monitoring
  readonly metrics: Metrics
  readonly settings: CurrentSettings
  /** Key of an agent, of the tenant `local`. */
  readonly key: string
  /** Lines of the gateway's own log. */
  readonly log: readonly string[]
  /** Decision ids whose receipts the API said to have changed. */
  readonly changed: readonly string[]
  /** A further key. */
  newKey(
    role: Role,
    rest?: { readonly tenant?: string; readonly plan?: string; readonly groups?: readonly string[] },
  ): Promise<string>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>
  /** Sends JSON with the agent's key; `headers` add to or replace these. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>
  openRequests(): number
  /** Closes the listener only, with time for what is under way. */
  stop(drainMs: number): Promise<void>
  close(): Promise<void>
}

export interface ApiOptions {
  readonly config?: Readonly<Record<string, unknown>>
  readonly storeFaults?: (store: Store) => StoreFaults
  readonly policy?: CompiledPolicy
  readonly now?: () => number
}

export async function startApi(options: ApiOptions = {}): Promise<ApiFake> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-api-'))
  const loaded = loadConfig({ environment: {}, value: { data_dir: directory, ...options.config } })
  if (!loaded.ok) throw new Error(loaded.problem.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const { config } = loaded.value
  const policy = options.policy ?? shippedPolicy(config.policy)
  const settings = () => ({ config, policy, generation: 1 })
  const realStore = await openStore(config)
  const store = withFaults(realStore, options.storeFaults?.(realStore))
  const keys = await openKeyRing(directory)
  const metrics = createMetrics()
  const log: string[] = []
  const changed: string[] = []
  const logger = createLogger('debug', { write: (line: string) => void log.push(line) })
  const now = options.now ?? Date.now
  const memory = createMemoryBudget()
  const inputs = createInputKeeper({ settings, store, memory, logger, now })
  const recorder = createRecorder({ settings, store, signer: () => keys.signer(), now })
  const flow = createFlow({ settings, store, recorder, memory, inputs, metrics, logger, now })
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const monitoring = createMonitoring({
    config: config.monitoring,
    dataDir: directory,
    store,
    metrics,
    logger,
    now,
    output,
  })
  const baselines = new RouteBaselines({ settings, flow, store, metrics, logger, now })
  const breakGlass = createBreakGlass({ store, metrics, logger, now })
  const statusLists = createStatusPublisher({ store, signer: () => keys.signer(), config: () => config, now })
  const receiptChanged = (id: string): void => {
    changed.push(id)
    statusLists.changed()
  }
  const reported = { receiptChanged, approvalDecided: () => {} }
  const api = createApi({
    configSchema: configInputSchema,
    settings,
    store,
    flow,
    keys,
    monitoring,
    baselines,
    fleet: { own: () => null },
    scm: createScmAccess({ settings, flow, now }),
    statusLists,
    bodies: createBodies(memory, () => bodyPace(config.limits)),
    observer: createObserver({ metrics, spans: null }),
    decisionLog: NO_DECISION_LOG,
    inspection: fakeInspection(),
    breakGlass,
    authorities: createAuthorities({ dataDir: directory, ca: config.tls.ca, now }),
    metrics,
    logger,
    now,
    ...reported,
  })
  const { port } = await api.listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${port}`
  const newKey: ApiFake['newKey'] = async (role, rest = {}) => {
    const made = mintApiKey('test')
    await realStore.apiKeys.create(apiKeyRow({ key: made, name: role, role, at: now(), ...rest }))
    return made
  }
  const key = await newKey('agent')
  return {
    url,
    directory,
    store,
    flow,
    inputs,
    keys,
    baselines,
    monitoring,
    metrics,
    settings,
    key,
    log,
    changed,
    newKey,
    get: (path, headers = {}) => ask(url + path, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    post: (path, body, headers = {}) =>
      ask(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    openRequests: () => api.openRequests(),
    stop: (drainMs) => api.close(drainMs),
    async close() {
      await api.close(0)
      await flow.close()
      await inputs.close()
      await monitoring.close()
      await realStore.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Every answer is compared with openapi.json: no test gets one that it does not describe. */
async function ask(url: string, init: RequestInit): Promise<ApiAnswer> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const body: unknown = isJson ? JSON.parse(text) : null
  assertDescribed(init.method ?? 'GET', new URL(url).pathname, response, body)
  return { status: response.status, headers: response.headers, body, text }
}

function shippedPolicy(name: string): CompiledPolicy {
  const loaded = loadPolicy(name, '.')
  if (!loaded.ok) throw new Error(`the policy ${name} does not load`)
  return loaded.value.policy
}

const STATUS: GatewayStatus = {
  version: '0.0.0',
  node: process.version,
  pid: process.pid,
  started_at: '2026-01-01T00:00:00.000Z',
  ready: true,
  checks: {},
  problems: [],
  tier: 'api',
  addresses: {},
  settings: { generation: 1, policy: 'default', policy_hash: '', mistakes: 0, restart: [], log_level: 'info' },
  store: 'memory',
  key_id: '',
  calls: { open: 0, held: 0 },
  routes: [],
  approvals: { pending: 0, oldest_at: null },
  break_glass: [],
  sinks: [],
  windows: 0,
  memory: { resident_bytes: 0, budget_bytes: 0, budget_held_bytes: 0, budget_waiting: 0 },
}

function fakeInspection(): Pick<Inspection, 'status' | 'logLevel' | 'setLogLevel'> {
  let level = 'info'
  return {
    status: () => Promise.resolve(STATUS),
    logLevel: () => level,
    setLogLevel: (next) => {
      level = next
    },
  }
}
