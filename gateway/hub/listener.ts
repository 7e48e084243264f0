/**
 * The hub listener: sidecars and verifiers use the state of this gateway within their own tenant (docs/reference/hub.md). A
 * caller is known before anything of its request is read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TSchema } from 'typebox'
import { readJsonBody } from '../api/serving/body.ts'
import type { ConsumersConfig } from '../consumers/settings.ts'
import { errorAnswer } from '../api/error-answer.ts'
import { sendAnswer } from '../api/serving/send.ts'
import { json, type RouteAnswer } from '../api/route.ts'
import { GatewayError } from '../errors/errors.ts'
import { textIn } from '../json/unchecked-json.ts'
import { RefusedRowError, type Store } from '../store/store.ts'
import type { Flow } from '../flow/flow.ts'
import type { DecisionRecorder } from '../flow/recorder.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Bodies } from '../listen/bodies.ts'
import { createHttpListener, drainingEntry, type DrainingEntry } from '../listen/http-listener.ts'
import { discardRest } from '../network/discard-body.ts'
import { plainEntry, type EntryOf } from '../network/listen.ts'
import { atMostEvery } from '../runtime/at-most-every.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observer } from '../telemetry/observer.ts'
import { withTrace } from '../telemetry/trace-context.ts'
import { recordCalls, recordForCaller, DECISION_REQUEST } from './decisions.ts'
import { identifyHubCaller, type HubIdentity } from './identity.ts'
import { openIssuerKeys, type IssuerKeys } from './issuer-keys.ts'
import { createFeed, type Feed } from './feed.ts'
import { valuesBody, checkedForm } from './forms.ts'
import { followJournal } from './journal-changes.ts'
import { createMembers, HEARTBEAT, type SidecarMembers } from './members.ts'
import { HUB_METHODS } from './methods.ts'
import type { HubConfig, HubSettings } from './settings.ts'
import { tenantScope } from './tenant-scope.ts'
import type { LimitsConfig } from '../settings/limits.ts'

export interface HubDeps {
  readonly settings: () => { readonly config: HubConfig & LimitsConfig & Pick<ConsumersConfig, 'observed_consumers'> }
  readonly store: Store
  readonly recorder: DecisionRecorder
  readonly keys: Pick<KeyRing, 'published'>
  readonly bodies: Bodies
  readonly flow: Pick<Flow, 'readJson' | 'compare'>
  readonly observer: Pick<Observer, 'begin' | 'end'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** A receipt was revoked or consumed: cached decisions of this gateway are looked up again. */
  readonly receiptChanged: (decisionId: string) => void
  readonly entry?: EntryOf
}

export interface Hub extends Pick<DrainingEntry, 'listen' | 'close'> {
  /** Sidecars read the receipt keys again. */
  keysChanged(): void
}

/** The store is probed for all sidecars together, milliseconds. */
const PROBE_INTERVAL = 1000
/** A baseline may be as large as a contract may be. */
const LARGEST_BODY = 64 * 1024 * 1024

