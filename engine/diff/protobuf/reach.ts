/** Which rpcs a message or enum reaches: those that send or answer it, or anything that holds it. */
import { byCodeUnit } from '../../change-set.ts'
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../finding.ts'

/** Operations by the full name of a type, sorted by path. */
export type Reach = (type: string) => readonly Operation[]

/** An rpc as an operation: its form of exchange, and its path on the wire (gRPC over HTTP/2, “Path”). */
export function operationOf(service: ProtoService, method: ProtoMethod): Operation {
  return { method: exchangeOf(method), path: `/${service.fullName}/${method.name}`, operation_id: method.name }
}

function exchangeOf({ isClientStreaming, isServerStreaming }: ProtoMethod): string {
  if (isClientStreaming) return isServerStreaming ? 'BIDI_STREAM' : 'CLIENT_STREAM'
  return isServerStreaming ? 'SERVER_STREAM' : 'RPC'
}

/** Asked for changed types only, and answered once for each. */
export function reachOf(contract: ProtoContract): Reach {
  let graph: Graph | undefined
  const answers = new Map<string, readonly Operation[]>()
  return (type) => {
    const known = answers.get(type)
    if (known !== undefined) return known
    graph ??= graphOf(contract)
    const found = operationsFrom(type, graph)
    answers.set(type, found)
    return found
  }
}

interface Graph {
  /** The messages that hold a type, by its full name. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
  /** The rpcs that name a type. */
  readonly rpcs: ReadonlyMap<string, readonly Operation[]>
}

function graphOf({ messages, services, typeOf }: ProtoContract): Graph {
  const holders = new Map<string, Set<string>>()
  for (const message of messages.values()) {
    for (const { type, scope } of message.fields) {
      const { kind, name } = typeOf(type, scope)
      if (kind === 'scalar') continue
      const held = holders.get(name)
      if (held === undefined) holders.set(name, new Set([message.fullName]))
      else held.add(message.fullName)
    }
  }
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
  return { holders, rpcs }
}

function operationsFrom(type: string, { holders, rpcs }: Graph): readonly Operation[] {
  const seen = new Set([type])
  const found = new Map<string, Operation>()
  for (const name of seen) {
    for (const operation of rpcs.get(name) ?? []) found.set(operation.path, operation)
    for (const holder of holders.get(name) ?? []) seen.add(holder)
  }
  return [...found.values()].sort((a, b) => byCodeUnit(a.path, b.path))
}
