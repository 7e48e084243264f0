/** What the configuration has to know of one protocol. A start loads it; what recognises calls is loaded with the first call. */
import type { Static, TObject, TProperties } from 'typebox'
import type { Route } from '../../routing/route.ts'
import type { Located } from '../../settings/schema-mistakes.ts'

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
  /** What the schema cannot say. @param pointer of the route */
  mistakes?(route: RouteWith<Sections>, pointer: string): readonly Located[]
  /** What is allowed and probably not meant. */
  warnings?(route: RouteWith<Sections>, pointer: string): readonly Located[]
}
