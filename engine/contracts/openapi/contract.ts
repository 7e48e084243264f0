/**
 * The OpenAPI contract for the comparison: one model for Swagger 2.0 and OpenAPI 3.0 to 3.2, read part by part on
 * demand. Malformed parts are read as absent and never throw.
 */
import { isRecord, memberOf, pointerOf, stepInto, textAt, type JsonRecord, type Located } from '../../schema/located.ts'
import type { Lifecycle } from '../../schema/annotations.ts'
import type { SchemaDialect } from '../../schema/source.ts'
import type { OpenApiDocuments } from '../documents.ts'
import type { MalformedPart } from '../malformed-parts.ts'
import { hasMember, isSince, withKnownMembers, type VersionedContract } from './version-members.ts'

export interface OpenApiContract extends VersionedContract {
  readonly isSwagger: boolean
  readonly documents: OpenApiDocuments
  readonly root: Located
  readonly malformed: ReadonlyMap<string, MalformedPart>
  /** Whether schemas may state a language of their own. Absent: none does. */
  readonly statesDialects?: boolean
}

/** Methods of a path item in listing order. OpenAPI 3.2 adds `query`. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const

export interface PathItem {
  readonly path: string
  readonly located: Located
  /** The object whose servers its operations inherit: the path item, or what it refers to. */
  readonly serversOwner: Located
  readonly parameters: readonly Parameter[]
  readonly operations: ReadonlyMap<string, ApiOperation>
}

export interface ApiOperation {
  /** As it is sent. */
  readonly method: string
  readonly located: Located
  readonly value: JsonRecord
  readonly operationId: string | null
  readonly lifecycle: Lifecycle
}

export interface Parameter {
  readonly name: string
  readonly place: string
  readonly located: Located
  readonly value: JsonRecord
  readonly isRequired: boolean
  readonly lifecycle: Lifecycle
}

/** The language of the schemas in a version of OpenAPI, or in Swagger 2.0. */
export function dialectOfVersion(version: string): SchemaDialect {
  if (version.startsWith('2.')) return 'openapi-2.0'
  return version.startsWith('3.0') ? 'openapi-3.0' : 'json-schema'
}

/** Whether a contract is of OpenAPI 3.2 or later. */
export function isSince32({ version }: Pick<OpenApiContract, 'version'>): boolean {
  return isSince(version, '3.2')
}

/** The members of an object under a name, sorted by name, because key order has no meaning. */
export function membersAt(owner: Located, name: string): readonly (readonly [name: string, member: Located])[] {
  const holder = memberOf(owner, name)
  if (holder === null || !isRecord(holder.value)) return []
  const { value, at, document } = holder
  const names = Object.keys(value)
  if (names.length > 1) names.sort()
  return names.map((key) => [key, { value: value[key], at: stepInto(at, key), document }] as const)
}

/** The items of a list under a name. */
export function itemsAt(owner: Located, name: string): readonly Located[] {
  const holder = memberOf(owner, name)
  if (holder === null || !Array.isArray(holder.value)) return []
  return holder.value.map((value: unknown, index) => ({
    value,
    at: { parent: holder.at, step: String(index) },
    document: holder.document,
  }))
}

/** One item of a list under a name. */
export function itemAt(owner: Located, name: string, index: number): Located | null {
  const holder = memberOf(owner, name)
  if (holder === null || !Array.isArray(holder.value) || !Object.hasOwn(holder.value, index)) return null
  return { value: holder.value[index], at: { parent: holder.at, step: String(index) }, document: holder.document }
}

/** An object with references followed. Null if it is not an object. */
export function objectAt(documents: OpenApiDocuments, located: Located): LocatedObject | null {
  const target = documents.follow(located)
  return target !== null && isLocatedObject(target) ? target : null
}

interface LocatedObject extends Located {
  readonly value: JsonRecord
}

function isLocatedObject(located: Located): located is LocatedObject {
  return isRecord(located.value)
}

export function pathItemsOf(contract: OpenApiContract, member: 'paths' | 'webhooks'): readonly PathItem[] {
  return membersAt(withKnownMembers(contract, 'contract', contract.root), member)
    .filter(([path]) => !path.startsWith('x-'))
    .flatMap(([path, located]) => {
      const item = readPathItem(contract, path, located)
      return item === null ? [] : [item]
    })
}

