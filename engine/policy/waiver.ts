/**
 * Waivers: accepted findings until a day, each with an owner. A waiver lowers to WARN, never to ALLOW, so the finding
 * stays visible.
 */
import type { FindingGroup, Occurrence } from '../model/finding.ts'
import type { Problem } from '../common/result.ts'
import { readSelector, type RuleSelector } from '../rules/catalog/selector.ts'
import type { Waiver, WaiverStanding } from './policy.ts'
import type { PolicyDocument } from './schema.ts'

/** Seconds before its end from which a waiver warns. */
const NOTICE = 14 * 86_400

export interface CompiledWaiver extends Waiver {
  /** Seconds since the epoch; void from then on. */
  readonly until: number
  readonly rule: RuleSelector | null
  readonly location: string | null
  readonly fingerprint: string | null
}

type WaiverEntry = NonNullable<PolicyDocument['waivers']>[number]

export function compileWaivers(
  entries: readonly WaiverEntry[],
  code: string,
): { readonly waivers: readonly CompiledWaiver[]; readonly problems: readonly Problem[] } {
  const waivers: CompiledWaiver[] = []
  const problems: Problem[] = []
  const seen = new Set<string>()
  entries.forEach(({ id, reason, owner, expires, ...match }, index) => {
    const pointer = `/waivers/${index}`
    const until = expiryOf(expires)
    if (until === null)
      problems.push({
        code,
        message: `waiver ${id}: ${expires} is not a day of the calendar`,
        pointer: `${pointer}/expires`,
      })
    if (seen.has(id)) problems.push({ code, message: `waiver id ${id} is used twice`, pointer: `${pointer}/id` })
    seen.add(id)
    const { location = null, fingerprint = null } = match
    const rule = match.rule === undefined ? null : readSelector(match.rule)
    if (rule?.ok === false) {
      const { message, fix } = rule.problem
      problems.push({ code, message: `waiver ${id}: ${message}: ${fix}`, pointer: `${pointer}/rule` })
    }
    // A waiver with a mistake is never asked: the pack does not load.
    const selector = rule?.ok === true ? rule.value : null
    waivers.push({ id, reason, owner, expires, until: until ?? 0, rule: selector, location, fingerprint })
  })
  return { waivers, problems }
}

/** The waiver with the latest end that fits; every member that it states has to. */
export function waiverFor(
  waivers: readonly CompiledWaiver[],
  group: FindingGroup,
  occurrence: Occurrence,
): CompiledWaiver | null {
  let found: CompiledWaiver | null = null
  for (const waiver of waivers) {
    const fits =
      (waiver.rule === null || waiver.rule.has(group.rule)) &&
      (waiver.fingerprint === null || waiver.fingerprint === occurrence.fingerprint) &&
      (waiver.location === null ||
        group.location === waiver.location ||
        group.location.startsWith(`${waiver.location}/`))
    if (fits && (found === null || waiver.until > found.until)) found = waiver
  }
  return found
}

export function waiverStanding(waiver: CompiledWaiver, now: number): WaiverStanding {
  if (now >= waiver.until) return 'expired'
  return now >= waiver.until - NOTICE ? 'expires_soon' : 'in_force'
}

/** Null when the text names no day or instant that exists: Date would roll 31 February over in silence. */
function expiryOf(expires: string): number | null {
  const isDay = expires.length === 10
  const start = new Date(isDay ? `${expires}T00:00:00Z` : expires)
  if (Number.isNaN(start.getTime()) || !start.toISOString().startsWith(expires.replace('Z', ''))) return null
  return start.getTime() / 1000 + (isDay ? 86_400 : 0)
}
