/** The versions that contracts state, in the order of SemVer 2.0.0. Other version schemes have no order here. */

export interface SemanticVersion {
  readonly numbers: readonly [major: number, minor: number, patch: number]
  readonly preRelease: string
}

/** Three numbers, as SemVer §2 wants them; what follows another scheme says nothing about breaking. */
export function parseSemanticVersion(text: string): SemanticVersion | null {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text)
  if (match === null) return null
  const [, major = '', minor = '', patch = '', preRelease = ''] = match
  return { numbers: [Number(major), Number(minor), Number(patch)], preRelease }
}

/** Negative when `a` comes before `b`. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const index of [0, 1, 2] as const) {
    const step = a.numbers[index] - b.numbers[index]
    if (step !== 0) return step
  }
  if (a.preRelease === b.preRelease) return 0
  // SemVer §11.3: a pre-release comes before its release.
  if (a.preRelease === '' || b.preRelease === '') return a.preRelease === '' ? 1 : -1
  return comparePreReleases(a.preRelease.split('.'), b.preRelease.split('.'))
}

/** SemVer §11.4: by parts, numbers as numbers and before words, the shorter one first. */
function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [before, after] = [a[index], b[index]]
    if (before === undefined || after === undefined) return before === undefined ? -1 : 1
    if (before === after) continue
    const [isNumber, isOtherNumber] = [/^\d+$/.test(before), /^\d+$/.test(after)]
    if (isNumber && isOtherNumber) return Number(before) - Number(after)
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
    return before < after ? -1 : 1
  }
  return 0
}
