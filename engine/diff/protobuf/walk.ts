/** The context of a comparison of two protobuf contracts: how its walkers report changes, and the rpcs they reach. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoFile } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import type { ReachedPlace } from '../../rules/findings/judged-change.ts'
import type { Report } from '../../rules/judging/report.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { reachOf } from './affected-rpcs.ts'
import { BOTH_DIRECTIONS, directionsIn, type Directions } from './directions.ts'

export interface ProtoChange {
  readonly rule: ProtoRuleId
  /** The changed element, by names that do not depend on order or file: a full name, or a full name and a member. */
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly location: string
  /** Null if the contract gives no name. */
  readonly name?: string | null
  readonly before?: unknown
  readonly after?: unknown
  /** The rpcs that the change reaches: given directly, or by the full name of a message or enum. */
  readonly reaches?: string | readonly Operation[]
}

export interface ProtoWalk {
  readonly base: ProtoContract
  readonly head: ProtoContract
  readonly add: (change: ProtoChange) => void
  /** How the head uses what a change reaches. */
  readonly directions: (reaches: NonNullable<ProtoChange['reaches']>) => Directions
}

export function protoWalk(
  base: ProtoContract,
  head: ProtoContract,
  report: Report<{ readonly rule: ProtoRuleId }>,
): ProtoWalk {
  const directionsOf = directionsIn(head)
  const directions: ProtoWalk['directions'] = (reaches) =>
    typeof reaches === 'string' ? directionsOf(reaches) : BOTH_DIRECTIONS
  const reach = { base: reachOf(base), head: reachOf(head) }
  const add = ({ name, reaches = [], ...change }: ProtoChange): void => {
    const { subject, side } = change
    report.add({
      ...change,
      facts: { name },
      places: (message) => reachedRpcs(typeof reaches === 'string' ? reach[side](reaches) : reaches, message, subject),
      touches: ({ area }, { operation }) => ({
        endpoint: operation?.path ?? null,
        field: area === 'protobuf fields' ? subject : null,
      }),
    })
  }
  return { base, head, add, directions }
}

/** The head's version of a base file: by path, or as the only file of a set without paths. */
export function headFileOf({ path }: ProtoFile, { base, head: { files } }: ProtoWalk): ProtoFile | undefined {
  const isAlone = base.files.size === 1 && files.size === 1 && (path === '' || files.has(''))
  return isAlone ? [...files.values()][0] : files.get(path)
}

function reachedRpcs(operations: readonly Operation[], message: string, detail: string): readonly ReachedPlace[] {
  if (operations.length === 0) return [{ operation: null, tool: null, message, detail }]
  return operations.map((operation) => ({ operation, tool: null, message: `${message} (${operation.path})`, detail }))
}
