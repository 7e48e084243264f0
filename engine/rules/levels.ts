/** Levels that somebody gives rules instead of their own, by selectors of rules. */
import { LEVELS, type Level } from '../finding.ts'
import { ok, type Result } from '../result.ts'
import { readSelector, type RuleSelector, type SelectorFault } from './selector.ts'

export type LevelOverride = Level | 'off'

/** Strictest first. */
const OVERRIDES: readonly LevelOverride[] = [...LEVELS, 'off']

/** Patterns and coordinates in one set of overrides; rules that are named by their ids are not counted. */
export const MAX_PATTERNS = 200

export interface RuleLevels {
  /** Undefined: the rule keeps its own level. */
  get(rule: string): LevelOverride | undefined
}

/** What is wrong with one selector of a set of overrides. */
export interface LevelFault extends SelectorFault {
  readonly selector: string
}

/**
 * The level of a rule that is named by its id holds. Of several patterns that select one rule the strictest holds, so that the
 * order in which they are written changes nothing.
 */
export function readLevels(
  overrides: Readonly<Record<string, LevelOverride>>,
): Result<RuleLevels, readonly LevelFault[]> {
  const exact = new Map<string, LevelOverride>()
  const patterns: { readonly selector: RuleSelector; readonly level: LevelOverride }[] = []
  const faults: LevelFault[] = []
  for (const [text, level] of Object.entries(overrides)) {
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

/** Asked for every change of a comparison: what the patterns say of a rule is found once. */
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
