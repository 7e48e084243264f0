/**
 * Compares two texts of custom resource definitions into finding groups. Resources and their versions are matched by
 * name.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { CompareOptions, FormatOptions, FormatComparison } from '../../model/format.ts'
import { readDocuments } from '../../contracts/document.ts'
import { readCrds, type Crd, type CrdBundle, type CrdVersion } from '../../contracts/k8s-crd/contract.ts'
import { plainObjectSchema } from '../../contracts/k8s-crd/plain-schema.ts'
import { malformedCrdParts } from '../../contracts/k8s-crd/parts.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import {
  danglingReferences,
  sortedReferences,
  unresolvedIn,
  type UnresolvedReference,
} from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { Report } from '../../rules/judging/report.ts'
import { CRD_RULES, type CrdRuleId } from '../../rules/k8s-crd/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { CRD_OBJECT } from '../../schema/sites.ts'
import { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { Located } from '../../schema/located.ts'
import type { SchemaSource } from '../../schema/source.ts'
import { readSides } from '../sides.ts'
import { contractWalk, type ContractWalk } from '../contract-walk.ts'
import { compareMalformed } from '../malformed-parts.ts'
import { walkOptionsOf } from '../options.ts'
import { compareExtensions } from './extensions.ts'
import { compareResource, compareVersionParts, conversionOf, storedIn, type AddCrdChange } from './resource.ts'

type CrdWalk = ContractWalk<CrdRuleId>

/** Whether objects of one version keep what they hold when they are read as the other one. */
type LosslessTest = (one: CrdVersion, other: CrdVersion) => boolean

const NOTHING: CrdBundle = { crds: new Map(), apiVersion: null, locate: () => null }

/** Compares the definitions of both sides. An empty side contains none. */
export function compareCrds(
  before: string,
  after: string,
  options: FormatOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const lifecycle = walkOptionsOf(options)
  if (!lifecycle.ok) return lifecycle
  const sides = readSides(before, after, (text) => readBundle(text, options))
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const locate = { base: base.locate, head: head.locate }
  const report = new Report({ ...judgeById<CrdRuleId>(CRD_RULES), levels: options.levels, sha256, locate })
  const walk = contractWalk(report, lifecycle.value)
  const isLossless: LosslessTest = (one, other) => {
    const own = new Report({ ...judgeById<CrdRuleId>(CRD_RULES), sha256, locate })
    compareVersionSchemas(one, other, { name: '', where: '' }, contractWalk(own, lifecycle.value))
    return own.finish().every(({ level }) => level === 'info')
  }
  let examined = 0
  for (const name of [...new Set([...base.crds.keys(), ...head.crds.keys()])].sort(byCodeUnit)) {
    const [before, after] = [base.crds.get(name), head.crds.get(name)]
    examined += compareCrd(name, before, after, isLossless, walk)
    if (before !== undefined && after !== undefined)
      reportUnconverted(before, after, isLossless, reportWithin(walk, name))
  }
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: countVersions(base), head: countVersions(head) },
      schemas_compared: examined,
      touched: report.touched,
    },
    spec_versions: { base: base.apiVersion, head: head.apiVersion },
    unresolved: sortedReferences([...unresolvedInSchemas('base', base), ...unresolvedInSchemas('head', head)]),
  })
}

/** Kubernetes resolves no reference, so the target of one was not compared (apiextensions v1, structural schemas). */
function unresolvedInSchemas(side: 'base' | 'head', { crds }: CrdBundle): readonly UnresolvedReference[] {
  const schemas = [...crds.values()].flatMap(({ versions }) => [...versions.values()].map(({ schema }) => schema))
  return schemas.flatMap((root) =>
    root === null ? [] : unresolvedIn(side, danglingReferences({ root, resolve: () => null })),
  )
}

function readBundle(text: string, options: CompareOptions): Result<CrdBundle> {
  if (text === '') return ok(NOTHING)
  const document = readDocuments(text, options.limits ?? DEFAULT_DOCUMENT_LIMITS)
  const bundle = document.ok ? readCrds(document.value) : document
  return bundle
}

function countVersions({ crds }: CrdBundle): number {
  return [...crds.values()].reduce((sum, { versions }) => sum + versions.size, 0)
}

function compareCrd(
  name: string,
  base: Crd | undefined,
  head: Crd | undefined,
  isLossless: LosslessTest,
  walk: CrdWalk,
): number {
  if (base === undefined || head === undefined) {
    const there = head ?? base
    if (there === undefined) return 0
    const rule = base === undefined ? 'crd-added' : 'crd-removed'
    const side = base === undefined ? 'head' : 'base'
    walk.add({ rule, subject: name, name, side, located: there.located, endpoint: name })
    return 0
  }
  compareResource(base, head, reportWithin(walk, name))
  compareParts(base, head, 'definition', reportWithin(walk, name))
  let examined = 0
  for (const [version, after] of [...head.versions].sort(([a], [b]) => byCodeUnit(a, b))) {
    const before = base.versions.get(version)
    if (before === undefined) continue
    const where = `${name}, version ${version}`
    compareParts(before, after, 'version', reportWithin(walk, name, where))
    if (before.isServed || before.isStored) examined += compareVersion({ name, where }, before, after, walk)
    else compareUnused(before, after, isLossless, reportWithin(walk, name))
  }
  return examined + compareStorage(name, base, head, walk)
}

