/** Two texts of custom resource definitions → finding groups: resources matched by name, their versions by theirs. */
import { byCodeUnit } from '../../change-set.ts'
import type { CompareOptions, FormatComparison } from '../../format.ts'
import { readDocuments } from '../../contracts/document.ts'
import { readCrds, type Crd, type CrdBundle, type CrdVersion } from '../../contracts/k8s-crd/contract.ts'
import { plainCrdSchema } from '../../contracts/k8s-crd/schema.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../limits.ts'
import { ofSide } from '../../contracts/unreadable.ts'
import { danglingReferences, inOneOrder, unresolvedIn, type UnresolvedReference } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../hash.ts'
import { fail, ok, type Result } from '../../result.ts'
import { Grouping } from '../../rules/grouping.ts'
import { CRD_RULES } from '../../rules/k8s-crd/rows.ts'
import { CRD_OBJECT } from '../../rules/sites.ts'
import { SchemaProofs } from '../../rules/schema-use.ts'
import { SchemaComparison } from '../../schema/comparison.ts'
import type { Located } from '../../schema/located.ts'
import type { SchemaSource } from '../../schema/source.ts'
import { ContractReport } from '../contract-report.ts'
import { walkOptionsOf } from '../options.ts'
import { compareExtensions } from './extensions.ts'
import { compareResource, compareVersionParts, conversionOf, storedIn, type SayCrd } from './resource.ts'

const NOTHING: CrdBundle = { crds: new Map(), apiVersion: null, locate: () => null }

/** Compares the definitions of both sides; an empty side holds none. */
export function compareCrds(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const lifecycle = walkOptionsOf(options)
  if (!lifecycle.ok) return lifecycle
  const base = read(before, 'base', options)
  if (!base.ok) return base
  const head = read(after, 'head', options)
  if (!head.ok) return head
  const [old, now] = [base.value, head.value]
  const grouping = new Grouping({ levels: options.levels, sha256, locate: { base: old.locate, head: now.locate } })
  const report = new ContractReport(CRD_RULES, grouping, lifecycle.value)
  let examined = 0
  for (const name of [...new Set([...old.crds.keys(), ...now.crds.keys()])].sort(byCodeUnit)) {
    examined += compareNamed(name, old.crds.get(name), now.crds.get(name), report)
  }
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: countVersions(old), head: countVersions(now) },
      schemas_compared: examined,
      touched: report.touched,
    },
    spec_versions: { base: old.apiVersion, head: now.apiVersion },
    unresolved: inOneOrder([...unresolvedOf('base', old), ...unresolvedOf('head', now)]),
  })
}

/** Kubernetes resolves no reference: whatever one names was not compared (apiextensions v1, structural schemas). */
function unresolvedOf(side: 'base' | 'head', { crds }: CrdBundle): readonly UnresolvedReference[] {
  const schemas = [...crds.values()].flatMap(({ versions }) => [...versions.values()].map(({ schema }) => schema))
  return schemas.flatMap((root) =>
    root === null ? [] : unresolvedIn(side, danglingReferences({ root, resolve: () => null })),
  )
}

function read(text: string, side: 'base' | 'head', options: CompareOptions): Result<CrdBundle> {
  if (text === '') return ok(NOTHING)
  const document = readDocuments(text, options.limits ?? DEFAULT_DOCUMENT_LIMITS)
  const bundle = document.ok ? readCrds(document.value) : document
  return bundle.ok ? bundle : fail(ofSide(bundle.problem, side))
}

function countVersions({ crds }: CrdBundle): number {
  return [...crds.values()].reduce((sum, { versions }) => sum + versions.size, 0)
}

function compareNamed(name: string, old: Crd | undefined, now: Crd | undefined, report: ContractReport): number {
  if (old === undefined || now === undefined) {
    const there = now ?? old
    if (there === undefined) return 0
    const rule = old === undefined ? 'crd-added' : 'crd-removed'
    const side = old === undefined ? 'head' : 'base'
    report.say({ rule, subject: name, name, side, located: there.located, endpoint: name })
    return 0
  }
  compareResource(old, now, sayWithin(report, name))
  let examined = 0
  for (const [version, is] of [...now.versions].sort(([a], [b]) => byCodeUnit(a, b))) {
    const was = old.versions.get(version)
    if (was !== undefined) examined += compareVersion(name, was, is, report)
  }
  return examined + compareStorage(name, old, now, report)
}

/**
 * Objects that lie in the old storage version are read as the new one: without a webhook nothing converts them, so that
 * what the new schema does not know is pruned.
 */
function compareStorage(name: string, old: Crd, now: Crd, report: ContractReport): number {
  const [was, is] = [storedIn(old), storedIn(now)]
  if (was === null || is === null || was.name === is.name || conversionOf(now) !== 'None') return 0
  return compareVersionSchemas(name, was, is, `${name}, objects stored as ${was.name} read as ${is.name}`, report)
}

/** `of` goes before the subject, and to what a finding says is touched. */
function sayWithin(report: ContractReport, of: string, where = ''): SayCrd {
  return (change) =>
    report.say({ ...change, subject: `${of} ${change.subject}`, where, endpoint: where === '' ? of : where })
}

function compareVersion(name: string, was: CrdVersion, is: CrdVersion, report: ContractReport): number {
  const where = `${name}, version ${is.name}`
  compareVersionParts(was, is, sayWithin(report, name, where))
  return compareVersionSchemas(name, was, is, where, report)
}

function compareVersionSchemas(
  name: string,
  was: CrdVersion,
  is: CrdVersion,
  where: string,
  report: ContractReport,
): number {
  const say = sayWithin(report, name, where)
  if (was.schema === null || is.schema === null) {
    if (was.schema !== null) say({ rule: 'crd-schema-removed', subject: 'schema', side: 'base', located: was.schema })
    else if (is.schema !== null) say({ rule: 'crd-schema-added', subject: 'schema', side: 'head', located: is.schema })
    return 0
  }
  compareExtensions(was.schema, is.schema, [], ({ steps, ...change }) => {
    const path = steps.join('/')
    say({ ...change, subject: `${path} ${change.name ?? ''}`, detail: path === '' ? 'the object' : `property ${path}` })
  })
  return compareSchemas(was.schema, is.schema, name, where, report)
}

/** Structural schemas hold no references. */
const NO_REFERENCES: SchemaSource = { dialect: 'openapi-3.0', resolve: () => null }

function compareSchemas(was: Located, is: Located, name: string, where: string, report: ContractReport): number {
  const comparison = new SchemaComparison({ before: NO_REFERENCES, after: NO_REFERENCES })
  const pair = comparison.compare(
    { ...was, value: plainCrdSchema(was.value) },
    { ...is, value: plainCrdSchema(is.value) },
  )
  comparison.settle()
  report.tellSchema(
    {
      pair,
      use: { sites: CRD_OBJECT, mediaType: null },
      where,
      lead: [],
      endpoint: where,
      identity: { by: 'way', of: name },
    },
    new SchemaProofs(comparison),
  )
  return comparison.examined
}
