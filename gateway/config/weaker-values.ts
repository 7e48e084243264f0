/**
 * Finds what a new configuration enforces less than the one in force, by the table of weaker-settings.ts, the policy and the
 * routes. A truncated configuration, or one whose mount was missing for a moment, must not weaken enforcement unnoticed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Enforced, Weaker } from './enforced.ts'
import type { RouteConfig } from '../protocols/route.ts'
import type { Config } from './schema.ts'
import { WEAKENING, type Weakening } from './weaker-settings.ts'
import { weakerPolicy } from './weaker-policy.ts'
import { isJsonObject } from '../json/strict-json.ts'

const OF_ROUTES = 'routes[].'
const ROWS = Object.entries(WEAKENING)
const CONFIG_ROWS = ROWS.filter(([path]) => !path.includes('[]'))
const ROUTE_ROWS = ROWS.flatMap(([path, row]): [string, Weakening][] =>
  path.startsWith(OF_ROUTES) ? [[path.slice(OF_ROUTES.length), row]] : [],
)

/** Empty when the new settings enforce at least as much as those in force. */
export function weakerSettings(before: Enforced, after: Enforced): readonly Weaker[] {
  return [
    ...weakerPolicy(before, after),
    ...CONFIG_ROWS.flatMap(([path, row]) =>
      weakerLeaf(row, path, settingAt(before.config, path), settingAt(after.config, path)),
    ),
    ...before.config.routes.flatMap((route) => weakerRoute(route, after.config)),
    ...after.config.routes.flatMap((route) => weakerAddition(route, before.config)),
  ]
}

function weakerRoute(route: RouteConfig, { routes }: Config): readonly Weaker[] {
  const path = `routes.${route.name}`
  const next = routes.find(({ name }) => name === route.name)
  if (next === undefined) return [{ path, before: route.mode, after: 'gone' }]
  return ROUTE_ROWS.flatMap(([member, row]) =>
    weakerLeaf(row, `${path}.${member}`, settingAt(route, member), settingAt(next, member)),
  )
}

/** A new route enforces less when it takes calls of another route, or forwards calls without a decision. */
function weakerAddition(route: RouteConfig, { routes }: Config): readonly Weaker[] {
  if (routes.some(({ name }) => name === route.name)) return []
  const path = `routes.${route.name}`
  const other = routes.find((known) => mayTakeFrom(route, known))
  return [
    ...unjudgedCalls(route).map((after) => ({ path, before: 'no route', after })),
    ...(other === undefined ? [] : [{ path, before: `calls of ${other.name}`, after: 'may go by this route' }]),
  ]
}

/** Settings of one route with which it forwards calls without a decision. */
function unjudgedCalls(route: RouteConfig): readonly string[] {
  return ROUTE_ROWS.flatMap(([member, row]) => {
    const value = settingAt(route, member)
    return row.kind === 'ranked' && value !== undefined && row.unjudged === value
      ? [`${member}: ${writtenValue(value)}`]
      : []
  })
}

/** A named host has precedence over a suffix, a suffix over none, then the longer prefix. */
function mayTakeFrom({ match }: RouteConfig, { match: other }: RouteConfig): boolean {
  const [own, theirs] = [asFolder(match.path), asFolder(other.path)]
  if (!sharesHost(match.host, other.host) || hostRank(match.host) < hostRank(other.host)) return false
  if (own.startsWith(theirs)) return true
  return hostRank(match.host) > hostRank(other.host) && theirs.startsWith(own)
}

function asFolder(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

function hostRank(host: string | undefined): number {
  if (host === undefined) return 0
  return host.startsWith('*.') ? 1 : 2
}

function sharesHost(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return true
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  return a === b || isSubdomain(a, b) || isSubdomain(b, a)
}

function isSubdomain(host: string, suffix: string): boolean {
  return suffix.startsWith('*.') && host.endsWith(suffix.slice(1))
}

function weakerLeaf(row: Weakening, path: string, before: unknown, after: unknown): readonly Weaker[] {
  if (isDeepStrictEqual(before, after)) return []
  if (row.kind === 'list') return listedWeaker(row, path, writtenValues(before), writtenValues(after))
  return isWeaker(row, before, after) ? [{ path, before: writtenValue(before), after: writtenValue(after) }] : []
}

function isWeaker(row: Exclude<Weakening, { readonly kind: 'list' }>, before: unknown, after: unknown): boolean {
  if (row.kind === 'ranked')
    return strictnessRank(after, row.strictestFirst) > strictnessRank(before, row.strictestFirst)
  if (row.kind === 'changed') return row.isSet !== true || before !== undefined
  if (row.kind === 'address') return isOverTls(before) && typeof after === 'string' && !isOverTls(after)
  if (row.kind !== 'number') return false
  return row.weakerWhen === 'higher'
    ? numericBound(after, Infinity) > numericBound(before, Infinity)
    : numericBound(after, 0) < numericBound(before, 0)
}

function isOverTls(address: unknown): boolean {
  return typeof address === 'string' && /^https:/i.test(address)
}

function numericBound(value: unknown, absent: number): number {
  return typeof value === 'number' ? value : absent
}

/** A value without a rank counts as the weakest. */
function strictnessRank(value: unknown, strictestFirst: readonly (string | readonly string[])[]): number {
  const text = writtenValue(value)
  const rank = strictestFirst.findIndex((entry) => (typeof entry === 'string' ? entry === text : entry.includes(text)))
  return rank === -1 ? strictestFirst.length : rank
}

function listedWeaker(
  { weakerBy, all }: Extract<Weakening, { readonly kind: 'list' }>,
  path: string,
  before: readonly string[],
  after: readonly string[],
): readonly Weaker[] {
  const [smaller, larger] = weakerBy === 'more' ? [before, after] : [after, before]
  const isIncluded = (entry: string): boolean =>
    smaller.includes(entry) || (all !== undefined && smaller.includes(all.entry) && !all.outside.has(entry))
  const differing = larger.filter((entry) => !isIncluded(entry))
  const [had, has] = weakerBy === 'more' ? ['not listed', 'listed'] : ['listed', 'not listed']
  return differing.map((entry) => ({ path: `${path}: ${entry}`, before: had, after: has }))
}

function writtenValues(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(writtenValue) : []
}

function writtenValue(value: unknown): string {
  if (value === undefined) return 'absent'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** @param path with dots */
function settingAt(root: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      root,
    )
}
