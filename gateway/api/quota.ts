/**
 * The limits of one key: requests in a minute (counted here) and in a month by its plan (counted in the store)
 * (docs/reference/api.md#limits-and-rate-headers, docs/reference/api.md#discovery-and-accounts).
 */
import type { Plans } from './settings.ts'
import { addressFamily, canonicalAddress } from '../network/address.ts'
import { GatewayError } from '../errors/errors.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { StorePart } from '../store/store.ts'

const MINUTE_MS = 60_000

export interface MinuteRate {
  /** Counts one request; RATE_LIMITED when the minute is full. Returns the rate headers. */
  take(name: string, limit: number, now: number): Readonly<Record<string, string>>
  /** The same under several limits: it is counted under all, or refused by the first that is full and counted under none. */
  takeEach(limits: readonly RateLimit[], now: number): Readonly<Record<string, string>>
}

interface RateLimit {
  readonly name: string
  readonly limit: number
}

/** Requests in a minute without a key, of one kind. */
export interface StrangersLimits {
  readonly address: number
  readonly everybody: number
}

/** Who asks without a key. */
export interface Stranger {
  /** Of the connection. */
  readonly address: string | undefined
  /** What the request is about, if it names it, and how often in a minute. */
  readonly account?: RateLimit
}

/** The narrow limits first: who exceeds one of them takes no room of everybody. So there are never more names than that room. */
export function strangersLimits(
  kind: string,
  { address, everybody }: StrangersLimits,
  stranger: Stranger,
): readonly RateLimit[] {
  const { account } = stranger
  return [
    { name: `${kind} from ${networkOf(stranger.address)}`, limit: address },
    ...(account === undefined ? [] : [{ name: `${kind} for ${account.name}`, limit: account.limit }]),
    { name: kind, limit: everybody },
  ]
}

/** An IPv6 client chooses among the addresses of its network. */
function networkOf(address = ''): string {
  const canonical = canonicalAddress(address)
  if (canonical === null || addressFamily(canonical) === 'ipv4') return canonical ?? ''
  const [start = '', end] = canonical.split('::')
  const [groups, rest] = [start, end ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = end === undefined ? 0 : 8 - (groups?.length ?? 0) - (rest?.length ?? 0)
  return [...(groups ?? []), ...Array<string>(zeros).fill('0'), ...(rest ?? [])].slice(0, 4).join(':')
}

/** Fixed windows of a minute, one map for all keys, dropped as a whole when the minute has ended. */
export function createMinuteRate(): MinuteRate {
  let window = 0
  let counts = new Map<string, number>()
  const takeEach: MinuteRate['takeEach'] = (limits, now) => {
    const current = Math.floor(now / MINUTE_MS)
    if (current !== window) {
      window = current
      counts = new Map()
    }
    const wait = Math.ceil(((current + 1) * MINUTE_MS - now) / 1000)
    const taken = limits.map(({ name, limit }) => ({ name, limit, count: (counts.get(name) ?? 0) + 1 }))
    const full = taken.find(({ limit, count }) => count > limit)
    if (full !== undefined)
      throw new GatewayError('RATE_LIMITED', undefined, {
        headers: { ...rateHeaders(full), 'Retry-After': String(wait) },
      })
    for (const { name, count } of taken) counts.set(name, count)
    const [first] = taken
    return first === undefined ? {} : rateHeaders(first)
  }
  return { takeEach, take: (name, limit, now) => takeEach([{ name, limit }], now) }
}

function rateHeaders({
  limit,
  count,
}: {
  readonly limit: number
  readonly count: number
}): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit-Minute': String(limit),
    'X-RateLimit-Remaining-Minute': String(Math.max(0, limit - count)),
  }
}

/** Counts one request of the month; QUOTA_EXCEEDED when none is left. Returns the rate headers. */
export async function takeMonthly(
  caller: ApiKey,
  plans: Plans,
  store: StorePart<'quotas.count'>,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const limit = monthlyLimit(caller, plans)
  // An unlimited plan needs no count, and so no write: analyses work while the store does not.
  if (limit === null) return monthlyHeaders('unlimited', 'unlimited')
  const count = await store.quotas.count(caller.tenant, monthOf(now), limit)
  if (count === null) {
    throw new GatewayError('QUOTA_EXCEEDED', `The plan "${caller.plan}" has ${limit} requests a month; all are used.`, {
      headers: { ...monthlyHeaders(String(limit), '0'), 'Retry-After': String(secondsToNextMonth(now)) },
    })
  }
  return monthlyHeaders(String(limit), String(limit - count))
}

/** The rate headers of an answer that uses no request of the month: a replay, or a refused request. */
export async function showMonthly(
  caller: ApiKey,
  plans: Plans,
  store: StorePart<'quotas.used'>,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const limit = monthlyLimit(caller, plans)
  if (limit === null) return monthlyHeaders('unlimited', 'unlimited')
  const used = await store.quotas.used(caller.tenant, monthOf(now))
  return monthlyHeaders(String(limit), String(Math.max(0, limit - used)))
}

/** What the keys of one tenant and one plan may ask for in this month. */
export interface MonthlyQuota {
  readonly tenant: string
  readonly plan: string
  /** Keys in force under it. */
  readonly keys: number
  /** Null: unlimited; undefined: the configuration has no such plan, so the keys are refused. */
  readonly limit: number | null | undefined
  /** Counted for the tenant, by its keys of all limited plans. */
  readonly used: number
}

/** By tenant and plan, in the order of their names. @param keys those in force */
export async function monthlyQuotas(
  keys: readonly Pick<ApiKey, 'tenant' | 'plan'>[],
  plans: Plans,
  store: StorePart<'quotas.ofMonth'>,
  now: number,
): Promise<readonly MonthlyQuota[]> {
  const used = new Map((await store.quotas.ofMonth(monthOf(now))).map((row) => [row.tenant, row.used]))
  const groups = Map.groupBy(keys, ({ tenant, plan }) => `${tenant}\n${plan}`)
  return [...groups.keys()].toSorted().flatMap((name) => {
    const [first, ...others] = groups.get(name) ?? []
    if (first === undefined) return []
    const { tenant, plan } = first
    return [{ tenant, plan, keys: others.length + 1, limit: planOf(plan, plans)?.monthly, used: used.get(tenant) ?? 0 }]
  })
}

/** When the counts of the month begin again, milliseconds since the epoch. */
export function monthEnd(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

function planOf(name: string, plans: Plans): Plans[string] | undefined {
  return Object.hasOwn(plans, name) ? plans[name] : undefined
}

/** @throws GatewayError FORBIDDEN for a plan that is not configured. */
function monthlyLimit(caller: ApiKey, plans: Plans): number | null {
  const plan = planOf(caller.plan, plans)
  if (plan === undefined) {
    throw new GatewayError('FORBIDDEN', `The plan "${caller.plan}" of this key is not in the configuration (plans).`)
  }
  return plan.monthly
}

function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7)
}

function monthlyHeaders(limit: string, remaining: string): Readonly<Record<string, string>> {
  return { 'X-RateLimit-Limit-Monthly': limit, 'X-RateLimit-Remaining-Monthly': remaining }
}

function secondsToNextMonth(now: number): number {
  return Math.ceil((monthEnd(now) - now) / 1000)
}
