/** One enum on both sides: its values by number, reserved ranges and names, openness, JSON support, options. */
import type { ProtoEnum, ProtoEnumValue } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { RangeSet, compareReserved, reportUnreserved } from './ranges.ts'
import { compareCommonOptions } from './options.ts'
import { compareVisibility } from './visibility.ts'
import type { ProtoWalk } from './walk.ts'

/** The option that allows two names for a number concerns only the compiler. */
const JUDGED: ReadonlySet<string> = new Set(['allow_alias'])

export function compareProtoEnum(base: ProtoEnum, head: ProtoEnum, walk: ProtoWalk): void {
  compareEnumValues(base, head, walk)
  compareReserved(base.reserved, head.reserved, (what, text) =>
    reportUnreserved(`proto-enum-reserved-${what}-removed`, text, head, walk),
  )
  const before = base.features.resolved
  const after = head.features.resolved
  const place = { side: 'head', location: head.at, name: head.fullName, reaches: head.fullName } as const
  if (before.enum_type !== after.enum_type) {
    const change = { ...place, subject: `${head.fullName} enum_type`, before: before.enum_type, after: after.enum_type }
    walk.add({ ...change, rule: 'proto-enum-type-changed' })
  }
  if (before.json_format === 'ALLOW' && after.json_format !== 'ALLOW') {
    const change = {
      ...place,
      subject: `${head.fullName} json_format`,
      before: before.json_format,
      after: after.json_format,
    }
    walk.add({ ...change, rule: 'proto-enum-json-format-changed' })
  }
  compareVisibility(base, head, walk)
  compareCommonOptions(base, head, { judged: JUDGED, reaches: head.fullName }, walk)
}

function compareEnumValues(base: ProtoEnum, head: ProtoEnum, walk: ProtoWalk): void {
  const before = byNumber(base)
  const after = byNumber(head)
  const reserved = new RangeSet(head.reserved.ranges)
  for (const [number, values] of before) {
    const kept = after.get(number)
    if (kept === undefined) reportRemovedValue({ values, number, reserved }, head, walk)
    else compareAliases(values, kept, head, walk)
  }
  // Readers put a value that a closed enum does not have aside, and see the field as not set.
  const isClosed = [base, head].some(({ features }) => features.resolved.enum_type === 'CLOSED')
  for (const [number, values] of after) {
    if (before.has(number)) continue
    for (const { name, at, fullName } of values) {
      const place = { side: 'head', location: at, subject: fullName, reaches: head.fullName } as const
      walk.add({
        ...place,
        rule: isClosed ? 'proto-closed-enum-value-added' : 'proto-enum-value-added',
        name: `${head.fullName}.${name}`,
        after: number,
      })
    }
  }
}

/** A number can have several names (allow_alias). The number identifies the value. */
function byNumber({ values }: ProtoEnum): ReadonlyMap<number, readonly ProtoEnumValue[]> {
  return Map.groupBy(values, ({ number }) => number)
}

interface RemovedNumber {
  readonly values: readonly ProtoEnumValue[]
  readonly number: number
  readonly reserved: RangeSet
}

function reportRemovedValue({ values, number, reserved }: RemovedNumber, head: ProtoEnum, walk: ProtoWalk): void {
  const [first] = values
  if (first === undefined) return
  const hasNumber = reserved.holds([number, number])
  const hasName = values.every(({ name }) => head.reserved.names.has(name))
  const place = {
    side: 'base',
    location: first.at,
    subject: `${head.fullName}#${number}`,
    reaches: head.fullName,
  } as const
  const checked = hasNumber && hasName ? walk.checkedField(head.fullName) : undefined
  if (checked !== undefined) {
    walk.add({ ...place, rule: 'proto-field-constraint-tightened', name: checked, before: first.name })
    return
  }
  const name = values.map((value) => `${head.fullName}.${value.name}`).join('`, `')
  walk.add({ ...place, rule: valueRemovalRule(hasNumber, hasName), name, before: number })
}

function valueRemovalRule(hasNumber: boolean, hasName: boolean): ProtoRuleId {
  if (hasNumber) return hasName ? 'proto-enum-value-removed-and-reserved' : 'proto-enum-value-removed-name-not-reserved'
  return hasName ? 'proto-enum-value-removed-number-not-reserved' : 'proto-enum-value-removed'
}

/** A new alias behind the first name takes nothing from clients. JSON has the first name, and refuses a removed one. */
function compareAliases(
  before: readonly ProtoEnumValue[],
  after: readonly ProtoEnumValue[],
  owner: ProtoEnum,
  walk: ProtoWalk,
): void {
  const names = new Set(after.map(({ name }) => name))
  const removedValues = before.filter(({ name }) => !names.has(name))
  const [first] = after
  if (first === undefined) return
  const subject = `${owner.fullName}#${first.number}`
  const place = { side: 'head', location: first.at, subject, reaches: owner.fullName, name: owner.fullName } as const
  if (removedValues.length > 0) {
    const values = { before: before.map(({ name }) => name).join(', '), after: [...names].join(', ') }
    walk.add({ ...place, rule: 'proto-enum-value-renamed', ...values })
  } else if (before[0] !== undefined && before[0].name !== first.name) {
    const isKnown = before.some(({ name }) => name === first.name)
    const rule = isKnown ? 'proto-enum-value-json-name-changed' : 'proto-enum-value-json-name-unknown'
    walk.add({ ...place, rule, before: before[0].name, after: first.name })
  }
  for (const base of before) {
    const head = after.find(({ name }) => name === base.name)
    if (head !== undefined) compareCommonOptions(base, head, { reaches: owner.fullName }, walk)
  }
}
