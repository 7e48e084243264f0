/** What a rule is: one kind of change at one kind of place, with its verdict. */
import type { Direction, Level } from '../finding.ts'

/** What a change does to the set of values that a contract admits. */
export type Effect = 'narrows' | 'widens' | 'may-narrow' | 'may-widen' | 'moves' | 'none'

export interface Rule {
  /** Stable kebab-case id. */
  readonly id: string
  readonly level: Level
  readonly direction: Direction
  /** The part of a contract that it watches: `schema`, `parameters`, `security` … */
  readonly area: string
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened, in a few words, for tables of rules. */
  readonly description: string
  /** Why the level is not the one that direction and effect give; null where it is. */
  readonly because: string | null
}

/**
 * Variance: who writes a value must keep to what its reader admits. Narrowing what callers may send breaks callers;
 * widening what readers may receive breaks readers; what may do so is dangerous.
 */
const VARIANCE: Readonly<Record<Direction, Readonly<Record<Effect, Level>>>> = {
  request: {
    narrows: 'breaking',
    widens: 'info',
    'may-narrow': 'dangerous',
    'may-widen': 'info',
    moves: 'breaking',
    none: 'info',
  },
  response: {
    narrows: 'info',
    widens: 'breaking',
    'may-narrow': 'info',
    'may-widen': 'dangerous',
    moves: 'breaking',
    none: 'info',
  },
  none: {
    narrows: 'breaking',
    widens: 'info',
    'may-narrow': 'dangerous',
    'may-widen': 'dangerous',
    moves: 'breaking',
    none: 'info',
  },
}

export function levelOf(direction: Direction, effect: Effect): Level {
  return VARIANCE[direction][effect]
}
