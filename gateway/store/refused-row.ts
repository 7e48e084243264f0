/** A row that violates a constraint of the store: another row has its id. The store itself is in order. */

export class RefusedRowError extends Error {
  /** SQLSTATE of such a row, as PostgreSQL answers it. */
  readonly code = '23505'

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the store refused the row: ${reason}`, options)
    this.name = 'RefusedRowError'
  }
}
