/** Overrides of rule levels, by rule selectors. */
import { LEVELS, type Level } from '../../model/finding.ts'
import { ok, type Result } from '../../common/result.ts'
import { readSelector, type RuleSelector, type SelectorFault } from './selector.ts'

export type LevelOverride = Level | 'off'

/** Strictest first. */
const OVERRIDES: readonly LevelOverride[] = [...LEVELS, 'off']

/** Maximum patterns and coordinates in one set of overrides. Selectors with a full rule id are not counted. */
export const MAX_PATTERNS = 200

/** Faults that are looked for: nobody fixes more of them at a time. */
const MAX_FAULTS = 50

export interface RuleLevels {
  /** Undefined if the rule keeps its own level. */
  get(rule: string): LevelOverride | undefined
}

/** A fault in one selector of a set of overrides. */
export interface LevelFault extends SelectorFault {
  readonly selector: string
}

/**
 * A level given for a rule id wins. If several patterns select a rule, the strictest level wins, so their order has no
 * effect.
 */
export function readLevels(
  overrides: Readonly<Record<string, LevelOverride>>,
): Result<RuleLevels, readonly LevelFault[]> {
  const exact = new Map<string, LevelOverride>()
  const patterns: { readonly selector: RuleSelector; readonly level: LevelOverride }[] = []
  const faults: LevelFault[] = []
  for (const [text, level] of Object.entries(overrides)) {
    // Each further one costs a search of all rules.
    if (patterns.length > MAX_PATTERNS || faults.length >= MAX_FAULTS) break
    const selector = readSelector(text)
    if (!selector.ok) faults.push({ selector: text, ...selector.problem })
    else if (selector.value.isExact) exact.set(text, level)
    else if (patterns.push({ selector: selector.value, level }) === MAX_PATTERNS + 1)
      faults.push({ selector: text, message: `more than ${MAX_PATTERNS} patterns`, fix: 'select by coordinates' })
  }
  return faults.length > 0 ? { ok: false, problem: faults } : ok(new Overrides(exact, patterns))
}

/** No rule has another level than its own. */
export const OWN_LEVELS: RuleLevels = { get: () => undefined }

/** The patterns are evaluated once for each rule, because every change of a comparison looks its level up. */
class Overrides implements RuleLevels {
  readonly #known: Map<string, LevelOverride | undefined>
  readonly #patterns: readonly { readonly selector: RuleSelector; readonly level: LevelOverride }[]

  constructor(
    exact: ReadonlyMap<string, LevelOverride>,
    patterns: readonly { readonly selector: RuleSelector; readonly level: LevelOverride }[],
  ) {
    this.#known = new Map(exact)
    this.#patterns = patterns
  }

  get(rule: string): LevelOverride | undefined {
    if (this.#known.has(rule)) return this.#known.get(rule)
    const levels = this.#patterns.filter(({ selector }) => selector.has(rule)).map(({ level }) => level)
    const strictest = OVERRIDES.find((level) => levels.includes(level))
    this.#known.set(rule, strictest)
    return strictest
  }
}
