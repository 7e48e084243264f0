/**
 * The rules about an OpenAPI contract outside its schemas: all sections in one list, and the row that applies to a
 * change.
 */
import type { Rule } from '../rule.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { generalSentence } from '../general-sentence.ts'
import type { ContractRule, Judge, NoRule, Words } from '../row.ts'
import { makeRule } from '../schema-rules.ts'
import { CALLBACK_RULES } from './callbacks.ts'
import { INTERFACE_RULES } from './interface.ts'
import { OPERATION_RULES } from './operations.ts'
import { PARAMETER_RULES } from './parameters.ts'
import { PAYLOAD_RULES } from './payloads.ts'
import { openApiAdvice } from './advice.ts'
import type { OpenApiChange, OpenApiFacts } from './changes.ts'
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

/** The actions of lifecycle changes. Other rows about the lifecycle are changes of an announcement. */
const LIFECYCLE_ACTIONS: Readonly<Record<string, string>> = lookupTable({
  deprecated: 'deprecated',
  'deprecated-with-sunset': 'deprecated',
  'sunset-missing': 'deprecated',
  'sunset-invalid': 'deprecated',
  'sunset-too-small': 'deprecated',
  reactivated: 'reactivated',
})

function actionOf(change: OpenApiChange, { action, kind, step }: Words): string {
  if (typeof action === 'string') return action
  if (typeof kind === 'string') return LIFECYCLE_ACTIONS[kind] ?? 'changed'
  if (step === 'increased' || step === 'decreased') return step
  return /-(added|removed)$/.exec(change)?.[1] ?? 'changed'
}

const BY_ID: ReadonlyMap<string, Rule> = new Map(
  SECTIONS.flatMap(({ direction, area, kind, rows }) =>
    rows.map(({ id, effect, sentence, when, change, kind: own = kind }) => [
      id,
      makeRule({
        id,
        variance: direction,
        area,
        kind: own,
        action: actionOf(change, when),
        effect,
        description: generalSentence(sentence),
      }),
    ]),
  ),
)

/** Every rule of these rows, each id once. */
export const OPENAPI_RULES: readonly Rule[] = [...BY_ID.values()]

/** A row that applies where its facts hold, and its decision. */
interface Applied {
  readonly when: Words
  readonly decision: ContractRule | NoRule
}

/** A change that is reported and has no effect under these facts. */
function withoutRule<Change extends OpenApiChange>(
  change: Change,
  when: Partial<OpenApiFacts[Change]>,
  noRule: string,
): Applied & { readonly change: OpenApiChange } {
  return { change, when: { ...when }, decision: { noRule } }
}

const WITHOUT_RULE = [
  withoutRule(
    'operation-removed',
    { removal: 'after-sunset' },
    'It was announced with a sunset day, which is past: callers had the time that was promised.',
  ),
]

/** The rows of each change, in order. The first one that applies counts. */
const BY_CHANGE: ReadonlyMap<string, readonly Applied[]> = Map.groupBy(
  [
    ...OPENAPI_ROWS.map(({ change, when, ...row }) => ({
      change,
      when: { ...when },
      decision: ruleWithSentence(row),
    })),
    ...WITHOUT_RULE,
  ],
  ({ change }) => change,
)

function ruleWithSentence({ id, sentence, advice }: Pick<OpenApiRow, 'id' | 'sentence' | 'advice'>): ContractRule {
  const rule = BY_ID.get(id)
  if (rule === undefined) throw new Error(`no rule ${id}`)
  return { rule, advice: advice ?? openApiAdvice(rule), sentence }
}

/**
 * The row of a change, or the decision that none applies.
 * @throws if no row covers it: an unjudged change must not pass
 */
function matchingDecision({ change }: { readonly change: OpenApiChange }, words: Words): ContractRule | NoRule {
  const row = BY_CHANGE.get(change)?.find(({ when }) => hasWords(when, words))
  if (row === undefined) throw new Error(`no row for the change ${change} with ${JSON.stringify(words)}`)
  return row.decision
}

function hasWords(when: Words, words: Words): boolean {
  return Object.entries(when).every(([name, value]) => words[name] === value)
}

export const OPENAPI_JUDGE: Judge<{ readonly change: OpenApiChange }> = {
  rowOf: matchingDecision,
  adviceOf: openApiAdvice,
}
