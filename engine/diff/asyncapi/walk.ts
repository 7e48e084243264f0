/** The context of a comparison of two AsyncAPI documents, by which its walkers report changes. */
import type { AsyncApi, AsyncServer } from '../../contracts/asyncapi/contract.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import type { SchemaComparison } from '../../schema/comparison/comparison.ts'
import { memberOf, type Located } from '../../schema/located.ts'
import type { Matched } from '../match.ts'
import type { ContractChange, ContractWalk, SchemaInUse } from '../contract-walk.ts'

type AsyncApiChanges = ContractWalk<AsyncApiRuleId>

export interface MatchedServers extends Matched<AsyncServer> {
  /** The places of kept servers in their list, by their names before and after. */
  readonly placesBefore: ReadonlyMap<string, number>
  readonly placesAfter: ReadonlyMap<string, number>
}

export interface AsyncWalk extends AsyncApiChanges {
  readonly base: AsyncApi
  readonly head: AsyncApi
  readonly servers: MatchedServers
  readonly schemas: SchemaComparison
  /** Schemas in use, reported after all of them are compared. */
  readonly uses: SchemaInUse[]
}

/** The same walk within a part of the document, at which its changes are reported. */
export function walkInto(
  walk: AsyncWalk,
  place: Pick<ContractChange<AsyncApiRuleId>, 'where' | 'endpoint' | 'detail'>,
): AsyncWalk {
  return { ...walk, add: (change) => walk.add({ ...change, ...place }) }
}

/** The target of a reference. A part that is none, or a reference without a target, is the part itself. */
export function followed(located: Located | null, { documents }: AsyncApi): Located | null {
  return located === null ? null : (documents.follow(located) ?? located)
}

export function memberIn(owner: Located | null, name: string): Located | null {
  return owner === null ? null : memberOf(owner, name)
}
