/**
 * Answers of a server that do not name their request, while several are under way. Which requests they were for is known
 * once as many are left as there are such answers.
 */
import type { IdText } from './messages.ts'

interface UnnamedAnswer {
  readonly reason: string
  /** Requests that it may be for. One that was taken back stays: nothing tells that it was not for that one. */
  readonly among: ReadonlySet<IdText>
}

export interface OrphanedRequests {
  readonly ids: readonly IdText[]
  readonly reason: string
}

/** A server that sends more of them tells nothing by them. */
const MAX_NOTED = 100

export class UnnamedAnswers {
  #noted: readonly UnnamedAnswer[] = []

  /** Returns the requests that get no other answer. */
  note(answer: UnnamedAnswer): OrphanedRequests | null {
    this.#noted = [...this.#noted, answer].slice(-MAX_NOTED)
    return this.#takeOrphaned()
  }

  /** As `note`. */
  answered(id: IdText): OrphanedRequests | null {
    if (this.#noted.length === 0) return null
    this.#forget(new Set([id]))
    return this.#takeOrphaned()
  }

  #takeOrphaned(): OrphanedRequests | null {
    for (const { among, reason } of this.#noted) {
      const within = this.#noted.filter((other) => other.among.isSubsetOf(among))
      if (within.length < among.size) continue
      this.#noted = this.#noted.filter((one) => !within.includes(one))
      this.#forget(among)
      return { ids: [...among], reason }
    }
    return null
  }

  #forget(ids: ReadonlySet<IdText>): void {
    this.#noted = this.#noted
      .map(({ among, reason }) => ({ reason, among: among.difference(ids) }))
      .filter(({ among }) => among.size > 0)
  }
}