/** Siblings of a reference in a path item override the members of its target (OpenAPI 3.1.0 §4.8.9). */
export function readPathItem(contract: OpenApiContract, path: string, located: Located): PathItem | null {
  const target = objectAt(contract.documents, located)
  const item = target === null || isUnknownComponent(contract, target) ? null : target
  const own = hasSiblings(located.value) ? located : null
  const known = (one: Located | null): Located | null =>
    one === null ? null : withKnownMembers(contract, 'path item', one)
  const [first, second] = [known(own ?? item), own === null ? null : known(item)]
  if (first === null) return null
  const operations = new Map<string, ApiOperation>()
  if (second !== null) addOperations(operations, contract, second)
  addOperations(operations, contract, first)
  const parameters = withInherited(parametersOf(contract, first), second === null ? [] : parametersOf(contract, second))
  const serversOwner = second !== null && memberOf(first, 'servers') === null ? second : first
  return { path, located: first, serversOwner, parameters, operations }
}

/** Whether a part is in a section of components that the version does not have: tools do not read what is in there. */
function isUnknownComponent(contract: OpenApiContract, { at, document }: Located): boolean {
  // Any place of another file may hold a part.
  if (document !== contract.root.document) return false
  const section = /^\/components\/([^/]+)\/[^/]+$/.exec(pointerOf(at))?.[1]
  return section !== undefined && !hasMember(contract, 'components', section)
}

function hasSiblings(value: unknown): boolean {
  return isRecord(value) && typeof value.$ref === 'string' && Object.keys(value).length > 1
}

function addOperations(operations: Map<string, ApiOperation>, contract: OpenApiContract, item: Located): void {
  for (const method of METHODS) addOperation(operations, contract, method.toUpperCase(), memberOf(item, method))
  // A method is case-sensitive (RFC 9110 §9.1), and these are sent as they are written.
  for (const [method, operation] of membersAt(item, 'additionalOperations')) {
    addOperation(operations, contract, method, operation)
  }
}

function addOperation(
  operations: Map<string, ApiOperation>,
  contract: OpenApiContract,
  method: string,
  located: Located | null,
): void {
  const found = located === null ? null : objectAt(contract.documents, located)
  if (found === null) return
  const operation = withKnownMembers(contract, 'operation', found)
  const { value } = operation
  operations.set(method, {
    method,
    located: operation,
    value,
    operationId: textAt(value, 'operationId'),
    lifecycle: lifecycleAt(value),
  })
}

function lifecycleAt(value: JsonRecord): Lifecycle {
  return {
    deprecated: value.deprecated === true,
    sunset: value['x-sunset'] ?? null,
    stability: value['x-stability-level'] ?? null,
  }
}

/** Parameters of a path item or operation. The body and form fields of Swagger 2.0 are in payloads.ts. */
export function parametersOf(contract: OpenApiContract, owner: Located): readonly Parameter[] {
  return allParametersOf(contract, owner).filter(({ place }) => place !== 'body' && place !== 'formData')
}

function allParametersOf(contract: OpenApiContract, owner: Located): readonly Parameter[] {
  const parameters: Parameter[] = []
  for (const item of itemsAt(owner, 'parameters')) {
    const located = objectAt(contract.documents, item)
    if (located === null) continue
    const { value } = located
    const { name, in: place } = value
    if (typeof name !== 'string' || typeof place !== 'string') continue
    if (!hasMember(contract, 'place of a parameter', place)) continue
    const isRequired = value.required === true || place === 'path'
    parameters.push({ name, place, located, value, isRequired, lifecycle: lifecycleAt(value) })
  }
  return parameters
}

/** The parameters in force for an operation: its own, and those of its path that it does not override. */
export function effectiveParameters(
  contract: OpenApiContract,
  item: PathItem,
  operation: ApiOperation,
): readonly Parameter[] {
  return withInherited(parametersOf(contract, operation.located), item.parameters)
}

/** The fields of a form that an operation of Swagger 2.0 sends, or its body. */
export function sentParameters(
  contract: OpenApiContract,
  item: PathItem,
  operation: ApiOperation,
): readonly Parameter[] {
  const all = withInherited(allParametersOf(contract, operation.located), allParametersOf(contract, item.located))
  return all.filter(({ place }) => place === 'body' || place === 'formData')
}

/** Parameters, and those of their owner that they do not override. */
function withInherited(own: readonly Parameter[], inherited: readonly Parameter[]): readonly Parameter[] {
  if (inherited.length === 0) return own
  const replaced = new Set(own.map(({ place, name }) => `${place} ${name}`))
  return [...own, ...inherited.filter(({ place, name }) => !replaced.has(`${place} ${name}`))]
}
