/**
 * What is known of schemas that were looked at, by the depth at which they were reached. Parts of parts lead to one schema
 * in a number of ways that doubles with each level, so a search without memory of them takes forever on a small document.
 */
import type { JsonRecord } from './located.ts'

/** The schemas that a bounded search has entered. A second look from the same depth, or from deeper, finds nothing more. */
export class EnteredSchemas {
  readonly #depths = new Map<JsonRecord, number>()

  /** False where nothing more is found below the schema. */
  enter(schema: JsonRecord, depth: number): boolean {
    const known = this.#depths.get(schema)
    if (known !== undefined && known <= depth) return false
    this.#depths.set(schema, depth)
    return true
  }
}

/** Answers about schemas that depend on the depth only. */
export class AnswersByDepth<T> {
  readonly #levels: Map<JsonRecord, T>[] = []

  of(schema: JsonRecord, depth: number, answer: () => T): T {
    const level = (this.#levels[depth] ??= new Map())
    const known = level.get(schema)
    if (known !== undefined) return known
    const found = answer()
    level.set(schema, found)
    return found
  }
}