export function createHub(deps: HubDeps): Hub {
  const members = createMembers(deps.store, deps.now)
  const { changes } = deps.store
  const journal = changes.announces ? null : followJournal(deps.store, changes.bound)
  const callers = () => deps.settings().config.hub
  const { store, now } = deps
  const feed = createFeed({ changes: journal ?? changes, store, bound: changes.bound, callers, now })
  deps.metrics.sample('preflight_hub_streams', () => feed.count())
  const probe = atMostEvery(PROBE_INTERVAL, deps.now, () => deps.store.probe())
  let opened: { readonly tokens: HubSettings['tokens']; readonly keys: IssuerKeys | null } | null = null
  /** Of the tokens that are accepted now: a reload may name another issuer. */
  const issuerKeys = (): IssuerKeys | null => {
    const { tokens } = deps.settings().config.hub
    if (opened !== null && opened.tokens === tokens) return opened.keys
    void opened?.keys?.close()
    opened = { tokens, keys: tokens === undefined ? null : openIssuerKeys(tokens, deps.now) }
    return opened.keys
  }
  const identify = (request: IncomingMessage): Promise<HubIdentity> =>
    identifyHubCaller(request, {
      settings: () => deps.settings().config.hub,
      issuerKeys: issuerKeys(),
      keyByHash: (hash) => deps.store.apiKeys.byHash(hash),
      now: deps.now,
    })
  const headTimeoutMs = deps.settings().config.limits.head_timeout * 1000
  const server = createHttpListener({ headTimeoutMs }, (request, response) => {
    void serveHub(request, response, identify, { ...deps, members, feed, probe, isClosing: () => !entry.isOpen })
  })
  const entry = drainingEntry(server, deps.entry ?? plainEntry)
  return {
    keysChanged: () => feed.announce({ kind: 'receipt_key', key: [] }),
    listen: (host, port) => entry.listen(host, port),
    async close(drainMs) {
      await opened?.keys?.close()
      await members.close()
      journal?.close()
      feed.close()
      await entry.close(drainMs)
    },
  }
}

interface ServingDeps extends HubDeps {
  readonly members: SidecarMembers
  readonly feed: Feed
  /** A caller shall come back over another connection, which leads to another hub. */
  readonly isClosing: () => boolean
  /** The store of the hub can be written now. */
  readonly probe: () => Promise<void>
}

async function serveHub(
  request: IncomingMessage,
  response: ServerResponse,
  identify: (request: IncomingMessage) => Promise<HubIdentity>,
  deps: ServingDeps,
): Promise<void> {
  // A question of a sidecar is part of the call that the sidecar judges; its own requests, as heartbeats, begin no trace.
  const observation = deps.observer.begin({ method: request.method, headers: request.headers, isPartOnly: true })
  const { correlationId: id, startedAt: receivedAt } = observation
  observation.protocol = 'hub'
  observation.action = requestedAction(request)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  let role = 'unknown'
  let isLastAnswer = false
  let answer: RouteAnswer
  try {
    const identity = await identify(request)
    role = identity.role
    isLastAnswer = endsSoon(identity, deps.now())
    if (request.method === 'GET' && request.url === '/hub/v1/changes') {
      requireSidecar(identity)
      deps.metrics.count('preflight_hub_requests_total', { role, status: '200' })
      return deps.feed.stream(identity, response, lastEventId(request), receivedAt)
    }
    answer = await withTrace(observation.trace, () => hubAnswer(request, identity, gone.signal, deps))
  } catch (error) {
    answer = withTrace(observation.trace, () => errorAnswer(conflictOf(error), id, deps.logger))
  }
  const status = answer.kind === 'json' ? String(answer.status) : '200'
  deps.metrics.count('preflight_hub_requests_total', { role, status })
  try {
    const headers = { 'X-Correlation-ID': id, ...((isLastAnswer || deps.isClosing()) && { Connection: 'close' }) }
    await sendAnswer(response, answer, headers)
    discardRest(request)
  } catch {
    // The caller is gone.
    response.destroy()
  }
  observation.status = response.statusCode
  deps.observer.end(observation)
}

/** A row that the store refuses has the id of another one: a repeated request with the same row is answered before. */
function conflictOf(error: unknown): unknown {
  if (!(error instanceof RefusedRowError)) return error
  return new GatewayError('IDEMPOTENCY_CONFLICT', 'The hub has another row under this id.', { cause: error })
}

/** The path for a span: of a closed set, whatever the caller asks for. */
function requestedAction({ url = '' }: IncomingMessage): string {
  const path = url.split('?', 1)[0] ?? ''
  const operation = OPERATION.exec(path)?.[1]
  if (operation !== undefined) return METHODS.has(operation) ? path : '/hub/v1/operations'
  return PATHS.has(path) ? path : '/hub/v1'
}

const PATHS: ReadonlySet<string> = new Set([
  '/hub/v1/keys',
  '/hub/v1/clock',
  '/hub/v1/calls',
  '/hub/v1/decisions',
  '/hub/v1/heartbeat',
])

