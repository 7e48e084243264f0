/** The oneofs of a message on both sides, matched by name, and which fields exclude each other. */
import type { ProtoField, ProtoMessage } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { demandOf } from './call-options.ts'
import { fieldReporter } from './fields.ts'
import { compareCommonOptions } from './options.ts'
import type { ProtoWalk } from './walk.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'

type FieldsByNumber = ReadonlyMap<number, ProtoField>

/**
 * The name of a oneof is in code only. Values are lost if a field and another one, which both sides have, exclude each
 * other on one side only.
 */
export function compareMembership(before: FieldsByNumber, after: FieldsByNumber, walk: ProtoWalk): void {
  const rules = new Map<string, ProtoRuleId>()
  const [base, head] = [keptMembers(before, after), keptMembers(after, before)]
  for (const [number, field] of before) {
    const kept = after.get(number)
    if (kept === undefined || field.oneof === kept.oneof) continue
    const both = JSON.stringify([field.oneof, kept.oneof])
    // The answer is the same for all fields that go from one oneof to one other.
    const rule = rules.get(both) ?? membershipRule(membersWith(field, base), membersWith(kept, head))
    if (field.oneof !== null && kept.oneof !== null) rules.set(both, rule)
    fieldReporter(kept, outerOf(kept.fullName), walk)(rule, oneofName(field), oneofName(kept))
  }
}

function membershipRule(before: ReadonlySet<number>, after: ReadonlySet<number>): ProtoRuleId {
  const isSame = before.size === after.size && before.isSubsetOf(after)
  return isSame ? 'proto-field-oneof-changed-in-source' : 'proto-field-oneof-changed'
}

/** The numbers of the fields of each oneof that the other side has too. */
function keptMembers(fields: FieldsByNumber, others: FieldsByNumber): ReadonlyMap<string, Set<number>> {
  const members = new Map<string, Set<number>>()
  for (const [number, { oneof }] of fields) {
    if (oneof === null || !others.has(number)) continue
    const known = members.get(oneof)
    if (known === undefined) members.set(oneof, new Set([number]))
    else known.add(number)
  }
  return members
}

function membersWith({ oneof, number }: ProtoField, members: ReadonlyMap<string, Set<number>>): ReadonlySet<number> {
  return (oneof === null ? undefined : members.get(oneof)) ?? new Set([number])
}

function oneofName({ oneof }: ProtoField): string {
  return oneof === null ? 'no oneof' : `the oneof ${oneof}`
}

/** Oneofs that were added or removed, and the options of the others. */
export function compareOneofs(base: ProtoMessage, head: ProtoMessage, walk: ProtoWalk): void {
  const before = new Set(base.oneofs.map(({ name }) => name))
  const after = new Map(head.oneofs.map((oneof) => [oneof.name, oneof]))
  for (const oneof of base.oneofs) {
    const { name, fullName, at } = oneof
    const kept = after.get(name)
    if (kept !== undefined) {
      compareCommonOptions(oneof, kept, { reaches: head.fullName }, walk)
      continue
    }
    const place = { side: 'base', location: at, subject: fullName, reaches: base.fullName } as const
    walk.add({ ...place, rule: 'proto-oneof-removed', name: fullName, before: name })
  }
  for (const { name, fullName, at, options } of head.oneofs) {
    if (before.has(name)) continue
    const place = { side: 'head', location: at, subject: fullName, reaches: head.fullName } as const
    const isDemanded = demandOf({ options }) === 'required' && walk.directions(head.fullName).isSent
    const rule = isDemanded ? 'proto-field-required-by-option' : 'proto-oneof-added'
    walk.add({ ...place, rule, name: fullName, after: name })
  }
}
