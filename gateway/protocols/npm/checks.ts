/**
 * What a write to a registry is judged by: contracts of a version against those of the previous one, or a receipt where
 * nothing can be compared.
 */
import type { NpmSection } from './settings.ts'
import type { Problem } from '../../../engine/internal.ts'
import { compareTrees } from '../../scm/derivation.ts'
import type { DerivationTerms } from '../../scm/selector.ts'
import type { ResourceCheck } from '../common/action.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { withContent } from '../common/request-digest.ts'
import { readPackageDocument, statesOwnersOnly, unread, type Publication, type Revision } from './document.ts'
import {
  changesOwners,
  NEW_PACKAGE,
  packumentChange,
  predecessorOf,
  readPackument,
  type Packument,
} from './packument.ts'
import type { RegistryClient } from './registry.ts'
import type { NpmRequest } from './request.ts'
import { TarballError } from './archive.ts'
import { readTarball, type PackageTree } from './tarball.ts'

export interface NpmScene {
  readonly rules: NpmSection
  readonly registry: RegistryClient
  readonly terms: DerivationTerms
  /** Digest of the whole request but its path. */
  readonly requestDigest: () => string
}

/** A write that the route denies in so many words. */
export class DeniedWrite extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DeniedWrite'
  }
}

export type NpmWrite = Exclude<NpmRequest, { readonly kind: 'pass' | 'unknown' }>
type WriteOf<Kind extends NpmWrite['kind']> = Extract<NpmWrite, { readonly kind: Kind }>

type WriteCheck<Kind extends NpmWrite['kind']> = (
  request: WriteOf<Kind>,
  body: () => Promise<unknown>,
  scene: NpmScene,
) => readonly ResourceCheck[] | Promise<readonly ResourceCheck[]>

/** None when nothing of it is judged on this route. Rejects with a GatewayError, an UpstreamRefusal or a DeniedWrite. */
export async function checksOf<Kind extends NpmWrite['kind']>(
  request: WriteOf<Kind> & { readonly kind: Kind },
  body: () => Promise<unknown>,
  scene: NpmScene,
): Promise<readonly ResourceCheck[]> {
  const way: WriteCheck<Kind> = WAYS[request.kind]
  return way(request, body, scene)
}

const WAYS: { readonly [Kind in NpmWrite['kind']]: WriteCheck<Kind> } = {
  async document({ name }, body, scene) {
    const document = readPackageDocument(name, await body())
    return document.kind === 'publication' ? publicationChecks(document, scene) : revisionChecks(document, scene)
  },
  async stage({ name }, body, scene) {
    const document = readPackageDocument(name, await body())
    if (document.kind !== 'publication') throw unread('what is staged holds no tarball')
    return publicationChecks(document, scene)
  },
  approval: ({ id }) => [packageReceiptCheck('publish', `stage/${id}`)],
  removal: ({ name, version }, _body, scene) =>
    ruled('unpublish', version === null ? name : `${name}@${version}`, scene),
  tag_removal: ({ name, tag }, _body, scene) => ruled('unpublish', `${name}@${tag}`, scene),
  owners: ({ subject }, _body, scene) => ruled('owners', subject, scene, scene.requestDigest()),
  account: ({ subject }, _body, scene) => ruled('owners', subject, scene),
  tag: async ({ name, tag }, body, scene) => tagChecks(name, [[tag, versionIn(await body())]], scene),
  tags: async ({ name }, body, scene) => tagChecks(name, movesIn(await body()), scene),
}

function versionIn(body: unknown): string {
  if (typeof body === 'string' && body !== '') return body
  throw unread('the body of a dist-tag is the text of its version')
}

function movesIn(body: unknown): readonly (readonly [string, string])[] {
  if (isJsonObject(body)) return Object.entries(body).map(([tag, version]) => [tag, versionIn(version)] as const)
  throw unread('the body is not an object of dist-tags')
}

/** A publication changes what those get who were on the version before it, and on what its tags named. */
async function publicationChecks(publication: Publication, scene: NpmScene): Promise<readonly ResourceCheck[]> {
  const { name, version, tags } = publication
  const packument = await scene.registry.packument(name, false)
  const after = await treeOf(() => Promise.resolve(publication.tarball), scene)
  const before = predecessorOf(version, packument)
  const checks = [await versionCheck(name, version, { before, version, after, packument }, scene)]
  for (const tag of tags) {
    const tagged = packument.tags.get(tag) ?? null
    if (tagged === null || tagged === before || tagged === version) continue
    checks.push(await versionCheck(name, tag, { before: tagged, version, after, packument }, scene))
  }
  // A package that is not there yet has no owners and no access that could change.
  return packument.versions.size === 0 ? checks : [...checks, ...(await actsBeside(publication, scene))]
}

/** Acts that npm has commands of their own for, by which they go here too. */
async function actsBeside(
  { name, version, beside: { isDeprecated, maintainers, access } }: Publication,
  scene: NpmScene,
): Promise<readonly ResourceCheck[]> {
  const { registry } = scene
  const isOwners =
    (maintainers !== undefined && changesOwners(await registry.packument(name, true), maintainers)) ||
    (access !== null && name.startsWith('@') && changesAccess(await registry.isPublic(name), access))
  return [
    ...(isDeprecated ? ruled('deprecate', `${name}@${version}`, scene) : []),
    ...(isOwners ? ruled('owners', name, scene, ownersDigest(maintainers, access)) : []),
  ]
}

/** A receipt is for these owners and this access. */
function ownersDigest(maintainers: unknown, access: 'public' | 'restricted' | null): string {
  return sha256Hex(JSON.stringify([maintainers ?? null, access]))
}

