/** Compares two texts of a protobuf contract into finding groups. An empty side is a contract that declares nothing. */
import { byCodeUnit } from '../../change-set.ts'
import type { CompareOptions, FormatComparison } from '../../format.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../limits.ts'
import { NO_CONTRACT, readProtoContract, type ProtoContract } from '../../contracts/protobuf/contract.ts'
import { ofSide } from '../../contracts/unreadable.ts'
import { inOneOrder } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../hash.ts'
import { fail, ok, type Result } from '../../result.ts'
import { Report } from '../../rules/judging/report.ts'
import { PROTO_RULES, type ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { compareEnum } from './enums.ts'
import { compareExistence } from './existence.ts'
import { compareField } from './fields.ts'
import { compareFiles, unresolvedOf } from './files.ts'
import { compareMessage } from './messages.ts'
import { protoWalk } from './walk.ts'
import { compareService } from './services.ts'

/** Compares two contracts, each one file’s text or a JSON object of path → text. */
export function compareProtobuf(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const base = read(before, 'base', options)
  if (!base.ok) return base
  const head = read(after, 'head', options)
  if (!head.ok) return head
  const locate = { base: base.value.locate, head: head.value.locate }
  const report = new Report({ ...judgeById<ProtoRuleId>(PROTO_RULES), levels: options.levels, sha256, locate })
  const walk = protoWalk(base.value, head.value, report)
  compareFiles(walk)
  compareExistence(walk)
  comparePairs(base.value.messages, head.value.messages, (base, head) => compareMessage(base, head, walk))
  comparePairs(base.value.enums, head.value.enums, (base, head) => compareEnum(base, head, walk))
  comparePairs(base.value.services, head.value.services, (base, head) => compareService(base, head, walk))
  comparePairs(base.value.extensions, head.value.extensions, (base, head) => compareField(base, head, walk))
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: countMethods(base.value), head: countMethods(head.value) },
      schemas_compared: countKept(base.value, head.value),
      touched: report.touched,
    },
    spec_versions: { base: syntaxesOf(base.value), head: syntaxesOf(head.value) },
    unresolved: inOneOrder([...unresolvedOf('base', base.value), ...unresolvedOf('head', head.value)]),
  })
}

function read(text: string, side: 'base' | 'head', { limits }: CompareOptions): Result<ProtoContract> {
  if (text === '') return ok(NO_CONTRACT)
  const contract = readProtoContract(text, limits ?? DEFAULT_DOCUMENT_LIMITS)
  return contract.ok ? contract : fail(ofSide(contract.problem, side))
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
