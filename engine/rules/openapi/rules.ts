/** The rules about an OpenAPI contract outside its schemas: all sections in one list, and the row that holds for a change. */
import type { Rule } from '../rule.ts'
import { lookupTable } from '../../lookup-table.ts'
import { makeRule } from '../schema-rules.ts'
import { CALLBACK_RULES } from './callbacks.ts'
import { INTERFACE_RULES } from './interface.ts'
import { OPERATION_RULES } from './operations.ts'
import { PARAMETER_RULES } from './parameters.ts'
import { PAYLOAD_RULES } from './payloads.ts'
import type { Facts, OpenApiChange, OpenApiRow, Section } from './row.ts'
import { SECURITY_RULES } from './security.ts'

const SECTIONS: readonly Section[] = [
  ...OPERATION_RULES,
  ...SECURITY_RULES,
  ...INTERFACE_RULES,
  ...PARAMETER_RULES,
  ...PAYLOAD_RULES,
  ...CALLBACK_RULES,
]

const ALL_ROWS: readonly OpenApiRow[] = SECTIONS.flatMap(({ rows }) => rows)

/** The row of a change; undefined when it is of no consequence. */
export function openApiRowOf(
  change: OpenApiChange,
  facts: Facts,
): { readonly id: string; readonly says: string } | undefined {
  return ALL_ROWS.find(
    (candidate) =>
      candidate.change === change && Object.entries(candidate.when).every(([name, value]) => facts[name] === value),
  )
}

/** What changes of a lifecycle are as actions. Whatever else they are, they are changes of what was announced. */
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
    rows.map(({ id, effect, says, when, change, kind: own = kind }) =>
      makeRule(id, direction, area, own, actionOf(change, when), effect, says.replaceAll(/[`{}]/g, '')),
    ),
  )
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()]
}
