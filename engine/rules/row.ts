/**
 * The form of a rule about a change outside schemas, in every format, and the rules made from it. The families make
 * the rules about schemas.
 */
import type { Direction, Level } from '../model/finding.ts'
import { adviceOf, type Advice } from './advice.ts'
import { generalSentence } from './general-sentence.ts'
import type { Effect, Rule, Variance } from './rule.ts'
import { ABSENT, nameValue } from '../schema/values.ts'

export interface RuleRow {
  readonly level: Level
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened. `{name}`, `{before}`, `{after}` and `{detail}` are filled in. */
  readonly sentence: string
  /** How the sentence names a value that the contract does not state. Default: `(absent)`. */
  readonly absent?: string
  /** The general form, for lists of rules. If absent, `generalSentence` derives it from `sentence`. */
  readonly lists?: string
  readonly why: string
  readonly fix: string
}

/** A part of a wrong JSON type that differs between both sides, in every format. */
export const MALFORMED_PART = {
  level: 'dangerous',
  direction: 'none',
  kind: 'structure',
  action: 'changed',
  effect: 'may-narrow',
  sentence: 'the part `{name}` has to be {form} and is not, so that its change was not judged',
  why: 'It is read as absent, and other readers may refuse it or read it otherwise.',
  fix: 'Give it the form that its format states.',
} as const satisfies Partial<RuleRow>

type RuleRows = Readonly<Record<string, RuleRow>>

type Shared = Pick<RuleRow, 'area' | 'direction' | 'why' | 'fix'>

/** A row in a section. Members that the section states may be left out. */
export interface OwnRow extends Omit<RuleRow, keyof Shared>, Partial<Shared> {}

/** The complete rows of a section. */
export function section(shared: Shared, rows: Readonly<Record<string, OwnRow>>): RuleRows {
  return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, { ...shared, ...row }]))
}

/** A rule in the form from which findings are made. */
export interface ContractRule extends Pick<RuleRow, 'sentence' | 'absent'> {
  readonly rule: Rule
  readonly advice: Advice
}

/** The rules of a table of rows, by id. */
export function contractRules(rows: RuleRows): ReadonlyMap<string, ContractRule> {
  return new Map(Object.entries(rows).map(([id, row]) => [id, contractRule(id, row)]))
}

function contractRule(id: string, row: RuleRow): ContractRule {
  const { level, direction, area, kind, action, effect, sentence, absent, why, fix } = row
  const { lists = generalSentence(sentence) } = row
  const rule = { id, level, direction, area, kind, action, effect, description: lists, because: why }
  return { rule, advice: { explanation: why, fix }, sentence, ...(absent !== undefined && { absent }) }
}

/** The values that a sentence may name. */
export type Words = Readonly<Record<string, unknown>>

/** The rules of a format. `Named` is the part of a change that names its row. */
export interface Judge<Named> {
  /** @throws if no row covers the change: an unjudged change must not pass */
  readonly rowOf: (change: Named, words: Words) => ContractRule | NoRule
  /** The advice about a change of a schema. */
  readonly adviceOf: (rule: Rule, variance: Variance) => Advice
}

/** The decision that no rule applies to a change, because it has no effect. */
export interface NoRule {
  readonly noRule: string
}

/** The judge of changes that name their rule. An unknown id throws, because its change would not be judged. */
export function judgeById<Id extends string>(
  rules: Pick<ReadonlyMap<Id, ContractRule>, 'get'>,
): Judge<{ readonly rule: Id }> {
  const rowOf = ({ rule: id }: { readonly rule: Id }): ContractRule => {
    const row = rules.get(id)
    if (row === undefined) throw new Error(`no row for the rule ${id}`)
    return row
  }
  return { rowOf, adviceOf }
}

/**
 * The sentence of a finding with its values. A missing value is a fault of the walker, so it throws. Null: the contract
 * does not state the value, so the sentence does not quote it.
 */
export function filledIn({ sentence, absent = ABSENT }: Pick<RuleRow, 'sentence' | 'absent'>, words: Words): string {
  return sentence.replaceAll(/(`?)\{(\w+)\}\1/g, (_, quote: string, word: string) => {
    const value = Object.hasOwn(words, word) ? words[word] : undefined
    if (value === undefined) throw new Error(`nothing was given for {${word}} of “${sentence}”`)
    return value === null ? absent : `${quote}${nameValue(value) || '""'}${quote}`
  })
}

/** The rules of a table, in the order of its rows. */
export function rulesIn(rules: ReadonlyMap<string, ContractRule>): readonly Rule[] {
  return [...rules.values()].map(({ rule }) => rule)
}
