/**
 * The comparison of two texts of one contract: text → Contract → Delta[] → FindingGroup[] → patterns. Pure and
 * synchronous. It may be slow on large input, so the gateway runs it in a worker (law 7 of CONTRIBUTING.md).
 */
import { FUNCTION, requireArgument } from '../common/argument.ts'
import { fileMistakes, filesOfSide, hasFiles, lengthOfSide, documentName } from '../model/artifact-files.ts'
import type { Artifact, ArtifactType } from '../model/change-set.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import type { CompareFormat, CompareOptions, FormatComparison, FurtherFiles } from '../model/format.ts'
import type { Sha256 } from '../common/hash.ts'
import type { PatternReport } from '../patterns/pattern.ts'
import { fail, ok, type Problem, type Result } from '../common/result.ts'
import { mayShareDoubles, restoreGroups, separateNumbers } from '../contracts/exact-numbers.ts'
import { inputMistake } from './input-mistake.ts'
import { sniffArtifactType } from './sniff.ts'
import { compareGraphql } from '../diff/graphql/compare.ts'
import { compareAgentTools } from '../diff/agent-tools/compare.ts'
import { compareJsonSchemas } from '../diff/json-schema/compare.ts'
import { compareAsyncApis } from '../diff/asyncapi/compare.ts'
import { compareCrds } from '../diff/k8s-crd/compare.ts'
import { compareMcpManifests } from '../diff/mcp/manifest.ts'
import { compareOpenApi } from '../diff/openapi/compare.ts'
import { compareProtobuf } from '../diff/protobuf/compare.ts'
import { detectPatterns } from '../patterns/detect.ts'
import { readLevels, type LevelFault } from '../rules/catalog/levels.ts'

export { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
export type { DocumentLimits } from '../model/limits.ts'
export type { CompareOptions, ComparisonStats } from '../model/format.ts'

export interface Comparison extends FormatComparison, PatternReport {
  /** A sunset day was compared with `today`: on another day the result may differ. */
  readonly reads_day: boolean
}

/** The analysis of one artifact. `failed` contains the problem and never counts as analysed. */
export type ArtifactAnalysis = {
  readonly id: string
  readonly type: ArtifactType
} & ({ readonly ok: true; readonly comparison: Comparison } | { readonly ok: false; readonly problem: Problem })

/** One row for each type. A type without a row does not compile. */
const FORMATS: Readonly<Record<ArtifactType, CompareFormat>> = {
  openapi: compareOpenApi,
  graphql: compareGraphql,
  mcp_manifest: compareMcpManifests,
  protobuf: compareProtobuf,
  agent_tools: compareAgentTools,
  json_schema: compareJsonSchemas,
  k8s_crd: compareCrds,
  asyncapi: compareAsyncApis,
}

/**
 * Compares both sides of an artifact. The same artifact and options give the same bytes, whatever the order of keys in
 * the documents. A document that cannot be read, or is not of the declared type, is a problem. So is an unknown option.
 */
export function compare(artifact: Artifact, options: CompareOptions, sha256: Sha256): Result<Comparison> {
  const mistake = inputMistake(artifact, options)
  if (mistake !== null) return fail({ code: 'INVALID_INPUT', message: mistake })
  requireArgument('compare', 'sha256', sha256, FUNCTION)
  const { type, before, after } = artifact
  if (before === '' && after === '') {
    return fail({
      code: 'ARTIFACT_UNREADABLE',
      message: 'Both sides are empty: there is nothing to compare. Give the contract’s text on one side at least.',
    })
  }
  const levels = readLevels(options.levels ?? {})
  if (!levels.ok) return fail(levelsProblem(levels.problem))
  const carried = withFiles(artifact, options)
  if (!carried.ok) return carried
  let readsDay = false
  const { input, restore } = withExactNumbers(type, carried.value)
  const formatOptions = { ...input.options, onDayRead: () => (readsDay = true) }
  const compared = FORMATS[type](input.before, input.after, formatOptions, sha256)
  if (!compared.ok) return mismatchOf(artifact, compared.problem, options) ?? compared
  const groups = restore(compared.value.groups)
  return ok({ ...compared.value, groups, ...detectPatterns(groups), reads_day: readsDay })
}

function levelsProblem(faults: readonly LevelFault[]): Problem {
  const texts = faults.slice(0, 5).map(({ message, fix }) => `${message}: ${fix}`)
  return { code: 'INVALID_INPUT', message: `The option levels is refused: ${texts.join('; ')}.` }
}

interface Carried {
  readonly before: string
  readonly after: string
  readonly options: CompareOptions
}

/** Both sides with the artifact's files, in the form that the format reads. */
function withFiles(artifact: Artifact, options: CompareOptions): Result<Carried> {
  const { type, before, after } = artifact
  if (!hasFiles(artifact)) return ok({ before, after, options })
  const [mistake] = fileMistakes(artifact)
  if (mistake !== undefined) {
    const what = mistake.path === null ? 'Files of the artifact' : `The file ${JSON.stringify(mistake.path)}`
    return fail({ code: 'ARTIFACT_UNREADABLE', message: `${what} ${mistake.message}.` })
  }
  const { maxLength } = options.limits ?? DEFAULT_DOCUMENT_LIMITS
  for (const side of ['before', 'after'] as const) {
    const length = lengthOfSide(artifact, side)
    if (length <= maxLength) continue
    const message = `The artifact exceeds a limit: ${side} and its files have ${length} code units together, and ${maxLength} are read.`
    return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
  }
  const files = { base: filesOfSide(artifact, 'before'), head: filesOfSide(artifact, 'after') }
  const document = documentName(artifact)
  if (type !== 'protobuf')
    return ok({ before, after, options: { ...options, files: { ...bothFiles(files, options.files), document } } })
  if ([before, after].some((text) => /^\uFEFF?\s*\{/.test(text))) {
    const message = 'The document is a set of protobuf files already: put the further files into it.'
    return fail({ code: 'ARTIFACT_UNREADABLE', message })
  }
  const setOf = (text: string, further: Readonly<Record<string, string>>): string =>
    text === '' ? '' : JSON.stringify({ ...further, [document]: text })
  return ok({ before: setOf(before, files.base), after: setOf(after, files.head), options })
}

type Groups = FormatComparison['groups']

interface ExactInput {
  readonly input: Carried
  /** The findings with the numbers as they were written. */
  readonly restore: (groups: Groups) => Groups
}

/** Formats with a reader of their own, which keeps the digits of a number. */
const OWN_NUMBERS: ReadonlySet<ArtifactType> = new Set(['graphql', 'protobuf'])
/** Formats whose texts the gateway writes itself, from messages that it has parsed. */
const PRINTED: ReadonlySet<ArtifactType> = new Set(['mcp_manifest', 'agent_tools'])

function withExactNumbers(type: ArtifactType, input: Carried): ExactInput {
  const { options } = input
  const [base, head] = [options.files?.base ?? {}, options.files?.head ?? {}]
  const texts = [input.before, input.after, ...Object.values(base), ...Object.values(head)]
  if (OWN_NUMBERS.has(type) || !mayShareDoubles(texts)) return { input, restore: (groups) => groups }
  const separated = separateNumbers(texts, options.limits ?? DEFAULT_DOCUMENT_LIMITS, PRINTED.has(type))
  const [before = '', after = '', ...further] = separated.texts
  const named = (names: readonly string[], from: number): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map((name, index) => [name, further[from + index] ?? '']))
  const files = {
    ...options.files,
    base: named(Object.keys(base), 0),
    head: named(Object.keys(head), Object.keys(base).length),
  }
  return {
    input: { before, after, options: { ...options, files } },
    restore: (groups) => restoreGroups(groups, separated),
  }
}

/** Files of the artifact come before those found elsewhere. */
function bothFiles(own: FurtherFiles, found: FurtherFiles | undefined): FurtherFiles {
  return { base: { ...found?.base, ...own.base }, head: { ...found?.head, ...own.head } }
}

/** A refused document may be valid as another type. The problem then names that type. */
function mismatchOf(
  { type, before, after }: Artifact,
  problem: Problem,
  { limits }: CompareOptions,
): Result<Comparison> | null {
  if (problem.code !== 'ARTIFACT_UNREADABLE') return null
  const found = sniffArtifactType(before, after, limits)
  if (!found.ok || found.value === type) return null
  const message = `The artifact is declared as ${type}, but its text is of the type ${found.value}. Declare it as that.`
  return fail({ code: 'ARTIFACT_TYPE_MISMATCH', message })
}
