/** The rpcs that changes reach: those that send or return a message or enum, or a type that contains it. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import { exchangeOf, holdersOf, rpcPath } from '../../contracts/protobuf/rpcs.ts'
import type { Operation } from '../../model/finding.ts'
import { Reachability } from './reachability.ts'

/** What a change reaches: a type by its full name, or rpcs. */
export type Reaches = string | readonly Operation[]

/** An rpc as an operation: its form of exchange, and its path on the wire. */
export function operationOf(service: ProtoService, method: ProtoMethod): Operation {
  return { method: exchangeOf(method), path: rpcPath(service, method), operation_id: method.name }
}

/** The rpcs of one contract that changes reach. */
export class AffectedRpcs {
  readonly #contract: ProtoContract
  #graph: Graph | undefined
  /** Lists of rpcs that changes name, as nodes beside the types. */
  readonly #lists = new Map<readonly Operation[], string>()
  readonly #listed = new Map<string, readonly Operation[]>()
  readonly #seen = new Set<string>()

  constructor(contract: ProtoContract) {
    this.#contract = contract
  }

  /** The node for what a change reaches. */
  nodeOf(reaches: Reaches): string {
    if (typeof reaches === 'string') return reaches
    const known = this.#lists.get(reaches)
    if (known !== undefined) return known
    // No type has a name with a blank.
    const node = `rpcs ${this.#lists.size}`
    this.#lists.set(reaches, node)
    this.#listed.set(node, reaches)
    return node
  }

  /** The rpcs of all nodes that are asked for, in order. */
  reachability(nodes: Iterable<string>): Reachability<Operation> {
    return new Reachability(nodes, {
      successorsOf: (node) => this.#holders(node),
      itemsOf: (node) => this.#own(node),
      keyOf: ({ path }) => path,
      compare: (a, b) => byCodeUnit(a.method, b.method) || byCodeUnit(a.path, b.path),
    })
  }

  /** The rpcs that nodes reach, without those of the nodes that were asked for before. */
  *newlyReached(nodes: readonly string[]): Iterable<Operation> {
    const open = [...nodes]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (this.#seen.has(node)) continue
      this.#seen.add(node)
      yield* this.#own(node)
      for (const holder of this.#holders(node)) open.push(holder)
    }
  }

  #holders(node: string): Iterable<string> {
    return this.#listed.has(node) ? [] : ((this.#graph ??= graphOf(this.#contract)).holders.get(node) ?? [])
  }

  #own(node: string): readonly Operation[] {
    return this.#listed.get(node) ?? (this.#graph ??= graphOf(this.#contract)).rpcs.get(node) ?? []
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
