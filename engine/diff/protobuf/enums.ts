/** One enum on both sides: its values by number, what it reserves, whether it is open, JSON support, options. */
import type { ProtoEnum, ProtoEnumValue } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { compareRanges, compareReservedNames, RangeSet } from './ranges.ts'
import { compareCommonOptions, type ProtoReport } from './report.ts'

/** Whether two names may share a number only concerns the compiler. */
const JUDGED: ReadonlySet<string> = new Set(['allow_alias'])
const NONE: ReadonlySet<string> = new Set()

export function compareEnum(old: ProtoEnum, now: ProtoEnum, report: ProtoReport): void {
  compareEnumValues(old, now, report)
  compareRanges('proto-enum-reserved-range-removed', old.reserved.ranges, now.reserved.ranges, now, report)
  compareReservedNames('proto-enum-reserved-name-removed', old.reserved, now.reserved, now, report)
  const was = old.features.resolved
  const is = now.features.resolved
  const place = { side: 'head', location: now.at, name: now.fullName, reaches: now.fullName } as const
  if (was.enum_type !== is.enum_type) {
    const change = { ...place, subject: `${now.fullName} enum_type`, before: was.enum_type, after: is.enum_type }
    report.say({ ...change, rule: 'proto-enum-type-changed' })
  }
  if (was.json_format === 'ALLOW' && is.json_format !== 'ALLOW') {
    const change = { ...place, subject: `${now.fullName} json_format`, before: was.json_format, after: is.json_format }
    report.say({ ...change, rule: 'proto-enum-json-format-changed' })
  }
  compareCommonOptions(old, now, report, JUDGED, now.fullName)
}

function compareEnumValues(old: ProtoEnum, now: ProtoEnum, report: ProtoReport): void {
  const before = byNumber(old)
  const after = byNumber(now)
  const reserved = new RangeSet(now.reserved.ranges)
  for (const [number, values] of before) {
    const kept = after.get(number)
    if (kept === undefined) sayRemoved({ values, number, reserved }, now, report)
    else compareAliases(values, kept, now, report)
  }
  for (const [number, values] of after) {
    if (before.has(number)) continue
    for (const { name, at, fullName } of values) {
      const place = { side: 'head', location: at, subject: fullName, reaches: now.fullName } as const
      report.say({ ...place, rule: 'proto-enum-value-added', name, after: number })
    }
  }
}

/** A number can have several names (allow_alias): it is the number that is a value. */
function byNumber({ values }: ProtoEnum): ReadonlyMap<number, readonly ProtoEnumValue[]> {
  return Map.groupBy(values, ({ number }) => number)
}

interface RemovedNumber {
  readonly values: readonly ProtoEnumValue[]
  readonly number: number
  readonly reserved: RangeSet
}

function sayRemoved({ values, number, reserved }: RemovedNumber, now: ProtoEnum, report: ProtoReport): void {
  const [first] = values
  if (first === undefined) return
  const hasNumber = reserved.holds([number, number])
  const hasName = values.every(({ name }) => now.reserved.names.has(name))
  const place = {
    side: 'base',
    location: first.at,
    subject: `${now.fullName}#${number}`,
    reaches: now.fullName,
  } as const
  const name = values.map((value) => value.name).join('`, `')
  report.say({ ...place, rule: removalRule(hasNumber, hasName), name, before: number })
}

function removalRule(hasNumber: boolean, hasName: boolean): ProtoRuleId {
  if (hasNumber) return hasName ? 'proto-enum-value-removed-and-reserved' : 'proto-enum-value-removed-name-not-reserved'
  return hasName ? 'proto-enum-value-removed-number-not-reserved' : 'proto-enum-value-removed'
}

/** A new alias takes nothing away; a name that went is refused in JSON. */
function compareAliases(
  before: readonly ProtoEnumValue[],
  after: readonly ProtoEnumValue[],
  owner: ProtoEnum,
  report: ProtoReport,
): void {
  const names = new Set(after.map(({ name }) => name))
  const gone = before.filter(({ name }) => !names.has(name))
  const [first] = after
  if (first === undefined) return
  if (gone.length > 0) {
    const subject = `${owner.fullName}#${first.number}`
    const place = { side: 'head', location: first.at, subject, reaches: owner.fullName } as const
    const was = before.map(({ name }) => name).join(', ')
    report.say({
      ...place,
      rule: 'proto-enum-value-renamed',
      name: owner.fullName,
      before: was,
      after: [...names].join(', '),
    })
  }
  for (const old of before) {
    const now = after.find(({ name }) => name === old.name)
    if (now !== undefined) compareCommonOptions(old, now, report, NONE, owner.fullName)
  }
}
