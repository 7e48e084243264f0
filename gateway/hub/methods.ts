/**
 * What a caller of the hub may do with the store: one row for each method of each aggregate (docs/reference/hub.md#methods). A
 * method without a row is not carried out for anybody, so this is one table. Every row keeps within the tenant of the caller, whatever it asks for.
 */
import type { TSchema } from 'typebox'
import { randomBytes } from 'node:crypto'
import type { ConsumersConfig } from '../consumers/settings.ts'
import { GatewayError } from '../errors/errors.ts'
import { isJsonObject, readStrictJsonText } from '../json/strict-json.ts'
import type { ApprovalOpening } from '../store/approvals.ts'
import type { BaselineRow } from '../store/baselines.ts'
import type { Aggregates, Store, StoreMethod } from '../store/store.ts'
import { VALUES } from './method-values.ts'
import { requireDigest, setForSidecar, type BaselineWriting } from './baselines.ts'
import type { HubIdentity } from './identity.ts'
import type { HubRole } from './settings.ts'
import { storedOrNull, withOwnRoute, type TenantScope } from './tenant-scope.ts'

type MethodOf<Name extends StoreMethod> = Name extends `${infer Aggregate}.${infer Method}`
  ? Aggregate extends keyof Aggregates
    ? Method extends keyof Aggregates[Aggregate]
      ? Aggregates[Aggregate][Method]
      : never
    : never
  : never

type ValuesOf<Name extends StoreMethod> = MethodOf<Name> extends (...values: infer Values) => unknown ? Values : never

/**
 * What a row works with. A write records the end of approvals and exceptions of all tenants, and removes old uses. So each write has
 * the time of the hub, whatever time the sidecar states.
 */
interface HubScope extends TenantScope {
  readonly store: Store
  readonly flow: BaselineWriting['flow']
  readonly identity: HubIdentity
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly observed: ConsumersConfig['observed_consumers']
}

/** When something happened, as the sidecar states it: no later than now. */
function past({ now }: Pick<HubScope, 'now'>, at: number): number {
  return Math.min(at, now())
}

export interface HubMethod<Values extends readonly unknown[]> {
  readonly roles: readonly HubRole[]
  /** Form of the values; checked before `run`. */
  readonly values: TSchema
  readonly run: (scope: HubScope, ...values: Values) => Promise<unknown>
}

/** The reason why no caller of the hub may use a method. */
interface RefusedCall {
  readonly refused: string
}

type HubMethods = { readonly [Name in StoreMethod]: HubMethod<ValuesOf<Name>> | RefusedCall }

const SIDECAR: readonly HubRole[] = ['sidecar']
const ANY: readonly HubRole[] = ['sidecar', 'verifier']

const refused = (reason: string): RefusedCall => ({ refused: reason })
const BY_PERSON = refused('A person does this at the hub, with a key of its own.')
const HUB_ONLY = refused('Only the hub itself does this.')
const AT_THE_HUB = refused('The hub does this for its sidecars when a decision is recorded.')
const AT_PROMOTION = refused('The hub does this when a person promotes a baseline there.')
const IN_BATCHES = refused('Calls are recorded in batches: POST /hub/v1/calls.')
const NOT_KEPT = refused('Inputs of decisions of sidecars are not kept.')

