/** The rpcs of a protobuf contract by call path, whatever their form of exchange. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { fail, ok, type Result } from '../../common/result.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { missingImports, readProtoContract, type ProtoContract } from './contract.ts'
import type { ProtoMethod, ProtoService } from './model.ts'

export const EXCHANGES = ['RPC', 'CLIENT_STREAM', 'SERVER_STREAM', 'BIDI_STREAM'] as const
type StreamingKind = (typeof EXCHANGES)[number]

export function exchangeOf({ isClientStreaming, isServerStreaming }: ProtoMethod): StreamingKind {
  if (isClientStreaming) return isServerStreaming ? 'BIDI_STREAM' : 'CLIENT_STREAM'
  return isServerStreaming ? 'SERVER_STREAM' : 'RPC'
}

/** `/package.Service/Method` (gRPC over HTTP/2, “Path”). */
export function rpcPath(service: ProtoService, method: ProtoMethod): string {
  return `/${service.fullName}/${method.name}`
}

export interface Rpc {
  readonly path: string
  readonly exchange: StreamingKind
  /**
   * Its messages can contain messages of any type: `google.protobuf.Any`, or a type whose declaration is not
   * available.
   */
  readonly carriesAny: boolean
  /** The files of the service and of all types in its messages, as prefixes of finding locations; sorted. */
  readonly files: readonly string[]
}

/** Plain data, because a worker may produce it. */
export interface RpcTable {
  readonly rpcs: readonly Rpc[]
  /** Imported files that are not available. Changes in them cannot be seen. */
  readonly missing: readonly string[]
}

/** @param text one file, or a JSON object of path → text */
export function readRpcs(text: string, limits: DocumentLimits): Result<RpcTable> {
  const read = readProtoContract(text, limits)
  if (!read.ok) return fail(read.problem)
  const contract = read.value
  const open = typesWithAny(contract)
  const filesOf = fileClosures(contract)
  const rpcs = [...contract.services.values()].flatMap((service) =>
    service.methods.map((method): Rpc => {
      const messages = [method.input, method.output].map((written) => contract.typeOf(written, method.scope))
      const carriesAny = messages.some(({ kind, name }) => kind === 'opaque' || open.has(name))
      const files = new Set([...fileAt(service.at, contract), ...messages.flatMap(({ name }) => [...filesOf(name)])])
      return {
        path: rpcPath(service, method),
        exchange: exchangeOf(method),
        carriesAny,
        files: [...files].sort(byCodeUnit),
      }
    }),
  )
  return ok({ rpcs, missing: [...new Set(missingImports(contract).map(({ path }) => path))] })
}

/** The messages that contain each type, by full name: in a field, or in one of their extensions. */
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

export const ANY = 'google.protobuf.Any'

/** `Any`, and all types that contain it or an undeclared type. */
function typesWithAny(contract: ProtoContract): ReadonlySet<string> {
  const holders = holdersOf(contract)
  const found = new Set([ANY])
  for (const type of holders.keys()) if (contract.typeOf(`.${type}`, '').kind === 'opaque') found.add(type)
  // Iteration over a set includes items added on the way.
  for (const type of found) for (const holder of holders.get(type) ?? []) found.add(holder)
  return found
}

/** The types that each message contains, by full name. */
export function heldTypesOf(contract: ProtoContract): ReadonlyMap<string, readonly string[]> {
  const held = new Map<string, string[]>()
  for (const [type, holders] of holdersOf(contract)) for (const holder of holders) append(held, holder, type)
  return held
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

function fileAt(at: string, { fileOf }: ProtoContract): readonly string[] {
  const file = fileOf(at)
  return file === undefined ? [] : [file.at]
}

/** The files that declare a type, its extensions, and everything that it contains. */
function fileClosures(contract: ProtoContract): (type: string) => ReadonlySet<string> {
  const held = heldTypesOf(contract)
  const own = new Map<string, readonly string[]>()
  for (const type of [...contract.messages.values(), ...contract.enums.values()])
    own.set(type.fullName, fileAt(type.at, contract))
  for (const { at, extendee, scope } of contract.extensions.values()) {
    const { name } = contract.typeOf(extendee ?? '', scope)
    own.set(name, [...(own.get(name) ?? []), ...fileAt(at, contract)])
  }
  const closures = new Map<string, ReadonlySet<string>>()
  return (start) => {
    const known = closures.get(start)
    if (known !== undefined) return known
    const reached = new Set([start])
    // Iteration over a set includes items added on the way.
    for (const type of reached) for (const inner of held.get(type) ?? []) reached.add(inner)
    const files = new Set([...reached].flatMap((type) => own.get(type) ?? []))
    closures.set(start, files)
    return files
  }
}