/** Milliseconds before its end that a connection with a certificate is closed: the next one brings the renewed certificate. */
const RENEWAL = 30_000

/** A token comes with each request; a certificate is that of the connection. */
function endsSoon({ proof, endsAt }: HubIdentity, now: number): boolean {
  return proof === 'certificate' && endsAt !== null && endsAt - now < RENEWAL
}

const OPERATION = /^\/hub\/v1\/operations\/([A-Za-z]+\.[A-Za-z]+)$/

async function hubAnswer(
  request: IncomingMessage,
  identity: HubIdentity,
  signal: AbortSignal,
  deps: ServingDeps,
): Promise<RouteAnswer> {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  if (request.method === 'GET' && path === '/hub/v1/keys') return json(deps.keys.published())
  if (request.method === 'GET' && path === '/hub/v1/clock') return json(deps.feed.clock())
  if (request.method !== 'POST') throw new GatewayError('NOT_FOUND', 'There is nothing at this address of the hub.')
  const body = await readJsonBody(request, {
    limit: LARGEST_BODY,
    isKnown: true,
    optional: false,
    readJson: (bytes) => deps.flow.readJson(bytes),
    bodies: deps.bodies,
    signal,
  })
  const operation = OPERATION.exec(path)?.[1]
  if (operation !== undefined) return json({ value: (await operate(operation, body, identity, deps)) ?? null })
  requireSidecar(identity)
  if (path === '/hub/v1/calls') return json(await recordCalls(body, identity, deps))
  if (path === '/hub/v1/decisions') {
    const { hub } = deps.settings().config
    return json({ envelope: await recordForCaller(checkedForm(DECISION_REQUEST, body), identity, { ...deps, hub }) })
  }
  if (path === '/hub/v1/heartbeat') {
    const { member } = checkedForm(HEARTBEAT, body)
    if (member !== undefined) deps.members.seen(identity, member)
    await deps.probe()
    return json({ at: deps.now(), tenant: identity.tenant, role: identity.role })
  }
  throw new GatewayError('NOT_FOUND', 'There is nothing at this address of the hub.')
}

function lastEventId({ headers }: IncomingMessage): string | null {
  const id = headers['last-event-id']
  return textIn(id)
}

function requireSidecar({ role }: HubIdentity): void {
  if (role !== 'sidecar') throw new GatewayError('FORBIDDEN', `The role ${role} may not do this.`)
}

/** A row of the table, with its types erased: the form of the values is checked instead. */
interface ErasedMethod {
  readonly roles: readonly string[]
  readonly values: TSchema
  readonly run: (...values: never[]) => Promise<unknown>
}
type ErasedRow = ErasedMethod | { readonly refused: string }

const METHODS: ReadonlyMap<string, ErasedRow> = new Map(Object.entries<ErasedRow>(HUB_METHODS))

async function operate(name: string, body: unknown, identity: HubIdentity, deps: HubDeps): Promise<unknown> {
  const method = METHODS.get(name)
  if (method === undefined) throw new GatewayError('NOT_FOUND', `The hub knows no operation ${name}.`)
  if ('refused' in method) throw new GatewayError('FORBIDDEN', method.refused)
  if (!method.roles.includes(identity.role))
    throw new GatewayError('FORBIDDEN', `The role ${identity.role} may not use ${name}.`)
  const { values } = checkedForm(valuesBody(method.values), body)
  const { store, flow, now } = deps
  const { observed_consumers: observed } = deps.settings().config
  const scope = { ...tenantScope(identity.tenant), store, flow, identity, now, observed }
  // The form of the values was checked for this very method.
  const value: unknown = await Reflect.apply(method.run, undefined, [scope, ...values])
  const [first, second] = values
  if (name === 'receipts.revoke') deps.receiptChanged(String(second))
  if (name === 'receipts.consume') for (const id of [first].flat()) deps.receiptChanged(String(id))
  return value
}
