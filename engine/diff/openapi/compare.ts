/** Compares two texts of an OpenAPI contract. It is the only entry to the comparison of OpenAPI. */
import type { CompareOptions, FormatOptions, ComparisonStats } from '../../model/format.ts'
import { readDocument } from '../../contracts/document.ts'
import { filesHandedIn } from '../../contracts/further-files.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { pathItemsOf, type OpenApiContract, type PathItem } from '../../contracts/openapi/contract.ts'
import { readOpenApiContract } from '../../contracts/openapi/reading.ts'
import { isMovedBetween, isSince } from '../../contracts/openapi/version-members.ts'
import { OpenApiDocuments } from '../../contracts/documents.ts'
import type { Locate } from '../../contracts/positions.ts'
import {
  danglingKey,
  danglingReferences,
  sortedReferences,
  leadsOutside,
  unresolvedIn,
  type DanglingReference,
  type UnresolvedReference,
} from '../../contracts/unresolved.ts'
import type { FindingGroup } from '../../model/finding.ts'
import type { Sha256 } from '../../common/hash.ts'
import { fail, ok, type Result } from '../../common/result.ts'
import { Report } from '../../rules/judging/report.ts'
import { OPENAPI_JUDGE } from '../../rules/openapi/rules.ts'
import { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { SchemaSources } from '../../schema/examination.ts'
import type { Located } from '../../schema/located.ts'
import type { SchemaSource } from '../../schema/source.ts'
import { OperationAttributes } from './attributes.ts'
import { contractConsumers, type ContractConsumer } from './consumers.ts'
import { compareInterface, isInOwnDialect, versionStepOf } from './interface.ts'
import { LinkTargets } from './link-targets.ts'
import { walkOptionsOf } from '../options.ts'
import { readSides, infoVersion, type Sides } from '../sides.ts'
import { reportDelta, reportUses } from './reported.ts'
import { readSecuritySchemes } from './security-inclusion.ts'
import { moveBetween, VersionEffect } from './version-effect.ts'
import type { SchemaUseSite, Walk } from './walk.ts'

export interface OpenApiComparison {
  readonly groups: readonly FindingGroup[]
  readonly stats: ComparisonStats
  /** Version of the contract language on either side, e.g. `3.0.3`; null for an empty side. */
  readonly spec_versions: { readonly base: string | null; readonly head: string | null }
  readonly contract_consumers: readonly ContractConsumer[]
  readonly contract_versions: { readonly base: string | null; readonly head: string | null }
  /** References of either side whose target was not given. */
  readonly unresolved: readonly UnresolvedReference[]
}

/**
 * Compares two texts of an OpenAPI contract, Swagger 2.0 to OpenAPI 3.2. Empty text means that the contract does not
 * exist on that side. Text that cannot be read or is not OpenAPI is a problem; faults within a contract are findings.
 */
export function compareOpenApi(
  before: string,
  after: string,
  options: FormatOptions,
  sha256: Sha256,
): Result<OpenApiComparison> {
  const walkOptions = walkOptionsOf(options)
  if (!walkOptions.ok) return walkOptions
  const sides = readSides(before, after, (text, side) => readSide(text, side, options))
  if (!sides.ok) return sides
  const { base, head } = movedSides(sides.value)
  const schemas = new SchemaComparison(schemaSources(base.contract, head.contract))
  const uses: SchemaUseSite[] = []
  const effect = new VersionEffect(base.contract, head.contract)
  const attributes = new OperationAttributes(walkOptions.value.attributes)
  const locate = { base: base.locate, head: head.locate }
  const report = new Report({ ...OPENAPI_JUDGE, levels: options.levels, sha256, locate })
  const walk: Walk = {
    operation: null,
    base: base.contract,
    head: head.contract,
    options: walkOptions.value,
    schemas,
    attributes,
    security: readSecuritySchemes(base.contract, head.contract),
    links: { base: new LinkTargets(base.contract), head: new LinkTargets(head.contract) },
    added: new Set(),
    add: (delta) => reportDelta(delta, report, effect.of(delta)),
    use: (site, ...pair) => void uses.push({ ...site, pair: schemas.compare(...pair) }),
  }
  const paths = { base: pathItemsOf(walk.base, 'paths'), head: pathItemsOf(walk.head, 'paths') }
  compareInterface(walk, paths)
  schemas.complete()
  reportUses(uses, walkOptions.value, schemas, report)
  const dangling = {
    base: danglingReferences(walk.base.documents),
    head: danglingReferences(walk.head.documents),
  }
  reportDangling(dangling, walk)
  if (report.hasBreaking) reportContractVersion(walk)
  return ok({
    groups: attributes.addTo(report.finish()),
    stats: {
      operations: { base: countOperations(paths.base), head: countOperations(paths.head) },
      schemas_compared: schemas.examined,
      touched: report.touched,
    },
    spec_versions: { base: base.contract.version || null, head: head.contract.version || null },
    contract_consumers: contractConsumers([
      { root: walk.base.root, paths: paths.base },
      { root: walk.head.root, paths: paths.head },
    ]),
    contract_versions: { base: infoVersion(walk.base.root), head: infoVersion(walk.head.root) },
    unresolved: sortedReferences([...unresolvedIn('base', dangling.base), ...unresolvedIn('head', dangling.head)]),
  })
}

/** Of two versions each counts only what it has. */
function movedSides(sides: Sides<OpenApiSide>): Sides<OpenApiSide> {
  if (!isMovedBetween(sides.base.contract, sides.head.contract)) return sides
  const strict = (side: OpenApiSide): OpenApiSide => ({ ...side, contract: { ...side.contract, isStrict: true } })
  return { base: strict(sides.base), head: strict(sides.head) }
}

/** The schemas of both sides. Those of two versions are read without keywords that only one of the versions has. */
function schemaSources(base: OpenApiContract, head: OpenApiContract): SchemaSources {
  const { before, after } = { before: base.documents, after: head.documents }
  if (before.dialect === after.dialect && !isMovedBetween(base, head)) return { before, after }
  const isOtherLanguage = before.dialect !== after.dialect
  const move = moveBetween(base, head)
  return {
    before: strict(base, isOtherLanguage),
    after: strict(head, isOtherLanguage),
    ...(move !== null && { move }),
  }
}

/** Schemas in a language that the contract states have the keywords of that language. */
function strict({ documents, version }: OpenApiContract, isOtherLanguage: boolean): SchemaSource {
  const { root, dialect } = documents
  if (dialect === 'json-schema' && !isInOwnDialect({ root })) return documents
  return {
    dialect,
    isStrict: isOtherLanguage,
    isBefore32: version !== '' && !isSince(version, '3.2'),
    resolve: documents.resolve.bind(documents),
    knows: documents.knows.bind(documents),
    subtypes: documents.subtypes.bind(documents),
  }
}

interface OpenApiSide {
  readonly contract: OpenApiContract
  readonly locate: Locate
}

const EMPTY_ROOT = {}

function readSide(text: string, side: 'base' | 'head', options: CompareOptions): Result<OpenApiSide> {
  const limits = options.limits ?? DEFAULT_DOCUMENT_LIMITS
  const files = filesHandedIn(side, options, text)
  if (text === '') {
    const documents = new OpenApiDocuments(EMPTY_ROOT, 'json-schema', files)
    const nothing = { version: '', isSwagger: false, documents, root: documents.root, malformed: new Map() }
    return ok({ contract: nothing, locate: () => null })
  }
  const read = readDocument(text, limits)
  if (!read.ok) return read
  const contract = readOpenApiContract(read.value, text, files)
  if (contract === null) {
    return fail({
      code: 'ARTIFACT_UNREADABLE',
      message: `The ${side} is not an OpenAPI contract: its root needs a member \`openapi\` with a version 3.x, or \`swagger\` with the version 2.0.`,
      side,
      pointer: '',
    })
  }
  return ok({ contract, locate: read.value.locate })
}

/**
 * Reports the unresolved references of the head. If both sides lack a target within the document, nothing changed. A
 * file or address that was not given may have changed unseen, so it is reported.
 */
function reportDangling(
  { base, head }: Readonly<Record<'base' | 'head', readonly DanglingReference[]>>,
  walk: Walk,
): void {
  const known = new Set(base.map(({ reference, holder }) => danglingKey(reference, holder.document)))
  for (const { reference, holder, isPart } of head) {
    if (!isPart) continue
    if (known.has(danglingKey(reference, holder.document)) && !leadsOutside(reference)) continue
    walk.add({
      change: 'dangling-reference',
      facts: { reference, name: reference },
      operation: null,
      side: 'head',
      located: holder,
      before: null,
      after: reference,
    })
  }
}

/** SemVer: a breaking change raises the major number. */
function reportContractVersion(walk: Walk): void {
  const { base, head } = walk
  const [before, after] = [infoVersion(base.root), infoVersion(head.root)]
  const step = versionStepOf(before, after)
  if (step === null) return
  const located: Located = { ...head.root, at: { parent: { parent: head.root.at, step: 'info' }, step: 'version' } }
  walk.add({
    change: 'version',
    facts: { step, before, after },
    operation: null,
    side: 'head',
    located,
    before,
    after,
  })
}

function countOperations(paths: readonly PathItem[]): number {
  return paths.reduce((sum, { operations }) => sum + operations.size, 0)
}
