/** Drops and masks entries before they reach a sink, by the expressions of the configuration. */
import { engine } from '../../loading/lazy-engine.ts'
import type { EntryExpression } from '../../../engine/internal.ts'
import { ENTRY_FIELDS, type DecisionLogEntry } from './entry.ts'
import type { DecisionLogSettings } from './settings.ts'

/** Null: the entry is dropped. */
type EntryFilter = (entry: DecisionLogEntry) => DecisionLogEntry | null

type FilterSettings = Pick<DecisionLogSettings, 'mask' | 'drop'>

const MASKED = '[masked]'

/** An expression that fails on an entry hides too much rather than too little: it masks, and it does not drop. */
export function createEntryFilter({ mask, drop }: FilterSettings): EntryFilter {
  if (mask.length === 0 && drop.length === 0) return (entry) => entry
  const drops = drop.map(compiled)
  const masks = mask.map(({ fields, when }) => ({ fields, when: when === undefined ? null : compiled(when) }))
  return (entry) => {
    const facts = filterFacts(entry)
    if (drops.some((expression) => isFilterTrue(expression, facts, false))) return null
    const hidden = masks
      .filter(({ when }) => when === null || isFilterTrue(when, facts, true))
      .flatMap(({ fields }) => fields)
    return hidden.length === 0 ? entry : masked(entry, hidden)
  }
}

/** The text was checked when the configuration was read. */
function compiled(source: string): EntryExpression {
  const expression = engine().compileEntryExpression(source, ENTRY_FIELDS)
  if (!expression.ok) throw new Error(`${source} ${expression.problem}`)
  return expression.value
}

type FilterFacts = Parameters<EntryExpression['test']>[0]

function filterFacts(entry: DecisionLogEntry): FilterFacts {
  const facts: FilterFacts = JSON.parse(JSON.stringify(entry))
  return facts
}

function isFilterTrue(expression: EntryExpression, facts: FilterFacts, onFailure: boolean): boolean {
  const tested = expression.test(facts)
  return tested.ok ? tested.value : onFailure
}

/** Texts become `[masked]`; lists, numbers and objects become empty, so that the entry still fits its schema. */
function masked(entry: DecisionLogEntry, fields: readonly string[]): DecisionLogEntry {
  const changed = Object.entries(entry).map(([name, value]) => [name, fields.includes(name) ? blank(value) : value])
  return Object.fromEntries(changed)
}

function blank(value: unknown): unknown {
  if (typeof value === 'string') return MASKED
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : null
}

/** Members that name, find and date an entry, or say what it is. */
const NEVER_MASKED: readonly string[] = ['schema', 'id', 'time', 'kind']
export const MASKABLE_FIELDS: readonly string[] = ENTRY_FIELDS.filter((name) => !NEVER_MASKED.includes(name))
