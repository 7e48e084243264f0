/** Observed use: which consumer calls which target. */

/** Calls of one consumer since the last write. */
export interface ObservedUse {
  readonly route: string
  /** The target: the route, and the tool or operation when it is known. */
  readonly target: string
  readonly operation: string | null
  readonly tool: string | null
  readonly consumer: string
  readonly calls: number
  readonly at: number
}

interface ObservedUses {
  readonly uses: readonly ObservedUse[]
  /** Maximum number of distinct consumers of one target; the rest counts as one. */
  readonly limit: number
  /** Uses last seen before this are deleted. */
  readonly since: number
}

interface KnownUse extends Pick<ObservedUse, 'consumer' | 'operation' | 'tool'> {
  /** The requested one. */
  readonly artifact: string
}

export interface Uses {
  /** A secret of this installation, made of `fresh` when there is none yet. */
  salt(fresh: string): Promise<string>
  record(uses: ObservedUses): Promise<void>
  /** @param artifacts targets of intercepted calls, or names of routes */
  of(artifacts: readonly string[], since: number): Promise<readonly KnownUse[]>
}
