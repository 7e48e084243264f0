/** One message on both sides: its fields by number, oneofs, reserved and extension ranges, JSON support, options. */
import type { ProtoField, ProtoMessage } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { typeOfField } from './field-types.ts'
import { compareField, isRequired } from './fields.ts'
import { compareRanges, compareReservedNames, RangeSet } from './ranges.ts'
import { compareCommonOptions, type ProtoReport } from './report.ts'

const NO_ACCESSOR = 'no_standard_descriptor_accessor'
const JUDGED: ReadonlySet<string> = new Set([NO_ACCESSOR])

export function compareMessage(old: ProtoMessage, now: ProtoMessage, report: ProtoReport): void {
  compareFields(old, now, report)
  compareOneofs(old, now, report)
  compareRanges('proto-message-reserved-range-removed', old.reserved.ranges, now.reserved.ranges, now, report)
  compareReservedNames('proto-message-reserved-name-removed', old.reserved, now.reserved, now, report)
  compareRanges('proto-message-extension-range-removed', old.extensionRanges, now.extensionRanges, now, report)
  const place = { side: 'head', location: now.at, name: now.fullName, reaches: now.fullName } as const
  const was = old.features.resolved.json_format
  const is = now.features.resolved.json_format
  // To promise more of JSON than before breaks nobody; entries of maps have the format of their message.
  if (was === 'ALLOW' && is !== was && !now.isMapEntry) {
    const subject = `${now.fullName} json_format`
    report.say({ ...place, rule: 'proto-message-json-format-changed', subject, before: was, after: is })
  }
  if (old.options.get(NO_ACCESSOR) !== true && now.options.get(NO_ACCESSOR) === true) {
    const subject = `${now.fullName} accessor`
    report.say({ ...place, rule: 'proto-message-descriptor-accessor-removed', subject, after: true })
  }
  compareCommonOptions(old, now, report, JUDGED, now.fullName)
}

function compareFields(old: ProtoMessage, now: ProtoMessage, report: ProtoReport): void {
  const before = new Map(old.fields.map((field) => [field.number, field]))
  const after = new Map(now.fields.map((field) => [field.number, field]))
  const reserved = new RangeSet(now.reserved.ranges)
  for (const [number, field] of before) {
    const kept = after.get(number)
    if (kept !== undefined) {
      compareField(field, kept, report)
      compareEntries(field, kept, report)
    } else sayRemoved(field, now, reserved, report)
  }
  for (const [number, field] of after) {
    if (before.has(number)) continue
    const place = { side: 'head', location: field.at, subject: field.fullName, reaches: now.fullName } as const
    const rule = isRequired(field) ? 'proto-required-field-added' : 'proto-field-added'
    report.say({ ...place, rule, name: field.name, after: number })
  }
}

/** Entries of maps are named after their field: those of a renamed one are matched by it. */
function compareEntries(old: ProtoField, now: ProtoField, report: ProtoReport): void {
  if (old.label !== 'map' || now.label !== 'map' || old.type === now.type) return
  const before = report.base.messages.get(typeOfField(old, report.base).name)
  const after = report.head.messages.get(typeOfField(now, report.head).name)
  if (before !== undefined && after !== undefined) compareMessage(before, after, report)
}

function sayRemoved(field: ProtoField, now: ProtoMessage, reserved: RangeSet, report: ProtoReport): void {
  const place = { side: 'base', location: field.at, subject: field.fullName } as const
  const change = { ...place, name: field.name, before: field.number, reaches: outerOf(field.fullName) }
  const hasNumber = reserved.holds([field.number, field.number])
  const hasName = now.reserved.names.has(field.name)
  report.say({ ...change, rule: removalRule(hasNumber, hasName) })
  if (isRequired(field)) report.say({ ...change, rule: 'proto-required-field-removed' })
}

function removalRule(hasNumber: boolean, hasName: boolean): ProtoRuleId {
  if (hasNumber) return hasName ? 'proto-field-removed-and-reserved' : 'proto-field-removed-name-not-reserved'
  return hasName ? 'proto-field-removed-number-not-reserved' : 'proto-field-removed'
}

function compareOneofs(old: ProtoMessage, now: ProtoMessage, report: ProtoReport): void {
  const before = new Set(old.oneofs.map(({ name }) => name))
  const after = new Set(now.oneofs.map(({ name }) => name))
  for (const { name, fullName, at } of old.oneofs) {
    if (after.has(name)) continue
    const place = { side: 'base', location: at, subject: fullName, reaches: old.fullName } as const
    report.say({ ...place, rule: 'proto-oneof-removed', name, before: name })
  }
  for (const { name, fullName, at } of now.oneofs) {
    if (before.has(name)) continue
    const place = { side: 'head', location: at, subject: fullName, reaches: now.fullName } as const
    report.say({ ...place, rule: 'proto-oneof-added', name, after: name })
  }
}

function outerOf(fullName: string): string {
  return fullName.slice(0, Math.max(fullName.lastIndexOf('.'), 0))
}
