/** The context of a comparison of two protobuf contracts: how its walkers report changes, and the rpcs they reach. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoField, ProtoFile } from '../../contracts/protobuf/model.ts'
import { canonicalJson } from '../../common/hash.ts'
import { toJson, type Operation } from '../../model/finding.ts'
import type { ReachedPlace } from '../../rules/findings/judged-change.ts'
import type { Report } from '../../rules/judging/report.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { AffectedRpcs, type Reaches } from './affected-rpcs.ts'
import { takesDefinedValues } from './call-options.ts'
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
  readonly reaches?: Reaches
}

export interface ProtoWalk {
  readonly base: ProtoContract
  readonly head: ProtoContract
  readonly add: (change: ProtoChange) => void
  /** How the head uses what a change reaches. */
  readonly directions: (reaches: Reaches) => Directions
  /** The full name of a field that callers send, and whose validation takes the values of the enum only. */
  readonly checkedField: (enumName: string) => string | undefined
}

/** One change, however often it was found, and the nodes of the rpcs that it reaches. */
interface ProtoFinding {
  change: ProtoChange
  readonly nodes: string[]
}

/** A walk whose changes are reported together at its end, so that no list of rpcs grows with their number. */
export class ProtoChanges implements ProtoWalk {
  readonly base: ProtoContract
  readonly head: ProtoContract
  readonly directions: ProtoWalk['directions']
  readonly checkedField: ProtoWalk['checkedField']
  readonly #rpcs: Readonly<Record<'base' | 'head', AffectedRpcs>>
  readonly #found = new Map<string, ProtoFinding>()

  constructor(base: ProtoContract, head: ProtoContract) {
    this.base = base
    this.head = head
    this.#rpcs = { base: new AffectedRpcs(base), head: new AffectedRpcs(head) }
    const directionsOf = directionsIn(head)
    this.directions = (reaches) => (typeof reaches === 'string' ? directionsOf(reaches) : BOTH_DIRECTIONS)
    let checked: ReadonlyMap<string, string> | undefined
    this.checkedField = (enumName) => (checked ??= checkedEnums(head, this.directions)).get(enumName)
  }

  readonly add = (change: ProtoChange): void => {
    const { rule, side, subject, before = null, after = null, reaches } = change
    const key = canonicalJson([rule, side, subject, toJson(before), toJson(after)])
    const known = this.#found.get(key)
    const nodes = reaches === undefined ? [] : [this.#rpcs[side].nodeOf(reaches)]
    if (known === undefined) this.#found.set(key, { change, nodes })
    else {
      known.nodes.push(...nodes)
      if (change.location < known.change.location) known.change = change
    }
  }

  get found(): readonly ProtoChange[] {
    return [...this.#found.values()].map(({ change }) => change)
  }

  /** Reports what was found. Each change lists rpcs as long as all changes together do not list too many. */
  reportTo(report: Report<{ readonly rule: ProtoRuleId }>): void {
    const found = [...this.#found.values()]
    const sides = {
      base: found.filter(({ change }) => change.side === 'base'),
      head: found.filter(({ change }) => change.side === 'head'),
    }
    const reach = { base: this.#reachOf(sides.base, 'base'), head: this.#reachOf(sides.head, 'head') }
    const queries = { base: sides.base.map(({ nodes }) => nodes), head: sides.head.map(({ nodes }) => nodes) }
    const counted = [...reach.base.reached(queries.base, 0), ...reach.head.reached(queries.head, 0)]
    const places = counted.reduce((sum, { count }) => sum + Math.max(count, 1), 0)
    const most = report.mostPlaces(found.length, places)
    for (const side of ['base', 'head'] as const) {
      const answers = reach[side].reached(queries[side], most)
      for (const [index, one] of sides[side].entries()) {
        const { count = 0, listed = [] } = answers[index] ?? {}
        this.#report(one, { listed, further: count - listed.length }, report)
      }
    }
  }

  #reachOf(found: readonly ProtoFinding[], side: 'base' | 'head'): ReturnType<AffectedRpcs['reachability']> {
    return this.#rpcs[side].reachability(found.flatMap(({ nodes }) => nodes))
  }

  #report(
    { change, nodes }: ProtoFinding,
    { listed, further }: { readonly listed: readonly Operation[]; readonly further: number },
    report: Report<{ readonly rule: ProtoRuleId }>,
  ): void {
    const { name, subject, side } = change
    report.add({
      ...change,
      facts: { name },
      places: (message) => reachedRpcs(listed, message, subject),
      touches: ({ area }, { operation }) => ({
        endpoint: operation?.path ?? null,
        field: area === 'protobuf fields' ? subject : null,
      }),
      further: {
        places: further,
        endpoints: () => this.#rpcs[side].newlyReached(nodes),
      },
    })
  }
}

function checkedEnums(contract: ProtoContract, directions: ProtoWalk['directions']): ReadonlyMap<string, string> {
  const sent = [...contract.messages.values()].filter(({ fullName }) => directions(fullName).isSent)
  const checked = sent.flatMap(({ fields }) => fields).filter(takesDefinedValues)
  return new Map(checked.map((field) => [enumOf(field, contract), field.fullName]))
}

/** The enum of a field, also of the values of a map. */
function enumOf({ type, scope, label }: ProtoField, contract: ProtoContract): string {
  const { name } = contract.typeOf(type, scope)
  const value = label === 'map' ? contract.messages.get(name)?.fields.find(({ number }) => number === 2) : undefined
  return value === undefined ? name : contract.typeOf(value.type, value.scope).name
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
