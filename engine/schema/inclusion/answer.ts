/** What a search for a value comes to. */
import type { Literal } from './model.ts'

/**
 * `sat`: a value that was checked. `unsat`: proof that there is none; it rests on the searches down to `depth` that are
 * still open (a value within itself has no finite form), Infinity: on none. `open`: neither, with what stopped it.
 */
export type SearchAnswer =
  | { readonly kind: 'sat'; readonly value: unknown }
  | { readonly kind: 'unsat'; readonly depth: number }
  | { readonly kind: 'open'; readonly why: string }

export const UNSAT: SearchAnswer = { kind: 'unsat', depth: Infinity }

/** What stops a search whose steps are used up. */
export const BOUND = 'the bound of steps'

export function openFor(why: string): Extract<SearchAnswer, { kind: 'open' }> {
  return { kind: 'open', why }
}

/** Gathers the answers of alternatives: a value of one is a value of all, and only all together are a proof. */
export class Alternatives {
  #depth = Infinity
  #why: string | null = null

  /** True when the answer is a value, so that no other alternative matters. */
  take(answer: SearchAnswer): answer is Extract<SearchAnswer, { kind: 'sat' }> {
    if (answer.kind === 'unsat') this.#depth = Math.min(this.#depth, answer.depth)
    else if (answer.kind === 'open') this.#why ??= answer.why
    return answer.kind === 'sat'
  }

  /** The answer when none was a value. */
  get answer(): SearchAnswer {
    return this.#why === null ? { kind: 'unsat', depth: this.#depth } : openFor(this.#why)
  }
}

/** Gathers the answers of parts that a value needs all: a part without a value is a proof, whatever is not known of others. */
export class Together {
  /** The first part of which it is not known. */
  open: SearchAnswer | null = null

  /** True when the answer is a value. */
  take(answer: SearchAnswer): answer is Extract<SearchAnswer, { kind: 'sat' }> {
    if (answer.kind === 'open') this.open ??= answer
    return answer.kind === 'sat'
  }
}

/** Finds a value that meets literals together. */
export type Solve = (literals: readonly Literal[]) => SearchAnswer
