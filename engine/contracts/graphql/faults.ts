/** Keeps the first fault of a schema. Reading continues to the end, but its result is not used. */
import type { Problem } from '../../common/result.ts'
import { firstAt, unreadable } from '../unreadable.ts'
import type { Position } from '../positions.ts'
import type { Mark } from '../positions.ts'

export class Faults {
  #first: Problem | null = null
  readonly #positionOf: (mark: Mark) => Position | null

  constructor(positionOf: (mark: Mark) => Position | null) {
    this.#positionOf = positionOf
  }

  get first(): Problem | null {
    return this.#first
  }

  /** `what` completes “as a GraphQL schema: …”. */
  report(what: string, mark: Mark, fix?: string): void {
    this.#first ??= unreadable(`as a GraphQL schema: ${what}`, {
      position: this.#positionOf(mark),
      ...(typeof mark === 'string' ? { pointer: mark } : {}),
      ...(fix === undefined ? {} : { fix }),
    })
  }

  /** Two elements with one name are ambiguous. Both are named. */
  reportDuplicate(what: string, mark: Mark, first: Mark): void {
    const place = firstAt(this.#positionOf(first), typeof first === 'string' ? first : undefined)
    this.report(`${what} is defined twice${place}`, mark, 'Keep one of the two.')
  }
}
