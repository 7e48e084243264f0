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

/**
 * Who stands at a schema: those who write, those who read, or both at once. A schema that is published on its own, or that
 * stored objects keep to, is `shared`: its writers and its readers are others than its owner.
 */
export type Variance = Direction | 'shared'

/**
 * Narrowing refuses what was written, which breaks; widening lets readers meet what they do not know, which tolerant readers
 * cope with.
 */
const SHARED: Readonly<Record<Effect, Level>> = {
  narrows: 'breaking',
  widens: 'dangerous',
  'may-narrow': 'dangerous',
  'may-widen': 'dangerous',
  moves: 'breaking',
  none: 'info',
}

export function levelOf(variance: Variance, effect: Effect): Level {
  return variance === 'shared' ? SHARED[effect] : VARIANCE[variance][effect]
}

/** The side of an exchange that findings name; what is shared is on neither. */
export function directionOf(variance: Variance): Direction {
  return variance === 'shared' ? 'none' : variance
}
