/** A rule: one kind of change at one kind of place, with its verdict. */
import type { Direction, Level } from '../model/finding.ts'

/** The effect of a change on the set of values that a contract admits. */
export type Effect = 'narrows' | 'widens' | 'may-narrow' | 'may-widen' | 'moves' | 'none'

export interface Rule {
  /** Stable kebab-case id. */
  readonly id: string
  readonly level: Level
  readonly direction: Direction
  /** The part of a contract that it concerns: `schema`, `parameters`, `security` … */
  readonly area: string
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened, in short, for tables of rules. */
  readonly description: string
  /** The reason if the level differs from that of direction and effect, else null. */
  readonly because: string | null
}

/**
 * Variance: the writer of a value must keep to what its reader admits. Narrowing what callers may send breaks callers.
 * Widening what readers may receive breaks readers. A change that may do so is dangerous.
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
 * Who uses a schema: writers, readers, or both. A published schema, or one of stored objects, is `shared`: other
 * parties than its owner write and read its values.
 */
export type Variance = Direction | 'shared'

/**
 * Narrowing refuses existing values, which breaks. Widening gives readers unknown values, which tolerant readers
 * accept.
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

/** The direction that findings name. A shared schema has none. */
export function directionOf(variance: Variance): Direction {
  return variance === 'shared' ? 'none' : variance
}
