/**
 * How far a contract, or its publication, raised its version, and how far its changes require (SemVer 2.0.0). The
 * result is text; the pack decides the effect.
 */
import type { FindingGroup } from '../model/finding.ts'
import { compareSemanticVersions, parseSemanticVersion, type SemanticVersion } from '../common/semantic-version.ts'
import type { OccasionArtifact, Release } from './policy.ts'

const STEPS = ['none', 'patch', 'minor', 'major'] as const
type BumpStep = (typeof STEPS)[number]

/** The fault in the version of one contract. Null if it was raised far enough, or has no version. */
export function bumpFault(artifact: OccasionArtifact, groups: readonly FindingGroup[]): string | null {
  const { id, isAnalysed, isTwoSided, versions } = artifact
  // An added or removed contract has no earlier version. A failed one is unknown and already reported.
  return isAnalysed && isTwoSided && versions !== null ? stepFault(id, versions, groups) : null
}

/** The same for a publication, which covers all the contracts in it. @param groups of all of them */
export function releaseFault(release: Release | null, groups: readonly FindingGroup[]): string | null {
  // Before the first version there is none to compare with.
  return release === null || release.base === null ? null : stepFault(release.name, release, groups)
}

interface Versions {
  readonly base: string | null
  readonly head: string | null
}

function stepFault(id: string, { base, head }: Versions, groups: readonly FindingGroup[]): string | null {
  const needed = neededStep(groups)
  if (needed === 'none') return null
  const requirement = `${id}: the changes ask for a ${needed} version`
  if (!base || !head) return `${requirement}, and the ${base ? 'head' : 'base'} states no version`
  const [before, after] = [parseSemanticVersion(base), parseSemanticVersion(head)]
  if (before === null || after === null)
    return `${requirement}; ${before === null ? base : head} is not a semantic version, so it is unknown whether it was raised`
  const taken = takenStep(before, after)
  if (STEPS.indexOf(taken) >= STEPS.indexOf(inEarlyDays(before, after) ? earlyStep(needed) : needed)) return null
  return `${requirement}; it went from ${base} to ${head}`
}

/** The same answer as `summary.semver` of a diff. */
function neededStep(groups: readonly FindingGroup[]): BumpStep {
  if (groups.some(({ level }) => level === 'breaking')) return 'major'
  return groups.length > 0 ? 'minor' : 'none'
}

function takenStep(before: SemanticVersion, after: SemanticVersion): BumpStep {
  if (compareSemanticVersions(before, after) >= 0) return 'none'
  const [major, minor, patch] = after.numbers
  if (major > before.numbers[0]) return 'major'
  if (minor > before.numbers[1]) return 'minor'
  // 2.0.0-rc.1 → 2.0.0 raises no number: the step was taken when the pre-release began, and is not known here.
  return patch > before.numbers[2] || before.preRelease !== '' ? 'patch' : 'none'
}

/** SemVer §4: before 1.0.0 anything may change; by custom the minor number says what breaks. */
function inEarlyDays(before: SemanticVersion, after: SemanticVersion): boolean {
  return before.numbers[0] === 0 && after.numbers[0] === 0
}

function earlyStep(needed: BumpStep): BumpStep {
  return needed === 'major' ? 'minor' : 'patch'
}
