/**
 * The context of a comparison of two GraphQL schemas: how its walkers report changes, and the operations that a change
 * reaches.
 *
 * The location of a finding is a JSON Pointer made from the schema coordinate. It is the same for SDL and
 * introspection results: `/types/User/fields/name/arguments/first`, `/types/Role/values/ADMIN`,
 * `/types/Pet/members/Cat`, `/types/Cat/interfaces/Animal`, `/types/User/directives/key`,
 * `/directives/auth/arguments/role`, `/directives/auth/locations/FIELD`, `/schema/query`.
 */
import { isInaccessible } from '../../contracts/graphql/federation.ts'
import type { Element, GraphqlSchema, IntrospectedMember } from '../../contracts/graphql/schema.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { Mark } from '../../contracts/positions.ts'
import type { Operation } from '../../model/finding.ts'
import type { ReachedPlace } from '../../rules/findings/judged-change.ts'
import type { Sides } from '../sides.ts'
import type { GraphqlRuleId } from '../../rules/graphql/rows.ts'
import type { Report } from '../../rules/judging/report.ts'
import { References } from './references.ts'
import { ResponseShapes } from './response-shape.ts'

interface SchemaElement {
  /** Schema coordinate: `User.name`, `Query.user(id:)`, `@key(fields:)`. */
  readonly coordinate: string
  readonly path: readonly string[]
  /** The type whose operations the change reaches. Null for directives and the schema. */
  readonly type: string | null
}

/** The schema element of a change, and the walk that is at it. */
export class Site implements SchemaElement {
  readonly walk: GraphqlWalk
  readonly coordinate: string
  readonly path: readonly string[]
  readonly type: string | null

  constructor(walk: GraphqlWalk, { coordinate, path, type }: SchemaElement) {
    this.walk = walk
    this.coordinate = coordinate
    this.path = path
    this.type = type
  }

  /** A site below this one, e.g. an argument of a field. */
  below(coordinate: string, ...path: readonly string[]): Site {
    return new Site(this.walk, { coordinate, path: [...this.path, ...path], type: this.type })
  }

  add(change: GraphqlChange): void {
    this.walk.add(this, change)
  }
}

export interface GraphqlChange {
  readonly rule: GraphqlRuleId
  readonly side: 'base' | 'head'
  readonly mark: Mark
  readonly before?: unknown
  readonly after?: unknown
  /** Replaces the coordinate in the message. */
  readonly name?: string
  readonly detail?: string
}

export interface GraphqlWalk {
  readonly sides: Sides<GraphqlSchema>
  readonly references: Sides<References>
  readonly shapes: ResponseShapes
  /** Whether both sides contain a member that queries of introspection may leave out. */
  readonly areAsked: (member: IntrospectedMember) => boolean
  readonly add: (site: SchemaElement, change: GraphqlChange) => void
}

/** @param ofHidden the change for an element that clients do not see */
export function graphqlWalk(
  sides: GraphqlWalk['sides'],
  report: Report<{ readonly rule: GraphqlRuleId }>,
  ofHidden: (change: GraphqlChange, name: string) => GraphqlChange,
): GraphqlWalk {
  const references = { base: new References(sides.base), head: new References(sides.head) }
  const add: GraphqlWalk['add'] = (site, stated) => {
    const written = stated.name ?? site.coordinate
    const { name = written, detail, ...change } = isHidden(site, sides.base) ? ofHidden(stated, written) : stated
    const { coordinate } = site
    report.add({
      ...change,
      subject: coordinate,
      location: composePointer(site.path),
      facts: { name, detail },
      places: (message, { level }) => reachedOperations(site, references[change.side], level === 'info', message),
      touches: ({ direction }, { operation }) => ({
        endpoint: operation && `${operation.method} ${operation.path}`,
        param: direction === 'request' ? coordinate : null,
        field: direction === 'response' ? coordinate : null,
      }),
    })
  }
  const areAsked: GraphqlWalk['areAsked'] = (member) =>
    !sides.base.unasked.has(member) && !sides.head.unasked.has(member)
  return { sides, references, shapes: new ResponseShapes(sides, references.base), areAsked, add }
}

/** Whether clients of the base did not see the element, by itself, what contains it, or the type that it names. */
function isHidden({ path }: SchemaElement, { types }: GraphqlSchema): boolean {
  const [root, typeName = '', list = '', name = '', , argument = ''] = path
  const type = root === 'types' ? types.get(typeName) : undefined
  if (type === undefined) return false
  if (list === 'members' || list === 'interfaces') return areHidden(type, types.get(name))
  if (list === 'values' && type.kind === 'enum') return areHidden(type, type.values.get(name))
  if (list !== 'fields' || !('fields' in type)) return areHidden(type)
  const given = 'interfaces' in type ? type.fields.get(name)?.arguments.get(argument) : undefined
  return areHidden(type, type.fields.get(name), given)
}

function areHidden(...elements: readonly (Element | undefined)[]): boolean {
  return elements.some((element) => element !== undefined && isInaccessible(element))
}

/** The field of an operation is its own place. Deeper elements are placed at the operations that use them. */
function reachedOperations(
  site: SchemaElement,
  references: References,
  isInfo: boolean,
  message: string,
): readonly ReachedPlace[] {
  const [root, type, member, field] = site.path
  const isField = root === 'types' && member === 'fields'
  const own = isField ? references.operations.get(`${type}.${field}`) : undefined
  const place = { operation: own ?? null, tool: null, message, detail: '' }
  const reached = own !== undefined || site.type === null || isInfo ? null : references.operationsOf(site.type)
  return (
    reached?.map((operation) => ({ ...place, operation, message: `${message} (${rootFieldLabel(operation)})` })) ?? [
      place,
    ]
  )
}

function rootFieldLabel({ method, path }: Operation): string {
  return `${method.toLowerCase()} ${path}`
}
