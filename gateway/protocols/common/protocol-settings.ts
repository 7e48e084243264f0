/**
 * What the configuration needs to know of one protocol. A start loads it; the recogniser is loaded with the first call.
 */
import type { Static, TObject, TProperties } from 'typebox'
import type { ArtifactType } from '../../../engine/internal.ts'
import type { Route } from '../../routing/route.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'

/** A route with the sections that only its protocol has. */
export type RouteWith<Sections extends TProperties> = Route & Static<TObject<Sections>>

type ContractMember = keyof NonNullable<Route['contract']>

/** Of the protocols whose upstream offers one contract. */
export const CONTRACT_MEMBERS = [
  'baseline',
  'current',
  'origins',
  'refresh',
  'listing_headers',
  'max_age',
  'watch',
  'auto_promote',
] as const satisfies readonly ContractMember[]

export interface ProtocolSettings<Sections extends TProperties = TProperties> {
  /** Sections of a route that belong to this protocol: in a route of another one they are a mistake. */
  readonly sections: Sections
  /** Members of `contract` that have an effect; the other ones are a mistake. Absent: a route has no contract. */
  readonly contractMembers?: readonly ContractMember[]
  /** Set where the calls themselves do not contain the contract: how contract.current has to be written. */
  readonly currentContract?: string
  /** True where the gateway asks the upstream itself for its contract. Absent: it never does. */
  asksUpstream?(route: RouteWith<Sections>): boolean
  /**
   * `calls`: they are checked against the contract before they are forwarded. `results`: only answers are. Absent:
   * nothing is described by schemas.
   */
  readonly validates?: 'calls' | 'results'
  /** Its paths contain names with slashes (`/projects/group%2Fname`), and its recogniser judges both readings. */
  readonly takesEncodedSlashes?: true
  /** What `contract.current` and `contract.baseline` contain. Absent: no contract is offered in one place. */
  readonly contractType?: ArtifactType
  /** A contract may be a folder, whose files name each other by their paths in it. */
  readonly takesContractFolders?: true
  /** Answers are read as they pass, so upstreams must not compress them. */
  readonly readsAnswers?: true
  /** Its own section names addresses too, so contract.origins may be set without a contract at a url. */
  readonly namesAddresses?: true
  /** Why contract.watch needs contract.current; absent: there is no special reason. */
  readonly unwatched?: string
  /** Checks that the schema cannot make. @param pointer of the route */
  mistakes?(route: RouteWith<Sections>, pointer: string): readonly LocatedMistake[]
  /** Settings that are allowed and probably not intended. */
  warnings?(route: RouteWith<Sections>, pointer: string): readonly LocatedMistake[]
}
