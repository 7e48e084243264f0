/** Changes of deprecation, sunset dates and stability: whether users of a deprecated element get the promised time. */
import type { Lifecycle } from './annotations.ts'
import { nameValue } from './values.ts'

export interface LifecycleOptions {
  /** Whole days from today until a calendar day `YYYY-MM-DD`. Null: sunset days are not compared with a current day. */
  readonly daysUntil: (day: string) => number | null
  readonly deprecationDaysStable: number
  readonly deprecationDaysBeta: number
  /** An element below this stability is not bound by its contract. */
  readonly minimumStability: Stability
  /** The stability of an element that states none: that of its operation. Absent: stable. */
  readonly impliedStability?: unknown
}

export const STABILITY_LEVELS = ['draft', 'alpha', 'beta', 'stable'] as const
type Stability = (typeof STABILITY_LEVELS)[number]

export function isStability(value: unknown): value is Stability {
  return STABILITY_LEVELS.some((level) => level === value)
}

/** What changed in a life cycle. `days` is the promised time. */
export type LifecycleChange =
  | { readonly kind: 'deprecated' }
  | { readonly kind: 'deprecated-with-sunset'; readonly sunset: string }
  | { readonly kind: 'sunset-missing' }
  | { readonly kind: 'sunset-invalid'; readonly sunset: string }
  | { readonly kind: 'sunset-moved-invalid'; readonly sunset: string }
  | { readonly kind: 'sunset-too-small'; readonly sunset: string; readonly days: number }
  | { readonly kind: 'sunset-moved-too-small'; readonly sunset: string; readonly before: string; readonly days: number }
  | { readonly kind: 'sunset-deleted' }
  | { readonly kind: 'reactivated' }

export function lifecycleChange(
  before: Lifecycle,
  after: Lifecycle,
  options: LifecycleOptions,
): LifecycleChange | null {
  if (before.deprecated && !after.deprecated) return { kind: 'reactivated' }
  if (!after.deprecated) return null
  return before.deprecated ? movedSunset(before, after, options) : newDeprecation(after, options)
}

function newDeprecation(after: Lifecycle, options: LifecycleOptions): LifecycleChange {
  const days = promisedDays(after.stability, options)
  if (after.sunset === null) return days > 0 ? { kind: 'sunset-missing' } : { kind: 'deprecated' }
  const sunset = dayOf(after.sunset)
  if (sunset === null) return { kind: 'sunset-invalid', sunset: nameValue(after.sunset) }
  if (isSooner(options.daysUntil(sunset), days)) return { kind: 'sunset-too-small', sunset, days }
  return { kind: 'deprecated-with-sunset', sunset }
}

function movedSunset(before: Lifecycle, after: Lifecycle, options: LifecycleOptions): LifecycleChange | null {
  if (before.sunset === null || before.sunset === after.sunset) return null
  if (after.sunset === null) return { kind: 'sunset-deleted' }
  const sunsetBefore = dayOf(before.sunset)
  const sunset = dayOf(after.sunset)
  if (sunset === null) return { kind: 'sunset-moved-invalid', sunset: nameValue(after.sunset) }
  if (sunsetBefore === null) return { kind: 'sunset-moved-invalid', sunset: nameValue(before.sunset) }
  const days = promisedDays(after.stability, options)
  const isTooSoon = sunset < sunsetBefore && isSooner(options.daysUntil(sunset), days)
  return isTooSoon ? { kind: 'sunset-moved-too-small', sunset, before: sunsetBefore, days } : null
}

/** How a removal was announced. */
export type RemovalNotice = 'unannounced' | 'announced' | 'after-sunset' | 'before-sunset' | 'sunset-invalid'

export function removalNotice(before: Lifecycle, options: LifecycleOptions): RemovalNotice {
  if (!before.deprecated) return 'unannounced'
  if (before.sunset === null) return 'announced'
  const sunset = dayOf(before.sunset)
  if (sunset === null) return 'sunset-invalid'
  const days = options.daysUntil(sunset)
  // Without a current day nothing shows that the promised time has ended.
  return days === null || days > 0 ? 'before-sunset' : 'after-sunset'
}

function isSooner(daysLeft: number | null, promised: number): boolean {
  return daysLeft !== null && daysLeft < promised
}

function promisedDays(own: unknown, options: LifecycleOptions): number {
  const stability = own ?? options.impliedStability
  if (stability === 'draft' || stability === 'alpha') return 0
  return stability === 'beta' ? options.deprecationDaysBeta : options.deprecationDaysStable
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** The calendar day of an RFC 3339 date or date-time. Null if it is neither. */
export function dayOf(value: unknown): string | null {
  const match = typeof value === 'string' ? DAY.exec(value) : null
  if (match === null) return null
  const [, year = '', month = '', day = ''] = match
  const inMonth =
    Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month))
  return inMonth ? `${year}-${month}-${day}` : null
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Whole days from one calendar day to another. */
export function daysBetween(from: string, to: string): number {
  return dayNumber(to) - dayNumber(from)
}

/** Days since a fixed day of the proleptic Gregorian calendar, by counting years from March. */
function dayNumber(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const shifted = month > 2 ? year : year - 1
  const monthFromMarch = (month + 9) % 12
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leaps + Math.floor((153 * monthFromMarch + 2) / 5) + date
}
