/** Bounds on one contract document: what a stranger's text may cost before it is believed (wire.md §1). */

export interface DocumentLimits {
  /** UTF-16 code units of one side. */
  readonly maxLength: number
  readonly maxDepth: number
  readonly maxAliases: number
  /** Nodes after alias expansion ÷ nodes written. */
  readonly maxExpansion: number
}

export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  maxLength: 32 * 1024 * 1024,
  maxDepth: 128,
  maxAliases: 1000,
  maxExpansion: 20,
}
