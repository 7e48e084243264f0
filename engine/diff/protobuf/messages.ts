/** One message on both sides: its fields by number, oneofs, reserved and extension ranges, JSON support, options. */
import type { ProtoField, ProtoMessage } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { typeOfField } from './field-types.ts'
import { demandOf } from './call-options.ts'
import { cardinalityOf, compareProtoField, isRequiredField } from './fields.ts'
import { compareMembership, compareOneofs } from './oneofs.ts'
import { RangeSet, compareRanges, compareReserved, reportUnreserved } from './ranges.ts'
import { compareCommonOptions } from './options.ts'
import { compareVisibility } from './visibility.ts'
import type { ProtoWalk } from './walk.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'

const NO_ACCESSOR = 'no_standard_descriptor_accessor'
const MESSAGE_SET = 'message_set_wire_format'
const JUDGED: ReadonlySet<string> = new Set([NO_ACCESSOR, MESSAGE_SET])

export function compareProtoMessage(base: ProtoMessage, head: ProtoMessage, walk: ProtoWalk): void {
  compareFields(base, head, walk)
  compareOneofs(base, head, walk)
  compareReserved(base.reserved, head.reserved, (what, text) =>
    reportUnreserved(`proto-message-reserved-${what}-removed`, text, head, walk),
  )
  compareExtensions(base, head, walk)
  const place = { side: 'head', location: head.at, name: head.fullName, reaches: head.fullName } as const
  const before = base.features.resolved.json_format
  const after = head.features.resolved.json_format
  // More JSON support breaks no client. Map entries have the format of their message.
  if (before === 'ALLOW' && after !== before && !head.isMapEntry) {
    const subject = `${head.fullName} json_format`
    walk.add({ ...place, rule: 'proto-message-json-format-changed', subject, before, after })
  }
  if (base.options.get(NO_ACCESSOR) !== true && head.options.get(NO_ACCESSOR) === true) {
    const subject = `${head.fullName} accessor`
    walk.add({ ...place, rule: 'proto-message-descriptor-accessor-removed', subject, after: true })
  }
  const isSet = { before: base.options.get(MESSAGE_SET) === true, after: head.options.get(MESSAGE_SET) === true }
  if (isSet.before !== isSet.after) {
    walk.add({ ...place, rule: 'proto-message-set-format-changed', subject: `${head.fullName} set`, ...isSet })
  }
  compareVisibility(base, head, walk)
  compareCommonOptions(base, head, { judged: JUDGED, reaches: head.fullName }, walk)
}

/** Which extensions compile. */
function compareExtensions(base: ProtoMessage, head: ProtoMessage, walk: ProtoWalk): void {
  const report = (text: string): void => reportUnreserved('proto-message-extension-range-removed', text, head, walk)
  compareRanges(base.extensionRanges, head.extensionRanges, report)
  const open = new RangeSet(head.extensionRanges)
  for (const [number, declared] of base.declaredExtensions) {
    const isKept = open.holds([number, number]) || head.declaredExtensions.get(number) === declared
    if (!isKept) report(String(number))
  }
}

function compareFields(base: ProtoMessage, head: ProtoMessage, walk: ProtoWalk): void {
  const before = new Map(base.fields.map((field) => [field.number, field]))
  const after = new Map(head.fields.map((field) => [field.number, field]))
  const reserved = new RangeSet(head.reserved.ranges)
  compareMembership(before, after, walk)
  for (const [number, field] of before) {
    const kept = after.get(number)
    if (kept !== undefined) {
      compareProtoField(field, kept, walk)
      compareEntries(field, kept, walk)
    } else reportRemovedField(field, head, reserved, walk)
  }
  // Readers of JSON take both names of a field.
  const kept = [...after.values()].filter(({ number }) => before.has(number))
  const known = new Set(kept.flatMap(({ name, jsonName }) => [name, jsonName]))
  for (const [number, field] of after) {
    if (before.has(number)) continue
    const place = { side: 'head', location: field.at, subject: field.fullName, reaches: head.fullName } as const
    const rule = additionRule(field, head, walk)
    const isShared = rule === 'proto-field-added' && [field.name, field.jsonName].some((name) => known.has(name))
    walk.add({ ...place, rule: isShared ? 'proto-field-json-name-shared' : rule, name: field.fullName, after: number })
  }
}

/** Callers by the old contract do not give the new field. */
function additionRule(field: ProtoField, owner: ProtoMessage, walk: ProtoWalk): ProtoRuleId {
  if (isRequiredField(field)) return 'proto-required-field-added'
  const demand = demandOf(field)
  if (demand === 'none' || !walk.directions(owner.fullName).isSent) return 'proto-field-added'
  if (demand === 'required') return 'proto-field-required-by-option'
  // Constraints are not evaluated for a field with explicit presence that is not set.
  const isChecked = field.oneof === null && cardinalityOf(field, walk.head) !== 'explicit'
  if (!isChecked) return 'proto-field-added'
  return demand === 'refused' ? 'proto-field-required-by-option' : 'proto-constrained-field-added'
}

/** Entries of maps are named after their field. Those of a renamed field are matched by it. */
function compareEntries(base: ProtoField, head: ProtoField, walk: ProtoWalk): void {
  if (base.label !== 'map' || head.label !== 'map' || base.type === head.type) return
  const before = walk.base.messages.get(typeOfField(base, walk.base).name)
  const after = walk.head.messages.get(typeOfField(head, walk.head).name)
  if (before !== undefined && after !== undefined) compareProtoMessage(before, after, walk)
}

function reportRemovedField(field: ProtoField, head: ProtoMessage, reserved: RangeSet, walk: ProtoWalk): void {
  const place = { side: 'base', location: field.at, subject: field.fullName } as const
  const change = { ...place, name: field.fullName, before: field.number, reaches: outerOf(field.fullName) }
  const hasNumber = reserved.holds([field.number, field.number])
  const hasName = head.reserved.names.has(field.name)
  walk.add({ ...change, rule: fieldRemovalRule(hasNumber, hasName) })
  if (isRequiredField(field)) walk.add({ ...change, rule: 'proto-required-field-removed' })
}

function fieldRemovalRule(hasNumber: boolean, hasName: boolean): ProtoRuleId {
  if (hasNumber) return hasName ? 'proto-field-removed-and-reserved' : 'proto-field-removed-name-not-reserved'
  return hasName ? 'proto-field-removed-number-not-reserved' : 'proto-field-removed'
}
