/** What the configuration has to know of one protocol. A start loads it; what recognises calls is loaded with the first call. */
import type { Static, TObject, TProperties } from 'typebox'
import type { ArtifactType } from '../../../engine/internal.ts'
import type { Route } from '../../routing/route.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'

/** A route with the sections that only its protocol has. */
export type RouteWith<Sections extends TProperties> = Route & Static<TObject<Sections>>

export interface ProtocolSettings<Sections extends TProperties = TProperties> {
  /** Sections of a route that belong to this protocol: in a route of another one they are a mistake. */
  readonly sections: Sections
  /** Set where nothing in the calls themselves says what they are judged by: how contract.current is to be written. */
  readonly currentContract?: string
  /** The gateway asks the upstream itself what it offers. Absent: it never does. */
  asksUpstream?(route: RouteWith<Sections>): boolean
  /** `calls`: they are held against the contract before they go on. `results`: only what comes back. Absent: nothing is described by schemas. */
  readonly validates?: 'calls' | 'results'
  /** Its paths name things that hold slashes themselves (`/projects/group%2Fname`), and its recogniser judges both readings. */
  readonly takesEncodedSlashes?: true
  /** What `contract.current` and `contract.baseline` hold. Absent: no contract is offered in one place. */
  readonly contractType?: ArtifactType
  /** A contract may be a folder, whose files name each other by their paths in it. */
  readonly takesContractFolders?: true
  /** Answers are read as they pass, so upstreams must not compress them. */
  readonly readsAnswers?: true
  /** Its own section names addresses too, so contract.origins may stand without a contract at a url. */
  readonly namesAddresses?: true
  /** Why contract.watch has nothing to look at without contract.current; absent: none is named. */
  readonly unwatched?: string
  /** What the schema cannot say. @param pointer of the route */
  mistakes?(route: RouteWith<Sections>, pointer: string): readonly LocatedMistake[]
  /** What is allowed and probably not meant. */
  warnings?(route: RouteWith<Sections>, pointer: string): readonly LocatedMistake[]
}
