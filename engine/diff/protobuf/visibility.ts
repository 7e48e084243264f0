/** Whether other files may use a message or enum (edition 2024, “Symbol visibility”). */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoEnum, ProtoMessage } from '../../contracts/protobuf/model.ts'
import type { ProtoWalk } from './walk.ts'

export function compareVisibility(
  base: ProtoMessage | ProtoEnum,
  head: ProtoMessage | ProtoEnum,
  walk: ProtoWalk,
): void {
  if (isLocalDeclaration(base, walk.base) || !isLocalDeclaration(head, walk.head)) return
  const place = { side: 'head', location: head.at, subject: `${head.fullName} visibility` } as const
  walk.add({ ...place, rule: 'proto-declaration-became-local', name: head.fullName })
}

function isLocalDeclaration(declared: ProtoMessage | ProtoEnum, { messages }: ProtoContract): boolean {
  // Nobody refers to an entry of a map.
  if ('isMapEntry' in declared && declared.isMapEntry) return false
  if (declared.visibility !== null) return declared.visibility === 'local'
  const fallback = declared.features.resolved.default_symbol_visibility
  if (fallback !== 'EXPORT_TOP_LEVEL') return fallback !== 'EXPORT_ALL'
  return messages.has(declared.fullName.slice(0, Math.max(declared.fullName.lastIndexOf('.'), 0)))
}
