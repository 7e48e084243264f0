/** Fields of a message that exclude each other by validation (protovalidate, `oneof` of messages). */
import type { Json } from '../../common/hash.ts'
import { isRecord } from '../../schema/located.ts'
import { fromSets, type ConstraintEffect } from './constraints.ts'

/** What fields exclude each other. Of the fields of a choice, one may be set, or must. */
export function relateChoices(before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): ConstraintEffect {
  const base = [...before.values()].map(choiceOf)
  const head = [...after.values()].map(choiceOf)
  return fromSets(
    head.every((choice) => isImplied(choice, base)),
    base.every((choice) => isImplied(choice, head)),
  )
}

interface Choice {
  readonly fields: ReadonlySet<unknown>
  readonly isRequired: boolean
}

function choiceOf(choice: Json): Choice {
  const { fields, required }: Readonly<Record<string, unknown>> = isRecord(choice) ? choice : {}
  return { fields: new Set(Array.isArray(fields) ? fields : []), isRequired: required === true }
}

function isImplied({ fields, isRequired }: Choice, others: readonly Choice[]): boolean {
  const isExclusive = fields.size < 2 || others.some((other) => fields.isSubsetOf(other.fields))
  return isExclusive && (!isRequired || others.some((other) => other.isRequired && other.fields.isSubsetOf(fields)))
}
