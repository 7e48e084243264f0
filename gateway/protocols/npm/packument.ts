/** What a registry says of a package: its versions, what its tags name, and which version comes before another. */
import { compareSemanticVersions, parseSemanticVersion } from '../../../engine/base.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'

export interface Packument {
  readonly versions: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  readonly tags: ReadonlyMap<string, string>
  /** All members, for what is compared whole. */
  readonly members: Readonly<Record<string, unknown>>
}

/** Of a name that the registry does not know. */
export const NEW_PACKAGE: Packument = { versions: new Map(), tags: new Map(), members: {} }

/** Null: no packument. */
export function readPackument(value: unknown): Packument | null {
  if (!isJsonObject(value)) return null
  const versions = recordIn(value['versions'])
  const tags = recordIn(value['dist-tags'])
  return {
    versions: new Map(
      Object.entries(versions).filter((entry): entry is [string, Record<string, unknown>] => isJsonObject(entry[1])),
    ),
    tags: new Map(Object.entries(tags).filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    members: value,
  }
}

/**
 * The version that this one follows: the highest below it, whatever was published when. A release follows a release, since
 * nobody is given a pre-release who did not ask for one. Some registries let a version be published anew: it follows
 * itself then. Null: there is none.
 */
export function predecessorOf(version: string, { versions }: Packument): string | null {
  const own = parseSemanticVersion(version)
  if (own === null) return null
  let best: string | null = null
  for (const other of versions.keys()) {
    const parsed = parseSemanticVersion(other)
    if (parsed === null || compareSemanticVersions(parsed, own) > 0) continue
    if (own.preRelease === '' && parsed.preRelease !== '') continue
    const known = best === null ? null : parseSemanticVersion(best)
    if (known === null || compareSemanticVersions(parsed, known) > 0) best = other
  }
  return best
}

/** How a packument that is written differs from the one that is there, as acts that are judged each by its own rule. */
interface PackumentChange {
  readonly removed: readonly string[]
  readonly deprecated: readonly string[]
  readonly untagged: readonly string[]
  readonly retagged: readonly (readonly [tag: string, version: string])[]
  readonly changesOwners: boolean
  /** What no client of a registry does by such a request; null: nothing. */
  readonly strange: string | null
}

export function packumentChange(now: Packument, next: Packument): PackumentChange {
  const kept = [...next.versions].filter(([version]) => now.versions.has(version))
  const added = [...next.versions.keys()].find((version) => !now.versions.has(version))
  const rewritten = kept.find(
    ([version, manifest]) => !isSameJson(lasting(now.versions.get(version)), lasting(manifest)),
  )
  const retagged = [...next.tags].filter(([tag, version]) => now.tags.get(tag) !== version)
  return {
    removed: [...now.versions.keys()].filter((version) => !next.versions.has(version)),
    deprecated: kept.flatMap(([version, manifest]) =>
      (now.versions.get(version)?.['deprecated'] ?? '') === (manifest['deprecated'] ?? '') ? [] : [version],
    ),
    untagged: [...now.tags.keys()].filter((tag) => !next.tags.has(tag)),
    retagged,
    changesOwners: changesOwners(now, next.members['maintainers']),
    strange:
      added !== undefined
        ? `it adds the version ${added} without a tarball`
        : rewritten !== undefined
          ? `it changes what the version ${rewritten[0]} is`
          : strangeMember(now, next),
  }
}

/** @param maintainers that a document states; undefined: it states none */
export function changesOwners(now: Packument, maintainers: unknown): boolean {
  return maintainers !== undefined && !isSameJson(now.members['maintainers'], maintainers)
}

/** Clients write back what they read: a member of the registry's own, or the access, has no reason to differ. */
function strangeMember(now: Packument, next: Packument): string | null {
  const found = Object.entries(next.members).find(
    ([name, value]) => OF_REGISTRY.test(name) && !isSameJson(now.members[name], value),
  )
  return found === undefined ? null : `it changes the member ${JSON.stringify(found[0])}`
}

const OF_REGISTRY = /^_(?!id$|rev$|attachments$)|^access$/

/** A manifest without what may be said anew, and without addresses, which registries write for each reader. */
function lasting(manifest: Readonly<Record<string, unknown>> | undefined): unknown {
  const { deprecated: _deprecated, dist, ...rest } = manifest ?? {}
  const { tarball: _tarball, ...sums } = recordIn(dist)
  return { ...rest, dist: sums }
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]))
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  )
}
