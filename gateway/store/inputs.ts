/** The inputs of decisions, kept for the replay of decisions under another policy. */

/** The input of a decision, without the texts that it names by digest. */
interface KeptInput {
  readonly decisionId: string
  /** JSON text; the flow defines its form. */
  readonly input: string
  readonly digests: readonly string[]
  readonly at: number
}

interface KeptContent {
  readonly digest: string
  /** Compressed; the flow defines how. */
  readonly packed: Uint8Array
}

export interface Inputs {
  /** Stores the input of a decision; returns the digests of the texts that are missing. */
  keep(input: KeptInput): Promise<readonly string[]>
  /** All texts together have at most `bound` bytes: the least recently used are removed. */
  keepContent(content: KeptContent, at: number, bound: number): Promise<void>
  byDecision(decisionId: string): Promise<string | null>
  content(digest: string): Promise<Uint8Array | null>
}
