/**
 * What a new configuration enforces less than the one in force, as a table of settings with the direction that is weaker. A
 * configuration that was cut off, or whose mount went away for a moment, must not pass for a wish.
 */
import type { CompiledPolicy } from '../../engine/index.ts'
import type { RouteConfig } from './route.ts'
import type { Config } from './schema.ts'

/** One setting that would enforce less. */
export interface Weaker {
  /** In dots; routes by name. */
  readonly path: string
  readonly before: string
  readonly after: string
}

/** What is compared: a configuration and its policy. */
export interface Enforced {
  readonly config: Config
  readonly policy: Pick<CompiledPolicy, 'name' | 'mode' | 'hash'>
}

/** From the strictest to the weakest; a value that is not listed is not ranked. */
interface Ranked<Whole> {
  readonly path: string
  readonly value: (whole: Whole) => string | undefined
  readonly strictestFirst: readonly string[]
}

/** A list in which more, or less, is weaker. */
interface Listed<Whole> {
  readonly path: string
  readonly values: (whole: Whole) => readonly string[]
  readonly weakerBy: 'more' | 'less'
}

const YES_FIRST = ['true', 'false'] as const
const NO_FIRST = ['false', 'true'] as const

const RANKED: readonly Ranked<Enforced>[] = [
  { path: 'policy', value: ({ policy }) => policy.name, strictestFirst: ['strict', 'default', 'observe'] },
  { path: 'policy.mode', value: ({ policy }) => policy.mode, strictestFirst: ['enforce', 'observe'] },
  { path: 'proxy_auth', value: ({ config }) => config.proxy_auth, strictestFirst: ['required', 'off'] },
  { path: 'egress.default', value: ({ config }) => config.egress.default, strictestFirst: ['deny', 'allow'] },
  { path: 'tier', value: ({ config }) => config.tier, strictestFirst: ['verifier', 'gateway', 'sidecar'] },
  {
    path: 'approvals.four_eyes',
    value: ({ config }) => String(config.approvals.four_eyes),
    strictestFirst: YES_FIRST,
  },
  { path: 'signup.enabled', value: ({ config }) => String(config.signup.enabled ?? false), strictestFirst: NO_FIRST },
  { path: 'reload', value: ({ config }) => config.reload, strictestFirst: ['refuse_weaker', 'apply'] },
  {
    path: 'policy_pin',
    value: ({ config }) => (config.policy_pin === undefined ? 'none' : 'pinned'),
    strictestFirst: ['pinned', 'none'],
  },
]

const LISTED: readonly Listed<Enforced>[] = [
  { path: 'egress.allow', values: ({ config }) => config.egress.allow, weakerBy: 'more' },
  { path: 'egress.tunnel', values: ({ config }) => config.egress.tunnel, weakerBy: 'more' },
  { path: 'egress.deny', values: ({ config }) => config.egress.deny, weakerBy: 'less' },
  { path: 'diff.allow_urls', values: ({ config }) => config.diff.allow_urls, weakerBy: 'more' },
  { path: 'break_glass.roles', values: ({ config }) => config.break_glass.roles, weakerBy: 'more' },
]

const OF_ROUTES: readonly Ranked<RouteConfig>[] = [
  { path: 'mode', value: ({ mode }) => mode, strictestFirst: ['enforce', 'observe'] },
  { path: 'failure', value: ({ failure }) => failure, strictestFirst: ['closed', 'open'] },
  { path: 'validate', value: ({ validate }) => validate, strictestFirst: ['enforce', 'observe', 'off'] },
  { path: 'receipts.require', value: ({ receipts }) => String(receipts.require), strictestFirst: YES_FIRST },
  { path: 'receipts.accept', value: ({ receipts }) => String(receipts.accept), strictestFirst: NO_FIRST },
  { path: 'upgrade', value: ({ upgrade }) => upgrade, strictestFirst: ['judged', 'allow'] },
  { path: 'otherwise', value: ({ otherwise }) => otherwise ?? 'default', strictestFirst: ['deny', 'default', 'pass'] },
]

/** Empty when the new settings enforce at least what those in force do. */
export function weakerSettings(before: Enforced, after: Enforced): readonly Weaker[] {
  return [
    ...RANKED.flatMap((row) => rankedLower(row, before, after)),
    ...LISTED.flatMap((row) => listedWeaker(row, before, after)),
    ...before.config.routes.flatMap((route) => weakerRoute(route, after.config)),
  ]
}

function weakerRoute(route: RouteConfig, { routes }: Config): readonly Weaker[] {
  const path = `routes.${route.name}`
  const next = routes.find(({ name }) => name === route.name)
  if (next === undefined) return [{ path, before: route.mode, after: 'gone' }]
  return OF_ROUTES.flatMap((row) => rankedLower({ ...row, path: `${path}.${row.path}` }, route, next))
}

function rankedLower<Whole>(row: Ranked<Whole>, before: Whole, after: Whole): readonly Weaker[] {
  const [was, is] = [row.value(before) ?? '', row.value(after) ?? '']
  const [rankBefore, rankAfter] = [row.strictestFirst.indexOf(was), row.strictestFirst.indexOf(is)]
  // A value of no rank says nothing: another policy pack of one's own, for one.
  return rankBefore === -1 || rankAfter <= rankBefore ? [] : [{ path: row.path, before: was, after: is }]
}

function listedWeaker<Whole>(row: Listed<Whole>, before: Whole, after: Whole): readonly Weaker[] {
  const [was, is] = [row.values(before), row.values(after)]
  const differing = row.weakerBy === 'more' ? missing(is, was) : missing(was, is)
  const [had, has] = row.weakerBy === 'more' ? ['not listed', 'listed'] : ['listed', 'not listed']
  return differing.map((entry) => ({ path: `${row.path}: ${entry}`, before: had, after: has }))
}

/** Entries of `list` that are not in `other`. */
function missing(list: readonly string[], other: readonly string[]): readonly string[] {
  return list.filter((entry) => !other.includes(entry))
}
