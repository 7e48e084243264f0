/**
 * The rules about an OpenAPI contract outside its schemas: all sections in one list, and the row that applies to a
 * change.
 */
import type { Rule } from '../rule.ts'
import { lookupTable } from '../../lookup-table.ts'
import { generalSentence } from '../general-sentence.ts'
import { makeRule } from '../schema-rules.ts'
import { CALLBACK_RULES } from './callbacks.ts'
import { INTERFACE_RULES } from './interface.ts'
import { OPERATION_RULES } from './operations.ts'
import { PARAMETER_RULES } from './parameters.ts'
import { PAYLOAD_RULES } from './payloads.ts'
import type { OpenApiChange } from './changes.ts'
import type { OpenApiRow, Section } from './row.ts'
import { SECURITY_RULES } from './security.ts'

const SECTIONS: readonly Section[] = [
  ...OPERATION_RULES,
  ...SECURITY_RULES,
  ...INTERFACE_RULES,
  ...PARAMETER_RULES,
  ...PAYLOAD_RULES,
  ...CALLBACK_RULES,
]

export const OPENAPI_ROWS: readonly OpenApiRow[] = SECTIONS.flatMap(({ rows }) => rows)

type Facts = Readonly<Record<string, unknown>>

/** Reported changes without a rule, because they have no effect. */
const WITHOUT_RULE: readonly { readonly change: OpenApiChange; readonly when: Facts; readonly because: string }[] = [
  {
    change: 'operation-removed',
    when: { removal: 'after-sunset' },
    because: 'It was announced with a sunset day, which is past: callers had the time that was promised.',
  },
]

/**
 * The row of a change. Null if the change has no effect.
 * @throws if no row covers it: an unjudged change must not pass
 */
export function openApiRowOf(
  change: OpenApiChange,
  facts: Facts,
): { readonly id: string; readonly sentence: string } | null {
  const row = OPENAPI_ROWS.find((candidate) => candidate.change === change && holds(candidate.when, facts))
  if (row !== undefined) return row
  if (WITHOUT_RULE.some((known) => known.change === change && holds(known.when, facts))) return null
  throw new Error(`no row for the change ${change} with ${JSON.stringify(facts)}`)
}

function holds(when: object, facts: Facts): boolean {
  return Object.entries(when).every(([name, value]) => facts[name] === value)
}

/** The actions of lifecycle changes. Other rows about the lifecycle are changes of an announcement. */
const LIFECYCLE_ACTIONS: Readonly<Record<string, string>> = lookupTable({
  deprecated: 'deprecated',
  'deprecated-with-sunset': 'deprecated',
  'sunset-missing': 'deprecated',
  'sunset-invalid': 'deprecated',
  'sunset-too-small': 'deprecated',
  reactivated: 'reactivated',
})

function actionOf(change: OpenApiChange, { action, kind, step }: Facts): string {
  if (typeof action === 'string') return action
  if (typeof kind === 'string') return LIFECYCLE_ACTIONS[kind] ?? 'changed'
  if (step === 'increased' || step === 'decreased') return step
  return /-(added|removed)$/.exec(change)?.[1] ?? 'changed'
}

/** Every rule of these rows, each id once. */
export function openApiRules(): readonly Rule[] {
  const rules = SECTIONS.flatMap(({ direction, area, kind, rows }) =>
    rows.map(({ id, effect, sentence, when, change, kind: own = kind }) =>
      makeRule(id, direction, area, own, actionOf(change, when), effect, generalSentence(sentence)),
    ),
  )
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()]
}
