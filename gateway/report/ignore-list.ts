/** Findings that a team has looked at and accepted: taken out of a comparison before it is reported, each by an entry that says why. */
import {
  detectPatterns,
  readSelector,
  type Comparison,
  type Finding,
  type FindingGroup,
  type Occurrence,
} from '../../engine/internal.ts'
import { reportGroup, type ReportGroup } from './diff-report.ts'

/** A finding is ignored when every member that the entry states holds of it. */
export interface IgnoreEntry {
  /** A selector of rules. */
  readonly rule?: string
  /** In any case. */
  readonly method?: string
  /** The path template as the contract writes it. */
  readonly path?: string
  readonly tool?: string
  /** JSON Pointer of the finding, or of something above it. */
  readonly location?: string
  readonly fingerprint?: string
  /** Last day, `YYYY-MM-DD`, on which the entry holds. */
  readonly expires?: string
  readonly reason: string
  /** `file:line:column` of the entry. */
  readonly place: string
}

/** What one entry took out of one group. */
export interface IgnoredGroup {
  readonly group: ReportGroup
  readonly fingerprints: readonly Finding['fingerprint'][]
  readonly reason: string
  readonly place: string
}

interface Ignored {
  /** The remaining findings, and the patterns in them. */
  readonly comparison: Comparison
  readonly ignored: readonly IgnoredGroup[]
  /** Entries that matched nothing, or that have ended. */
  readonly stale: readonly IgnoreEntry[]
}

/** @param today `YYYY-MM-DD` */
export function ignoreFindings(comparison: Comparison, entries: readonly IgnoreEntry[], today: string): Ignored {
  const inForce = entries.filter(({ expires }) => expires === undefined || expires >= today).map(selecting)
  const used = new Set<IgnoreEntry>()
  const ignored: IgnoredGroup[] = []
  const groups = comparison.groups.flatMap((group) => {
    const { kept, taken } = splitGroup(group, inForce)
    for (const [entry, occurrences] of taken) {
      used.add(entry)
      ignored.push({
        group: reportGroup(groupWith(group, occurrences, isOfAnyPlace(entry) ? (group.unlisted ?? 0) : 0)),
        fingerprints: occurrences.map(({ fingerprint }) => fingerprint),
        reason: entry.reason,
        place: entry.place,
      })
    }
    if (kept.length === group.occurrences.length) return [group]
    const unlisted = [...taken.keys()].some(isOfAnyPlace) ? 0 : (group.unlisted ?? 0)
    if (kept.length > 0) return [groupWith(group, kept, unlisted)]
    // Places that are not listed stay until an entry takes any place; a listed one stands for them.
    return unlisted === 0 ? [] : [groupWith(group, group.occurrences.slice(-1), unlisted - 1)]
  })
  const stale = entries.filter((entry) => !used.has(entry))
  const left = ignored.length === 0 ? comparison : { ...comparison, groups, ...detectPatterns(groups) }
  return { comparison: left, ignored, stale }
}

function groupWith(group: FindingGroup, occurrences: readonly Occurrence[], unlisted: number): FindingGroup {
  const { unlisted: _all, ...whole } = group
  return { ...whole, occurrences, ...(unlisted > 0 && { unlisted }) }
}

function isOfAnyPlace({ method, path, tool, fingerprint }: IgnoreEntry): boolean {
  return [method, path, tool, fingerprint].every((member) => member === undefined)
}

interface Split {
  readonly kept: readonly Occurrence[]
  readonly taken: ReadonlyMap<IgnoreEntry, readonly Occurrence[]>
}

/** An entry with the rules that it selects, found out once. */
interface Selecting {
  readonly entry: IgnoreEntry
  readonly selects: (rule: string) => boolean
}

/** Mistakes in selectors were refused with the file (ignore-file.ts). */
function selecting(entry: IgnoreEntry): Selecting {
  const { rule: selected } = entry
  if (selected === undefined) return { entry, selects: () => true }
  const selector = readSelector(selected)
  return { entry, selects: (rule) => (selector.ok ? selector.value.has(rule) : rule === selected) }
}

function splitGroup(group: FindingGroup, entries: readonly Selecting[]): Split {
  const candidates = entries.filter((entry) => holdsOfGroup(entry, group)).map(({ entry }) => entry)
  if (candidates.length === 0) return { kept: group.occurrences, taken: new Map() }
  const kept: Occurrence[] = []
  const taken = new Map<IgnoreEntry, Occurrence[]>()
  for (const occurrence of group.occurrences) {
    const entry = candidates.find((candidate) => holdsOfOccurrence(candidate, occurrence))
    const known = entry === undefined ? kept : taken.get(entry)
    if (known !== undefined) known.push(occurrence)
    else if (entry !== undefined) taken.set(entry, [occurrence])
  }
  return { kept, taken }
}

function holdsOfGroup({ entry: { location }, selects }: Selecting, group: FindingGroup): boolean {
  if (!selects(group.rule)) return false
  return location === undefined || group.location === location || group.location.startsWith(`${location}/`)
}

function holdsOfOccurrence(
  { method, path, tool, fingerprint }: IgnoreEntry,
  { operation, tool: reached, fingerprint: own }: Occurrence,
): boolean {
  return (
    (method === undefined || method.toUpperCase() === operation?.method) &&
    (path === undefined || path === operation?.path) &&
    (tool === undefined || tool === reached) &&
    (fingerprint === undefined || fingerprint === own)
  )
}