export const HUB_METHODS: HubMethods = {
  'acts.add': HUB_ONLY,
  'acts.claim': HUB_ONLY,
  'acts.remove': HUB_ONLY,
  'apiKeys.byHash': {
    roles: SIDECAR,
    values: VALUES.hash,
    run: async ({ store, tenant }, hash) => {
      const key = await store.apiKeys.byHash(hash)
      return key?.tenant === tenant ? key : null
    },
  },
  'apiKeys.list': BY_PERSON,
  'apiKeys.identities': BY_PERSON,
  'apiKeys.create': BY_PERSON,
  'apiKeys.revoke': BY_PERSON,
  'apiKeys.signUp': BY_PERSON,
  'apiKeys.change': BY_PERSON,
  'apiKeys.rotate': BY_PERSON,
  'apiKeys.endExpired': HUB_ONLY,
  'apiKeys.removeEndedSignIns': HUB_ONLY,
  'apiKeys.touch': {
    roles: SIDECAR,
    values: VALUES.hashAt,
    run: async ({ store, tenant, now }, hash) => {
      if ((await store.apiKeys.byHash(hash))?.tenant === tenant) await store.apiKeys.touch(hash, now())
    },
  },

  'approvals.open': {
    roles: SIDECAR,
    values: VALUES.approval,
    run: async (scope, opening) => {
      requireReasons(opening)
      const openedAt = scope.now()
      const row = await scope.store.approvals.open({
        ...opening,
        openedAt,
        expiresAt: openedAt + opening.expiresAt - opening.openedAt,
        tenant: scope.owned(opening.tenant),
        route: storedOrNull(scope, opening.route),
      })
      return withOwnRoute(scope, row)
    },
  },
  'approvals.byId': {
    roles: SIDECAR,
    values: VALUES.ownedId,
    run: async (scope, tenant, id) => {
      const row = await scope.store.approvals.byId(scope.owned(tenant), id)
      return row === null ? null : withOwnRoute(scope, row)
    },
  },
  'approvals.list': {
    roles: SIDECAR,
    values: VALUES.approvals,
    run: async (scope, filter) => {
      const tenant = scope.owned(filter.tenant)
      const rows = await scope.store.approvals.list({ ...filter, tenant, now: scope.now() })
      return rows.map((row) => withOwnRoute(scope, row))
    },
  },
  'approvals.pending': {
    roles: SIDECAR,
    values: VALUES.pendingApprovals,
    run: async (scope, filter) => {
      const tenant = scope.owned(filter.tenant)
      const rows = await scope.store.approvals.pending({ ...filter, tenant, now: scope.now() })
      return rows.map((row) => withOwnRoute(scope, row))
    },
  },
  'approvals.tenants': HUB_ONLY,
  'approvals.waiting': HUB_ONLY,
  'approvals.decide': BY_PERSON,
  'approvals.endExpired': HUB_ONLY,
  'approvals.remind': HUB_ONLY,
  'approvals.delegate': BY_PERSON,
  'approvals.delegations': BY_PERSON,
  'approvals.endDelegation': BY_PERSON,
  'approvals.steps': {
    roles: SIDECAR,
    values: VALUES.ownedId,
    run: ({ store, owned }, tenant, id) => store.approvals.steps(owned(tenant), id),
  },
  'approvals.comment': BY_PERSON,
  'approvals.endMoot': AT_PROMOTION,

  'baselines.byRoute': {
    roles: SIDECAR,
    values: VALUES.artifact,
    run: async (scope, route, artifact) =>
      ownBaseline(scope, await scope.store.baselines.byRoute(scope.stored(route), scope.stored(artifact))),
  },
  'baselines.stamp': {
    roles: SIDECAR,
    values: VALUES.artifact,
    run: ({ store, stored }, route, artifact) => store.baselines.stamp(stored(route), stored(artifact)),
  },
  'baselines.list': {
    roles: SIDECAR,
    values: VALUES.none,
    run: async (scope) => (await scope.store.baselines.list()).flatMap((row) => ownBaseline(scope, row) ?? []),
  },
  'baselines.set': {
    roles: SIDECAR,
    values: VALUES.baseline,
    run: async (scope, row, over) => {
      const { stored } = scope
      const setAt = past(scope, row.setAt)
      const wanted = { ...row, route: stored(row.route), artifactId: stored(row.artifactId), setAt }
      return ownBaseline(scope, await setForSidecar(wanted, over, scope))
    },
  },
  'baselines.candidate': {
    roles: SIDECAR,
    values: VALUES.route,
    run: async (scope, route) => {
      const row = await scope.store.baselines.candidate(scope.stored(route))
      return row === null ? null : withOwnRoute(scope, row)
    },
  },
  'baselines.candidates': {
    roles: SIDECAR,
    values: VALUES.none,
    run: async (scope) =>
      (await scope.store.baselines.candidates()).flatMap((row) =>
        scope.own(row.route) === null ? [] : [withOwnRoute(scope, row)],
      ),
  },
  'baselines.setCandidate': {
    roles: SIDECAR,
    values: VALUES.candidate,
    run: (scope, row) => {
      requireDigest(row)
      const seenAt = past(scope, row.seenAt)
      return scope.store.baselines.setCandidate({ ...row, route: scope.stored(row.route), seenAt })
    },
  },
  'baselines.dropCandidate': {
    roles: SIDECAR,
    values: VALUES.route,
    run: ({ store, stored }, route) => store.baselines.dropCandidate(stored(route)),
  },
  'baselines.announceCandidate': {
    roles: SIDECAR,
    values: VALUES.announcement,
    run: ({ store, stored, now }, route, digest) => store.baselines.announceCandidate(stored(route), digest, now()),
  },

  'bindings.list': {
    roles: SIDECAR,
    values: VALUES.tenant,
    run: ({ store, owned }, tenant) => store.bindings.list(owned(tenant)),
  },
  'bindings.record': BY_PERSON,
  'bindings.openChallenge': BY_PERSON,
  'bindings.challenge': BY_PERSON,

  'breakGlass.open': BY_PERSON,
  'breakGlass.list': {
    roles: SIDECAR,
    values: VALUES.breakGlass,
    run: async (scope, filter) => {
      const { route, openAt } = filter
      const rows = await scope.store.breakGlass.list({
        ...filter,
        ...(openAt !== undefined && { openAt: scope.now() }),
        ...(route !== undefined && { route: scope.stored(route) }),
      })
      return rows.flatMap((row) => (scope.own(row.route) === null ? [] : [withOwnRoute(scope, row)]))
    },
  },
  'breakGlass.close': BY_PERSON,
  'breakGlass.use': {
    roles: SIDECAR,
    values: VALUES.routeAt,
    run: async (scope, route) => {
      const row = await scope.store.breakGlass.use(scope.stored(route), scope.now())
      return row === null ? null : withOwnRoute(scope, row)
    },
  },

  'calls.record': IN_BATCHES,
  'calls.recordAll': IN_BATCHES,
  'calls.list': {
    roles: SIDECAR,
    values: VALUES.calls,
    run: async (scope, filter) => {
      const page = await scope.store.calls.list(storedFilter(scope, filter))
      return { ...page, rows: page.rows.map((row) => withOwnRoute(scope, row)) }
    },
  },

  'decisions.record': refused('Decisions are issued and recorded in one step: POST /hub/v1/decisions.'),
  'decisions.byId': {
    roles: SIDECAR,
    values: VALUES.ownedIdFor,
    run: async (scope, tenant, id, audience) => {
      return rowOfTenant(scope, await scope.store.decisions.byId(scope.owned(tenant), id, audience))
    },
  },
  'decisions.byFingerprint': {
    roles: SIDECAR,
    values: VALUES.ownedIdFor,
    run: async (scope, tenant, fingerprint, audience) => {
      return rowOfTenant(scope, await scope.store.decisions.byFingerprint(scope.owned(tenant), fingerprint, audience))
    },
  },
  'decisions.byIdempotencyKey': {
    roles: SIDECAR,
    values: VALUES.ownedKeyFor,
    run: async (scope, tenant, key, since, audience) => {
      return rowOfTenant(scope, await scope.store.decisions.byIdempotencyKey(scope.owned(tenant), key, since, audience))
    },
  },
  'decisions.list': {
    roles: SIDECAR,
    values: VALUES.ledger,
    run: async (scope, filter) => {
      const rows = await scope.store.decisions.list(storedFilter(scope, filter))
      return rows.map((row) => withOwnRoute(scope, row))
    },
  },
  'decisions.counts': {
    roles: SIDECAR,
    values: VALUES.counts,
    run: async (scope, filter) => {
      const counts = await scope.store.decisions.counts({ ...filter, tenant: scope.owned(filter.tenant) })
      return counts.map((row) => withOwnRoute(scope, row))
    },
  },
  'decisions.history': {
    roles: SIDECAR,
    values: VALUES.history,
    run: ({ store, owned }, filter) => store.decisions.history({ ...filter, tenant: owned(filter.tenant) }),
  },

  'fleet.list': {
    roles: SIDECAR,
    values: VALUES.fleet,
    run: ({ store, tenant }, { limit }) => store.fleet.list({ tenant, limit }),
  },
  'fleet.report': refused('A sidecar reports itself with its heartbeat: POST /hub/v1/heartbeat.'),

  'inputs.keep': NOT_KEPT,
  'inputs.keepContent': NOT_KEPT,
  'inputs.byDecision': NOT_KEPT,
  'inputs.content': NOT_KEPT,

  'ledger.changesBehind': HUB_ONLY,
  'ledger.verifyChain': HUB_ONLY,
  'ledger.inspect': HUB_ONLY,
  'ledger.head': HUB_ONLY,
  'ledger.entryHash': HUB_ONLY,
  'ledger.newestCheckpoint': HUB_ONLY,
  'ledger.recordCheckpoint': HUB_ONLY,
  'ledger.accept': HUB_ONLY,
  // The time of the hub: no sidecar moves it.
  'ledger.keepTime': { roles: SIDECAR, values: VALUES.at, run: async ({ now }) => now() },
  'ledger.latestTime': HUB_ONLY,
  'ledger.checkpoints': HUB_ONLY,
  'ledger.beginnings': HUB_ONLY,
  'ledger.entries': HUB_ONLY,
  'ledger.newestCut': HUB_ONLY,
  'ledger.proposeCuts': HUB_ONLY,
  'ledger.recordCuts': HUB_ONLY,
  'ledger.removeBehindCuts': HUB_ONLY,
  'ledger.usedBytes': HUB_ONLY,

  'notifications.notices': HUB_ONLY,
  'notifications.enqueue': HUB_ONLY,
  'notifications.claim': HUB_ONLY,
  'notifications.complete': HUB_ONLY,
  'notifications.log': HUB_ONLY,
  'notifications.backlog': HUB_ONLY,
  'notifications.forget': HUB_ONLY,

  'quotas.count': {
    roles: SIDECAR,
    values: VALUES.quota,
    run: ({ store, owned }, tenant, month, limit) => store.quotas.count(owned(tenant), month, limit),
  },
  'quotas.used': {
    roles: SIDECAR,
    values: VALUES.month,
    run: ({ store, owned }, tenant, month) => store.quotas.used(owned(tenant), month),
  },
  'quotas.ofMonth': HUB_ONLY,

  'receiptKeys.list': HUB_ONLY,
  'receiptKeys.publish': HUB_ONLY,
  'receiptKeys.revoke': BY_PERSON,
  'receipts.state': {
    roles: ANY,
    values: VALUES.id,
    run: async ({ store, tenant }, id) => (await store.decisions.byId(tenant, id))?.receiptState ?? null,
  },
  'receipts.tenants': HUB_ONLY,
  'receipts.consume': {
    roles: ANY,
    values: VALUES.idsAt,
    run: async ({ store, tenant, now }, ids) => {
      const rows = await Promise.all(ids.map((id) => store.decisions.byId(tenant, id)))
      return rows.includes(null) ? false : store.receipts.consume(ids, now())
    },
  },
  'receipts.revoke': {
    roles: SIDECAR,
    values: VALUES.revocation,
    run: ({ store, owned, identity, now }, tenant, id, reason, by) =>
      store.receipts.revoke(owned(tenant), id, reason, `${by} (${identity.name})`, now()),
  },

  'receipts.supersede': HUB_ONLY,

  'statusLists.open': AT_THE_HUB,
  'statusLists.byId': HUB_ONLY,

  'uses.salt': {
    roles: SIDECAR,
    values: VALUES.salt,
    // Other secrets of the installation are derived from it: never one that a sidecar knows.
    run: async ({ store, secret }) => secret(await store.uses.salt(randomBytes(32).toString('hex'))),
  },
  'uses.record': {
    roles: SIDECAR,
    values: VALUES.uses,
    run: (scope, { uses }) => {
      const { store, stored, now, observed } = scope
      return store.uses.record({
        limit: observed.limit,
        since: now() - observed.window * 1000,
        uses: uses.map((use) => ({
          ...use,
          route: stored(use.route),
          target: stored(use.target),
          at: past(scope, use.at),
        })),
      })
    },
  },
  'uses.of': {
    roles: SIDECAR,
    values: VALUES.usesOf,
    run: async ({ store, stored, own }, artifacts, since) => {
      const known = await store.uses.of(artifacts.map(stored), since)
      return known.map((use) => ({ ...use, artifact: own(use.artifact) ?? use.artifact }))
    },
  },

  'webhooks.accept': HUB_ONLY,
  'webhooks.claim': HUB_ONLY,
  'webhooks.complete': HUB_ONLY,
  'webhooks.saveCheck': HUB_ONLY,
  'webhooks.checksAt': HUB_ONLY,
  'webhooks.removeChecks': HUB_ONLY,
  'webhooks.queueDecided': HUB_ONLY,
  'webhooks.backlog': HUB_ONLY,
  'webhooks.forget': HUB_ONLY,

  'windows.open': {
    roles: SIDECAR,
    values: VALUES.window,
    run: async (scope, row) => {
      const route = storedOrNull(scope, row.route)
      const tenant = scope.owned(row.tenant)
      const openedAt = past(scope, row.openedAt)
      await scope.store.windows.open({ ...row, tenant, windowId: scope.stored(row.windowId), route, openedAt })
    },
  },
  'windows.close': {
    roles: SIDECAR,
    values: VALUES.windowEnd,
    run: (scope, id, outcome, at) => scope.store.windows.close(scope.stored(id), outcome, past(scope, at)),
  },
  'windows.listOpen': {
    roles: SIDECAR,
    values: VALUES.none,
    run: async (scope) =>
      (await scope.store.windows.listOpen()).flatMap((row) => {
        const windowId = scope.own(row.windowId)
        return windowId === null || row.tenant !== scope.tenant ? [] : [{ ...withOwnRoute(scope, row), windowId }]
      }),
  },
}

