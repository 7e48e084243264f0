/**
 * Turns changes of a schema into finding groups. It fills in messages, makes pointers, adds the operations that a
 * change reaches, and counts what clients touch.
 *
 * The location of a finding is a JSON Pointer made from the schema coordinate. It is the same for SDL and
 * introspection results: `/types/User/fields/name/arguments/first`, `/types/Role/values/ADMIN`,
 * `/types/Pet/members/Cat`, `/types/Cat/interfaces/Animal`, `/types/User/directives/key`,
 * `/directives/auth/arguments/role`, `/directives/auth/locations/FIELD`, `/schema/query`.
 */
import type { ComparisonStats } from '../../format.ts'
import type { GraphqlSchema, Mark } from '../../contracts/graphql/schema.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { Locate, Position } from '../../contracts/positions.ts'
import type { Direction, Operation } from '../../finding.ts'
import { Grouping, type GroupingOptions } from '../../rules/findings/grouping.ts'
import {
  ReportedChange,
  ReportedPlace,
  type JudgedChange,
  type ReachedPlace,
} from '../../rules/findings/judged-change.ts'
import type { NameCount } from '../../rules/findings/name-count.ts'
import { GRAPHQL_RULES, type GraphqlRuleId } from '../../rules/graphql/rows.ts'
import { filledIn, ruleNamed } from '../../rules/row.ts'
import { nameValue } from '../../schema/values.ts'
import { References } from './references.ts'

/** The schema element of a change. */
export interface Site {
  /** Schema coordinate: `User.name`, `Query.user(id:)`, `@key(fields:)`. */
  readonly coordinate: string
  readonly path: readonly string[]
  /** The type whose operations the change reaches. Null for directives and the schema. */
  readonly type: string | null
}

/** A site below another, e.g. an argument of a field. */
export function below(site: Site, coordinate: string, ...path: readonly string[]): Site {
  return { coordinate, path: [...site.path, ...path], type: site.type }
}

interface GraphqlChange {
  readonly rule: GraphqlRuleId
  readonly side: 'base' | 'head'
  readonly mark: Mark
  readonly before?: unknown
  readonly after?: unknown
  /** Replaces the coordinate in the message. */
  readonly name?: string
  readonly detail?: string
}

interface SchemaSides {
  readonly base: GraphqlSchema
  readonly head: GraphqlSchema
}

/** A change that knows its mark in the text, because schema coordinates are not pointers into it. */
class MarkedChange extends ReportedChange {
  readonly #schema: GraphqlSchema
  readonly #mark: Mark

  constructor(reported: JudgedChange, schema: GraphqlSchema, mark: Mark) {
    super(reported)
    this.#schema = schema
    this.#mark = mark
  }

  /** Computed on demand: most changes of a flood are only counted. */
  get position(): Position | null {
    return this.#schema.positionOf(this.#mark)
  }
}

const NOWHERE: Locate = () => null

export class GraphqlReport {
  readonly sides: SchemaSides
  readonly references: Readonly<Record<keyof SchemaSides, References>>
  readonly grouping: Grouping
  readonly #touchedOperations = new Set<string>()
  readonly #touched: Readonly<Record<Direction, NameCount>>

  constructor(sides: SchemaSides, options: Pick<GroupingOptions, 'levels' | 'sha256'>) {
    this.sides = sides
    this.references = { base: new References(sides.base), head: new References(sides.head) }
    this.grouping = new Grouping({ ...options, locate: { base: NOWHERE, head: NOWHERE } })
    const { grouping } = this
    this.#touched = { request: grouping.countNames(), response: grouping.countNames(), none: grouping.countNames() }
  }

  add(site: Site, { rule: id, side, mark, before = null, after = null, name, detail }: GraphqlChange): void {
    if (this.grouping.isOff(id)) return
    const { rule, advice, sentence: text } = ruleNamed(GRAPHQL_RULES, id)
    const words: Readonly<Record<string, string>> = {
      name: name ?? site.coordinate,
      detail: detail ?? '',
      before: nameValue(before),
      after: nameValue(after),
    }
    const message = filledIn(text, words)
    const location = composePointer(site.path)
    const reported = { rule, subject: site.coordinate, side, location, message, advice, before, after }
    const change = new MarkedChange(reported, this.sides[side], mark)
    for (const place of this.#places(site, side, rule.level === 'info', message)) {
      this.grouping.add(change, place)
      if (rule.level !== 'info' && place.operation !== null) {
        this.#touchedOperations.add(`${place.operation.method} ${place.operation.path}`)
      }
    }
    if (rule.level !== 'info') this.#touched[rule.direction].add(site.coordinate)
  }

  touched(): ComparisonStats['touched'] {
    const { request, response } = this.#touched
    return { endpoints: this.#touchedOperations.size, fields: response.size, params: request.size }
  }

  /** The field of an operation is its own place. Deeper elements are placed at the operations that use them. */
  #places(site: Site, side: keyof SchemaSides, isInfo: boolean, message: string): readonly ReachedPlace[] {
    const [root, type, member, field] = site.path
    const isField = root === 'types' && member === 'fields'
    const own = isField ? this.references[side].operations.get(`${type}.${field}`) : undefined
    if (own !== undefined) return [new ReportedPlace({ operation: own, tool: null, message, detail: '' })]
    const reached = site.type === null || isInfo ? null : this.references[side].operationsOf(site.type)
    if (reached === null) return [new ReportedPlace({ operation: null, tool: null, message, detail: '' })]
    return reached.map(
      (operation) =>
        new ReportedPlace({ operation, tool: null, message: `${message} (${nameOf(operation)})`, detail: '' }),
    )
  }
}

function nameOf({ method, path }: Operation): string {
  return `${method.toLowerCase()} ${path}`
}
