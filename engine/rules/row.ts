/**
 * The form of a rule about a change outside schemas, in every format, and the rules made from it. The families make
 * the rules about schemas.
 */
import type { Direction, Level } from '../finding.ts'
import type { Advice } from './advice.ts'
import { generalSentence } from './general-sentence.ts'
import type { Effect, Rule } from './rule.ts'

export interface RuleRow {
  readonly level: Level
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened. `{name}`, `{before}`, `{after}` and `{detail}` are filled in. */
  readonly sentence: string
  /** The general form, for lists of rules. If absent, `generalSentence` derives it from `sentence`. */
  readonly lists?: string
  readonly why: string
  readonly fix: string
}

type RuleRows = Readonly<Record<string, RuleRow>>

type Shared = Pick<RuleRow, 'area' | 'direction' | 'why' | 'fix'>

/** A row in a section. Members that the section states may be left out. */
export interface OwnRow extends Omit<RuleRow, keyof Shared>, Partial<Shared> {}

/** The complete rows of a section. */
export function section(shared: Shared, rows: Readonly<Record<string, OwnRow>>): RuleRows {
  return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, { ...shared, ...row }]))
}

/** A rule in the form from which findings are made. */
export interface ContractRule {
  readonly rule: Rule
  readonly advice: Advice
  readonly sentence: string
}

/** The rules of a table of rows, by id. */
export function contractRules(rows: RuleRows): ReadonlyMap<string, ContractRule> {
  return new Map(Object.entries(rows).map(([id, row]) => [id, contractRule(id, row)]))
}

function contractRule(id: string, row: RuleRow): ContractRule {
  const { level, direction, area, kind, action, effect, sentence, lists = generalSentence(sentence), why, fix } = row
  const rule = { id, level, direction, area, kind, action, effect, description: lists, because: why }
  return { rule, advice: { explanation: why, fix }, sentence }
}

/** The rule of an id. An unknown id throws, because its change would not be judged. */
export function ruleNamed(rules: ReadonlyMap<string, ContractRule>, id: string): ContractRule {
  const rule = rules.get(id)
  if (rule === undefined) throw new Error(`no row for the rule ${id}`)
  return rule
}

/** The sentence of a finding with its values. A missing value is a fault of the walker. */
export function filledIn(sentence: string, words: Readonly<Record<string, string>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, word: string) => {
    const text = Object.hasOwn(words, word) ? words[word] : undefined
    if (text === undefined) throw new Error(`nothing was given for {${word}} of “${sentence}”`)
    return text
  })
}

/** The rules of a table, in the order of its rows. */
export function rulesIn(rules: ReadonlyMap<string, ContractRule>): readonly Rule[] {
  return [...rules.values()].map(({ rule }) => rule)
}