/** People read them in lists. @throws GatewayError INVALID_INPUT */
function requireReasons({ reasons }: Pick<ApprovalOpening, 'reasons'>): void {
  const read = readStrictJsonText(reasons)
  const isRead =
    read.ok &&
    Array.isArray(read.value) &&
    read.value.every(
      (one) => isJsonObject(one) && typeof one['code'] === 'string' && typeof one['message'] === 'string',
    )
  if (!isRead)
    throw new GatewayError('INVALID_INPUT', 'The reasons of a request for approval are a JSON list of reasons.')
}

function ownBaseline(scope: TenantScope, row: BaselineRow | null): BaselineRow | null {
  const [route, artifactId] = row === null ? [null, null] : [scope.own(row.route), scope.own(row.artifactId)]
  return row === null || route === null || artifactId === null ? null : { ...row, route, artifactId }
}

function rowOfTenant<Row extends { readonly route: string | null }>(scope: TenantScope, row: Row | null): Row | null {
  return row === null ? null : withOwnRoute(scope, row)
}

function storedFilter<Filter extends { readonly tenant: string; readonly route?: string }>(
  scope: TenantScope,
  filter: Filter,
): Filter {
  const { tenant, route } = filter
  return { ...filter, tenant: scope.owned(tenant), ...(route !== undefined && { route: scope.stored(route) }) }
}