/** @param isPublic null: the registry has no such notion */
function changesAccess(isPublic: boolean | null, access: 'public' | 'restricted'): boolean {
  return isPublic !== null && isPublic !== (access === 'public')
}

/** A tag that moves hands its followers another version. */
async function tagChecks(
  name: string,
  moves: readonly (readonly [tag: string, version: string])[],
  scene: NpmScene,
): Promise<readonly ResourceCheck[]> {
  const packument = await scene.registry.packument(name, false)
  const checks: ResourceCheck[] = []
  for (const [tag, version] of moves) {
    const before = packument.tags.get(tag) ?? null
    if (!packument.versions.has(version)) throw unread(`the registry has no version ${version} of ${name} to tag`)
    const after = await versionTree(name, version, packument, scene)
    checks.push(await versionCheck(name, tag, { before, version, after, packument }, scene))
  }
  return checks
}

/** Acts that a packument without a tarball stands for, each by its own rule. None: nothing that others see. */
async function revisionChecks({ name, packument: next }: Revision, scene: NpmScene): Promise<readonly ResourceCheck[]> {
  const ownership = () => ruled('owners', name, scene, ownersDigest(next['maintainers'], null))
  if (statesOwnersOnly(next)) return ownership()
  const now = await scene.registry.packument(name, true)
  const change = packumentChange(now, readPackument(next) ?? NEW_PACKAGE)
  if (change.strange !== null) throw unread(change.strange)
  const moves = change.retagged.length === 0 ? [] : await tagChecks(name, change.retagged, scene)
  return [
    ...change.removed.flatMap((version) => ruled('unpublish', `${name}@${version}`, scene)),
    ...change.untagged
      .filter((tag) => !change.removed.includes(now.tags.get(tag) ?? ''))
      .flatMap((tag) => ruled('unpublish', `${name}@${tag}`, scene)),
    ...change.deprecated.flatMap((version) => ruled('deprecate', `${name}@${version}`, scene)),
    ...(change.changesOwners ? ownership() : []),
    ...moves,
  ]
}

const OPERATIONS = { unpublish: 'unpublish', deprecate: 'deprecate', owners: 'access' } as const

/**
 * What has nothing to compare. None: the route lets it pass.
 * @param content digest of what a receipt for it names too
 * @throws DeniedWrite
 */
function ruled(
  rule: keyof NpmScene['rules'],
  what: string,
  { rules }: Pick<NpmScene, 'rules'>,
  content: string | null = null,
): readonly ResourceCheck[] {
  if (rules[rule] === 'pass') return []
  const operation = OPERATIONS[rule]
  if (rules[rule] === 'deny')
    throw new DeniedWrite(`This route lets nobody ${WORDS[rule]} (npm.${rule}: deny): ${what}.`)
  return [packageReceiptCheck(operation, what, content)]
}

const WORDS = {
  unpublish: 'take away what is published',
  deprecate: 'change what is said of versions',
  owners: 'change who may publish',
} as const

function packageReceiptCheck(operation: string, what: string, content: string | null = null): ResourceCheck {
  const object = `npm:${what}`
  const target = withContent(object, content)
  return { resource: { name: `${operation} ${object}`, target, scope: null, operation }, basis: { kind: 'receipt' } }
}

type ReadTree = { readonly ok: true; readonly tree: PackageTree } | { readonly ok: false; readonly problem: Problem }

interface VersionSides {
  /** Version; null: none, so all of it is new. */
  readonly before: string | null
  readonly version: string
  readonly after: ReadTree
  readonly packument: Packument
}

async function versionCheck(name: string, label: string, sides: VersionSides, scene: NpmScene): Promise<ResourceCheck> {
  const { after, packument } = sides
  const before = sides.before === null ? EMPTY : await versionTree(name, sides.before, packument, scene)
  const target = `npm:${name}@${label}`
  const resource = { name: `publish ${target}`, target, scope: null, operation: 'publish' } as const
  if (!before.ok || !after.ok) {
    const problems = [before, after].flatMap((side) => (side.ok ? [] : [side.problem]))
    const unreadable = problems.slice(0, 1).map((problem) => ({ id: target, type: 'openapi' as const, problem }))
    return { resource, basis: { kind: 'change_set', artifacts: [], unreadable } }
  }
  const { artifacts, unreadable, problem, selectorHash } = await compareTrees(before.tree, after.tree, scene.terms)
  const origin = { kind: 'derived', derivation: null, commitment: null, problem } as const
  const completeness = { origin, bindingProvenAt: null, selectorHash }
  const release = { name: `npm:${name}`, base: sides.before, head: sides.version }
  return { resource, basis: { kind: 'change_set', artifacts, unreadable, completeness, release } }
}

const EMPTY: ReadTree = { ok: true, tree: new Map() }

function versionTree(name: string, version: string, packument: Packument, scene: NpmScene): Promise<ReadTree> {
  return treeOf(() => scene.registry.tarball(name, version, packument), scene)
}

async function treeOf(bytes: () => Promise<Buffer>, { terms }: NpmScene): Promise<ReadTree> {
  try {
    const { selector, limits } = terms
    const isSelected = (path: string): boolean => selector.isSelected(path)
    return { ok: true, tree: await readTarball(await bytes(), { isSelected, maxFile: limits.maxLength }) }
  } catch (error) {
    if (!(error instanceof TarballError)) throw error
    return {
      ok: false,
      problem: { code: 'ARTIFACT_UNREADABLE', message: `The tarball cannot be judged: ${error.message}.` },
    }
  }
}
