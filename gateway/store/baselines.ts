/** The contracts that calls are compared with, and the changed ones that upstreams offer. */

/** The contract that a route's calls are compared with, stored whole (docs/reference/api.md#baselines). */
export interface BaselineRow {
  readonly route: string
  readonly artifactId: string
  readonly type: string
  readonly content: string
  readonly digest: string
  readonly source: 'file' | 'url' | 'git' | 'first_use' | 'promotion'
  readonly setBy: string
  readonly setAt: number
}

/** The contract that a route's upstream was last seen to offer, when it is not the baseline. */
export interface CandidateRow extends Pick<BaselineRow, 'route' | 'type' | 'content' | 'digest'> {
  /** When it was first seen, milliseconds since the epoch. */
  readonly seenAt: number
}

export interface Baselines {
  byRoute(route: string, artifactId: string): Promise<BaselineRow | null>
  /** Digest and time of a baseline, without its content: to check whether it is still the known one. */
  stamp(route: string, artifactId: string): Promise<Pick<BaselineRow, 'digest' | 'setAt'> | null>
  list(): Promise<readonly BaselineRow[]>
  /**
   * @param over digest of the baseline that it replaces, null: the route has none. If another one is in force, nothing is stored
   * @returns the baseline that is in force now
   */
  set(row: BaselineRow, over: string | null): Promise<BaselineRow>
  candidate(route: string): Promise<CandidateRow | null>
  candidates(): Promise<readonly CandidateRow[]>
  /** The time of the first sight of the same content stays. */
  setCandidate(row: CandidateRow): Promise<void>
  dropCandidate(route: string): Promise<void>
  /** True for exactly one caller, ever: the one that may announce this candidate of a route. */
  announceCandidate(route: string, digest: string, at: number): Promise<boolean>
}