/** Nobody calls a version that is neither served nor stored, but objects that were stored in it are read by its schema. */
function compareUnused(before: CrdVersion, after: CrdVersion, isLossless: LosslessTest, add: AddCrdChange): void {
  if (isLossless(before, after)) return
  const { name, located } = after
  add({ rule: 'crd-unused-version-changed', subject: name, name, side: 'head', located })
}

/**
 * Stored objects of the old storage version are read as the new one. Without a webhook nothing converts them, and
 * unknown fields are pruned.
 */
function compareStorage(name: string, base: Crd, head: Crd, walk: CrdWalk): number {
  const [before, after] = [storedIn(base), storedIn(head)]
  if (before === null || after === null || before.name === after.name || conversionOf(head) !== 'None') return 0
  const where = `${name}, objects stored as ${before.name} read as ${after.name}`
  return compareVersionSchemas(before, after, { name, where }, walk)
}

/**
 * Versions that are served from now on, whose objects are stored in another one that does not hold the same. Without a
 * webhook whoever writes in one version drops what the other one has beside it.
 */
function reportUnconverted(base: Crd, head: Crd, isLossless: LosslessTest, add: AddCrdChange): void {
  const stored = storedIn(head)
  if (stored === null || conversionOf(head) !== 'None') return
  for (const version of head.versions.values()) {
    const { name, isServed, located } = version
    if (!isServed || base.versions.get(name)?.isServed === true || name === stored.name) continue
    if (isLossless(stored, version) && isLossless(version, stored)) continue
    add({
      rule: 'crd-version-unconverted',
      subject: name,
      name,
      side: 'head',
      located,
      before: stored.name,
      after: name,
    })
  }
}

/** `of` comes before the subject and before the touched element of a finding. */
function reportWithin(walk: CrdWalk, of: string, where = ''): AddCrdChange {
  return (change) =>
    walk.add({ ...change, subject: `${of} ${change.subject}`, where, endpoint: where === '' ? of : where })
}

function compareVersion(owner: SchemaOwner, before: CrdVersion, after: CrdVersion, walk: CrdWalk): number {
  compareVersionParts(before, after, reportWithin(walk, owner.name, owner.where))
  return compareVersionSchemas(before, after, owner, walk)
}

function compareParts<Owner extends Crd | CrdVersion>(
  before: Owner,
  after: Owner,
  kind: 'definition' | 'version',
  add: AddCrdChange,
): void {
  compareMalformed(malformedCrdParts(before, kind), malformedCrdParts(after, kind), ({ place, ...change }) =>
    add({ ...change, rule: 'crd-part-malformed', subject: place, name: place }),
  )
}

/** The resource that has the schemas, and the location as text. */
interface SchemaOwner {
  readonly name: string
  readonly where: string
}

function compareVersionSchemas(before: CrdVersion, after: CrdVersion, owner: SchemaOwner, walk: CrdWalk): number {
  const add = reportWithin(walk, owner.name, owner.where)
  if (before.schema === null || after.schema === null) {
    if (before.schema !== null)
      add({ rule: 'crd-schema-removed', subject: 'schema', side: 'base', located: before.schema })
    else if (after.schema !== null)
      add({ rule: 'crd-schema-added', subject: 'schema', side: 'head', located: after.schema })
    return 0
  }
  compareExtensions(before.schema, after.schema, [], ({ steps, ...change }) => {
    const path = steps.join('/')
    add({ ...change, subject: `${path} ${change.name ?? ''}`, detail: path === '' ? 'the object' : `property ${path}` })
  })
  return compareSchemas(before.schema, after.schema, owner, walk)
}

/** Structural schemas contain no references. */
const NO_REFERENCES: SchemaSource = { dialect: 'openapi-3.0', fillsDefaults: true, prunes: true, resolve: () => null }

function compareSchemas(before: Located, after: Located, { name, where }: SchemaOwner, walk: CrdWalk): number {
  const comparison = new SchemaComparison({ before: NO_REFERENCES, after: NO_REFERENCES })
  const pair = comparison.compare(
    { ...before, value: plainObjectSchema(before.value, after.value) },
    { ...after, value: plainObjectSchema(after.value, before.value) },
  )
  comparison.complete()
  const use = { sites: CRD_OBJECT, mediaType: null }
  walk.addSchemas({ pair, use, where, endpoint: where, owner: name }, comparison)
  return comparison.examined
}
