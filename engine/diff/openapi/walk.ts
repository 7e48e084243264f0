/**
 * The context of a comparison of two OpenAPI contracts, and the form in which its walkers report changes, without
 * judging them.
 */
import type { Operation as OperationName } from '../../model/finding.ts'
import type { OpenApiContract, ApiOperation, PathItem } from '../../contracts/openapi/contract.ts'
import type { WalkOptions } from '../options.ts'
import type { ParameterUse } from '../../rules/judging/schema-judge.ts'
import type { SitePair } from '../../schema/sites.ts'
import type { SchemaComparison, SchemaPair } from '../../schema/comparison/comparison.ts'
import type { JsonRecord, Located } from '../../schema/located.ts'
import type { Alternative } from '../security.ts'
import type { Sides } from '../sides.ts'
import type { OperationAttributes } from './attributes.ts'
import type { MessageExchange } from './exchange.ts'
import type { LinkTargets } from './link-targets.ts'
import type { OpenApiChange, OpenApiFacts } from '../../rules/openapi/changes.ts'

/** A change of a contract outside its schemas. */
export interface ContractDelta<Change extends OpenApiChange = OpenApiChange> {
  readonly change: Change
  /** The facts on which rule and message depend. */
  readonly facts: OpenApiFacts[Change]
  readonly operation: OperationName | null
  readonly side: 'base' | 'head'
  readonly located: Located
  readonly before: unknown
  readonly after: unknown
  /** The changed element, if one change reaches several operations. Absent: the operation and its part. */
  readonly subject?: string
  /** Places that are only counted, and the operations that the change reaches there. */
  readonly further?: { readonly places: number; readonly endpoints: () => Iterable<OperationName> }
}

/** A pair of schemas in use at a place of an operation. */
export interface SchemaUseSite {
  readonly pair: SchemaPair
  readonly sites: SitePair
  readonly mediaType: string | null
  readonly fieldTypes?: ReadonlyMap<string, string>
  readonly operation: OperationName | null
  /** The location as text: `response 200, application/json`. */
  readonly where: string
  /** The parameter, if the place is one. */
  readonly parameter: ParameterUse | null
  /** The stability of the operation, which is the default of its parts. */
  readonly stability?: unknown
}

export interface Walk {
  /** The operation whose parts are compared. Null for parts of the whole interface. */
  readonly operation: OperationName | null
  readonly base: OpenApiContract
  readonly head: OpenApiContract
  readonly options: WalkOptions
  readonly schemas: SchemaComparison
  readonly attributes: OperationAttributes
  readonly security: SecuritySchemes
  readonly links: Sides<LinkTargets>
  /** Pointers of the paths, operations and webhooks that only the head has. Filled while they are compared. */
  readonly added: Set<string>
  add<Change extends OpenApiChange>(delta: ContractDelta<Change>): void
  use(site: Omit<SchemaUseSite, 'pair'>, before: Located, after: Located): void
}

/** The walk through one operation. */
export interface OperationWalk extends Walk {
  readonly operation: OperationName
  readonly exchange: MessageExchange
}

/** An operation of one side, and the path item that holds it. */
export interface OperationSide {
  readonly item: PathItem
  readonly operation: ApiOperation
}

/** A body or header of an operation. */
export interface PayloadPlace {
  /** The direction: clients write requests, the provider writes responses. For a callback it is reversed. */
  readonly direction: 'request' | 'response'
  /** The name of the place in the rows. */
  readonly of: 'request' | 'response' | 'callback-request' | 'callback-response'
  readonly status: string
  readonly sites: SitePair
  readonly where: string
}

/** The schemes of one side, by their names in the base. */
export interface SideSchemes {
  readonly contract: OpenApiContract
  readonly definitions: ReadonlyMap<string, JsonRecord>
  readonly renamed: ReadonlyMap<string, string>
  /** Requirements that were already read, by the list that contains them. */
  readonly read: Map<unknown, readonly Alternative[]>
}

export interface SecuritySchemes {
  readonly base: SideSchemes
  readonly head: SideSchemes
}
