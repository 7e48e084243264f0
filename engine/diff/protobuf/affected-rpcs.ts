/** The rpcs that a message or enum reaches: those that send or return it, or a type that contains it. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import { exchangeOf, holdersOf, rpcPath } from '../../contracts/protobuf/rpcs.ts'
import type { Operation } from '../../model/finding.ts'

/** Operations by the full name of a type, sorted by path. */
type Reach = (type: string) => readonly Operation[]

const NOTHING: readonly Operation[] = []

/** An rpc as an operation: its form of exchange, and its path on the wire. */
export function operationOf(service: ProtoService, method: ProtoMethod): Operation {
  return { method: exchangeOf(method), path: rpcPath(service, method), operation_id: method.name }
}

/**
 * Computed for changed types only. Intermediate results are kept, so that all answers together take one walk of the
 * types.
 */
export function reachOf(contract: ProtoContract): Reach {
  let graph: Graph | undefined
  const answers = new Map<string, readonly Operation[]>()
  return (type) => {
    if (!answers.has(type)) answerFrom(type, (graph ??= graphOf(contract)), answers)
    return answers.get(type) ?? NOTHING
  }
}

interface Graph {
  /** The messages that contain a type, by its full name. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
  /** The rpcs that name a type. */
  readonly rpcs: ReadonlyMap<string, readonly Operation[]>
}

function graphOf(contract: ProtoContract): Graph {
  const { services, typeOf } = contract
  const rpcs = new Map<string, Operation[]>()
  for (const service of services.values()) {
    for (const method of service.methods) {
      const operation = operationOf(service, method)
      for (const written of [method.input, method.output]) {
        const { name } = typeOf(written, method.scope)
        const list = rpcs.get(name)
        if (list === undefined) rpcs.set(name, [operation])
        else list.push(operation)
      }
    }
  }
  return { holders: holdersOf(contract), rpcs }
}

/** A type in progress: its visit number, the lowest number it leads back to, and the holders still to be visited. */
interface TypeVisit {
  readonly type: string
  readonly order: number
  oldest: number
  readonly rest: Iterator<string, undefined>
}

/**
 * Computes the rpcs of a type and all its holders in one walk (Tarjan's strongly connected components). Types that
 * contain each other share one result, and a type that adds nothing shares its holder's. The walk keeps its own stack,
 * because nesting has no bound.
 */
function answerFrom(type: string, graph: Graph, answers: Map<string, readonly Operation[]>): void {
  const met = new Map<string, TypeVisit>()
  const open: TypeVisit[] = []
  const path: TypeVisit[] = []
  const enter = (name: string): void => {
    const visit: TypeVisit = { type: name, order: met.size, oldest: met.size, rest: holding(name, graph).values() }
    met.set(name, visit)
    open.push(visit)
    path.push(visit)
  }
  enter(type)
  for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
    const { done, value: holder } = visit.rest.next()
    if (done) {
      path.pop()
      const below = path.at(-1)
      if (below !== undefined) below.oldest = Math.min(below.oldest, visit.oldest)
      if (visit.oldest === visit.order) closeCycle(visit, open, graph, answers)
    } else if (!answers.has(holder)) {
      const known = met.get(holder)
      if (known === undefined) enter(holder)
      else visit.oldest = Math.min(visit.oldest, known.order)
    }
  }
}

/** All types visited since `first` contain each other: they reach the same rpcs. */
function closeCycle(
  first: TypeVisit,
  open: TypeVisit[],
  graph: Graph,
  answers: Map<string, readonly Operation[]>,
): void {
  const members = open.splice(open.lastIndexOf(first)).map(({ type }) => type)
  const own = members.flatMap((member) => graph.rpcs.get(member) ?? [])
  const inherited = new Set<readonly Operation[]>()
  for (const member of members) {
    for (const holder of holding(member, graph)) {
      const answer = answers.get(holder) ?? NOTHING
      if (answer.length > 0) inherited.add(answer)
    }
  }
  const answer = union(own, [...inherited])
  for (const member of members) answers.set(member, answer)
}

function holding(type: string, { holders }: Graph): ReadonlySet<string> {
  return holders.get(type) ?? new Set()
}

function union(own: readonly Operation[], inherited: readonly (readonly Operation[])[]): readonly Operation[] {
  const [first = NOTHING, second] = inherited
  if (own.length === 0 && second === undefined) return first
  const found = new Map([own, ...inherited].flat().map((operation) => [operation.path, operation]))
  return [...found.values()].sort((a, b) => byCodeUnit(a.path, b.path))
}
