/** Limits for one contract document from an untrusted source (docs/reference/api.md#limits-and-rate-headers). */

export interface DocumentLimits {
  /** UTF-16 code units of one side. */
  readonly maxLength: number
  readonly maxDepth: number
  readonly maxAliases: number
  /** Nodes after alias expansion ÷ nodes written. */
  readonly maxExpansion: number
  /** Values in lists and members of objects that a JSON text may hold; absent: as many as its length lets it. */
  readonly maxValues?: number
  /**
   * Objects, lists and members of objects in a JSON text: they cost several times as much as texts and numbers in lists. In a
   * YAML text: lines, brackets and items. Absent: as many as its length lets it.
   */
  readonly maxParts?: number
  /**
   * Bytes of memory, estimated, that reading a text may take; absent: as many as there are. `JSON.parse` cannot be interrupted, so
   * a heap limit stops it only after it has exceeded the limit. A list that cannot grow ends the process.
   */
  readonly maxParsedBytes?: number
}

export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  maxLength: 32 * 1024 * 1024,
  maxDepth: 128,
  maxAliases: 1000,
  maxExpansion: 20,
}
