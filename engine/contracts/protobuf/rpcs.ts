/** The rpcs of a protobuf contract as they are called: by their path alone, whatever their form of exchange. */
import { fail, ok, type Result } from '../../result.ts'
import type { DocumentLimits } from '../limits.ts'
import { missingImports, readProtoContract, type ProtoContract } from './contract.ts'
import type { ProtoMethod, ProtoService } from './model.ts'

export const EXCHANGES = ['RPC', 'CLIENT_STREAM', 'SERVER_STREAM', 'BIDI_STREAM'] as const
export type Exchange = (typeof EXCHANGES)[number]

export function exchangeOf({ isClientStreaming, isServerStreaming }: ProtoMethod): Exchange {
  if (isClientStreaming) return isServerStreaming ? 'BIDI_STREAM' : 'CLIENT_STREAM'
  return isServerStreaming ? 'SERVER_STREAM' : 'RPC'
}

/** `/package.Service/Method` (gRPC over HTTP/2, “Path”). */
export function rpcPath(service: ProtoService, method: ProtoMethod): string {
  return `/${service.fullName}/${method.name}`
}

export interface Rpc {
  readonly path: string
  readonly exchange: Exchange
  /** Its messages can hold messages of any type: `google.protobuf.Any`, or a type whose declaration is not there. */
  readonly carriesAny: boolean
}

/** Plain data, since it may come out of a worker. */
export interface RpcTable {
  readonly rpcs: readonly Rpc[]
  /** Files that are imported and not there: what changes in them cannot be seen. */
  readonly missing: readonly string[]
}

/** @param text one file, or a JSON object of path → text */
export function readRpcs(text: string, limits: DocumentLimits): Result<RpcTable> {
  const read = readProtoContract(text, limits)
  if (!read.ok) return fail(read.problem)
  const contract = read.value
  const open = typesWithAny(contract)
  const rpcs = [...contract.services.values()].flatMap((service) =>
    service.methods.map((method): Rpc => {
      const messages = [method.input, method.output].map((written) => contract.typeOf(written, method.scope))
      const carriesAny = messages.some(({ kind, name }) => kind === 'opaque' || open.has(name))
      return { path: rpcPath(service, method), exchange: exchangeOf(method), carriesAny }
    }),
  )
  return ok({ rpcs, missing: [...new Set(missingImports(contract).map(({ path }) => path))] })
}

/** The messages that hold each type, by its full name: in a field, or in an extension of theirs. */
export function holdersOf({ messages, extensions, typeOf }: ProtoContract): ReadonlyMap<string, ReadonlySet<string>> {
  const holders = new Map<string, Set<string>>()
  const add = (type: string, scope: string, holder: string): void => {
    const { kind, name } = typeOf(type, scope)
    if (kind === 'scalar') return
    const known = holders.get(name)
    if (known === undefined) holders.set(name, new Set([holder]))
    else known.add(holder)
  }
  for (const message of messages.values())
    for (const { type, scope } of message.fields) add(type, scope, message.fullName)
  for (const { type, scope, extendee } of extensions.values()) add(type, scope, typeOf(extendee ?? '', scope).name)
  return holders
}

const ANY = 'google.protobuf.Any'

/** `Any` itself, and all that holds it or what nothing declares. */
function typesWithAny(contract: ProtoContract): ReadonlySet<string> {
  const holders = holdersOf(contract)
  const found = new Set([ANY])
  for (const type of holders.keys()) if (contract.typeOf(`.${type}`, '').kind === 'opaque') found.add(type)
  // A set is walked to its end, whatever joins it on the way.
  for (const type of found) for (const holder of holders.get(type) ?? []) found.add(holder)
  return found
}
