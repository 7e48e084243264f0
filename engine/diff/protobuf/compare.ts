/** Compares two texts of a protobuf contract into finding groups. An empty side is a contract that declares nothing. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { CompareOptions, FormatComparison } from '../../model/format.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import {
  missingImports,
  NO_CONTRACT,
  readProtoContract,
  type ProtoContract,
} from '../../contracts/protobuf/contract.ts'
import { sortedReferences } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { Report } from '../../rules/judging/report.ts'
import { PROTO_RULES, type ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { DEFINITION_CHANGED, DEFINITION_SAME, type DefinitionChange } from '../definition-change.ts'
import { readSides } from '../sides.ts'
import { compareProtoEnum } from './enums.ts'
import { compareExistence } from './existence.ts'
import { compareProtoField } from './fields.ts'
import { compareHttpRoutes } from './http-bindings.ts'
import { compareFiles, unresolvedImportsAndTypes } from './files.ts'
import { compareProtoMessage } from './messages.ts'
import { ProtoChanges } from './walk.ts'
import { compareService } from './services.ts'

/** Compares two contracts, each one file’s text or a JSON object of path → text. */
export function compareProtobuf(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const sides = readSides(before, after, (text) => readFileSet(text, options))
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const locate = { base: base.locate, head: head.locate }
  const report = new Report({ ...judgeById<ProtoRuleId>(PROTO_RULES), levels: options.levels, sha256, locate })
  changesBetween(base, head).reportTo(report)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: countMethods(base), head: countMethods(head) },
      schemas_compared: countKept(base, head),
      touched: report.touched,
    },
    spec_versions: { base: syntaxesOf(base), head: syntaxesOf(head) },
    unresolved: sortedReferences([
      ...unresolvedImportsAndTypes('base', base),
      ...unresolvedImportsAndTypes('head', head),
    ]),
  })
}

function changesBetween(base: ProtoContract, head: ProtoContract): ProtoChanges {
  const walk = new ProtoChanges(base, head)
  compareFiles(walk)
  compareExistence(walk)
  comparePairs(base.messages, head.messages, (...pair) => compareProtoMessage(...pair, walk))
  comparePairs(base.enums, head.enums, (...pair) => compareProtoEnum(...pair, walk))
  comparePairs(base.services, head.services, (...pair) => compareService(...pair, walk))
  compareHttpRoutes(walk)
  comparePairs(base.extensions, head.extensions, (...pair) => compareProtoField(...pair, walk))
  return walk
}

/**
 * What the change of a protobuf text within another contract means. `changed`: a text or one of its imports cannot be read, or only
 * code breaks.
 */
export function relateProtobuf(before: string, after: string): DefinitionChange {
  const [base, head] = [readFileSet(before, {}), readFileSet(after, {})]
  if (!base.ok || !head.ok) return DEFINITION_CHANGED
  const found = changesBetween(base.value, head.value).found.map(({ rule, name }) => {
    const level = PROTO_RULES.get(rule)?.rule.level ?? 'breaking'
    return { level, detail: typeof name === 'string' && name !== '' ? `${rule}: ${name}` : rule }
  })
  const refusal = found.find(({ level }) => level === 'breaking')
  if (refusal !== undefined) return { meaning: 'refused', detail: refusal.detail }
  const [first] = found
  // What an import that is not there holds is not known, so a change beside it may be any.
  const isPartial = missingImports(base.value).length + missingImports(head.value).length > 0
  if (found.some(({ level }) => level === 'dangerous') || (isPartial && first !== undefined)) return DEFINITION_CHANGED
  return first === undefined ? DEFINITION_SAME : { meaning: 'compatible', detail: first.detail }
}

function readFileSet(text: string, { limits }: CompareOptions): Result<ProtoContract> {
  if (text === '') return ok(NO_CONTRACT)
  const contract = readProtoContract(text, limits ?? DEFAULT_DOCUMENT_LIMITS)
  return contract
}

/** Declarations with one name are one declaration, in any file. */
function comparePairs<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  compare: (base: T, head: T) => void,
): void {
  for (const [name, base] of before) {
    const head = after.get(name)
    if (head !== undefined) compare(base, head)
  }
}

function countMethods({ services }: ProtoContract): number {
  return [...services.values()].reduce((sum, { methods }) => sum + methods.length, 0)
}

function countKept(base: ProtoContract, head: ProtoContract): number {
  return [...base.messages.keys()].filter((name) => head.messages.has(name)).length
}

/** The syntax of the files, or all syntaxes if they differ. */
function syntaxesOf({ files }: ProtoContract): string | null {
  const syntaxes = new Set([...files.values()].map(({ syntax }) => syntax))
  return syntaxes.size === 0 ? null : [...syntaxes].sort(byCodeUnit).join(', ')
}
