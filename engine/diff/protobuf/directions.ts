/** Whether callers send messages of a type, receive them, or both. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import { ANY, heldTypesOf } from '../../contracts/protobuf/rpcs.ts'

export interface Directions {
  readonly isSent: boolean
  readonly isReceived: boolean
}

export const BOTH_DIRECTIONS: Directions = { isSent: true, isReceived: true }

/** A type that no rpc reaches can be used in both directions. */
export function directionsIn(contract: ProtoContract): (type: string) => Directions {
  let reached: Readonly<Record<'sent' | 'received', ReadonlySet<string> | 'any'>> | undefined
  return (type) => {
    const { sent, received } = (reached ??= reachedTypes(contract))
    const isSent = sent === 'any' || sent.has(type)
    const isReceived = received === 'any' || received.has(type)
    return isSent || isReceived ? { isSent, isReceived } : BOTH_DIRECTIONS
  }
}

/** Any type next to `google.protobuf.Any`, or to a type that is not declared. */
function reachedTypes(contract: ProtoContract): Readonly<Record<'sent' | 'received', ReadonlySet<string> | 'any'>> {
  const { services, typeOf } = contract
  const held = heldTypesOf(contract)
  const methods = [...services.values()].flatMap((service) => service.methods)
  const isAny = (type: string): boolean => type === ANY || typeOf(`.${type}`, '').kind === 'opaque'
  const closure = (end: 'input' | 'output'): ReadonlySet<string> | 'any' => {
    const types = new Set(methods.map((method) => typeOf(method[end], method.scope).name))
    // Iteration over a set includes items added on the way.
    for (const type of types) for (const inner of held.get(type) ?? []) types.add(inner)
    return [...types].some(isAny) ? 'any' : types
  }
  return { sent: closure('input'), received: closure('output') }
}
