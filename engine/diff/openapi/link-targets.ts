/** The operations to which links lead. A link names one by its id or by its place (OpenAPI 3.1.1 §4.8.20). */
import {
  effectiveParameters,
  pathItemsOf,
  type ApiOperation,
  type OpenApiContract,
  type Parameter,
  type PathItem,
} from '../../contracts/openapi/contract.ts'
import { localRefPointer, parsePointer } from '../../contracts/pointer.ts'
import { isRecord, type Located } from '../../schema/located.ts'
import { withoutNames } from './moved-prefix.ts'
import { templateNames } from './path-templates.ts'

/** The operations of one contract to which links may lead. */
export class LinkTargets {
  readonly #contract: OpenApiContract
  #known: KnownOperations | null = null

  constructor(contract: OpenApiContract) {
    this.#contract = contract
  }

  /** Whether the contract has the operation. */
  has(operation: string): boolean {
    return this.#operations().all.has(operation)
  }

  /** Method and path of the operation. Null if the contract does not have it, or if it is in another one. */
  targetOf(link: Located | null): string | null {
    if (link === null || !isRecord(link.value)) return null
    const { operationId, operationRef } = link.value
    const { all, byId, byObject } = this.#operations()
    if (typeof operationId === 'string') return byId.get(operationId) ?? null
    if (typeof operationRef !== 'string') return null
    const target = this.#contract.documents.resolve(operationRef, link)
    const found = byObject.get(target?.value)
    if (found !== undefined) return found
    // The path item may be elsewhere, so that a pointer through it finds nothing.
    const [member, path = '', method = ''] = parsePointer(localRefPointer(operationRef) ?? '') ?? []
    const named = addressOf(path, method.toUpperCase())
    return member === 'paths' && all.has(named) ? named : null
  }

  /**
   * The parameter that a link means by a name, as it is sent: `query id` for `id` and `query.id`, a path parameter by its position.
   * Null if the operation is not known, or has no such parameter, or several.
   */
  parameterOf(link: Located | null, name: string): string | null {
    const target = this.targetOf(link)
    const side = target === null ? undefined : this.#operations().all.get(target)
    if (side === undefined) return null
    const { item, operation } = side
    const meant = effectiveParameters(this.#contract, item, operation).filter((one) => isNamed(one, name))
    const [parameter] = meant
    if (parameter === undefined || meant.length > 1) return null
    const { place } = parameter
    if (place === 'header') return `header ${parameter.name.toLowerCase()}`
    return `${place} ${place === 'path' ? templateNames(item.path).indexOf(parameter.name) : parameter.name}`
  }

  #operations(): KnownOperations {
    this.#known ??= operationsOf(this.#contract)
    return this.#known
  }
}

interface KnownOperations {
  readonly all: ReadonlyMap<string, { readonly item: PathItem; readonly operation: ApiOperation }>
  readonly byId: ReadonlyMap<string, string>
  readonly byObject: ReadonlyMap<unknown, string>
}

function operationsOf(contract: OpenApiContract): KnownOperations {
  const operations = pathItemsOf(contract, 'paths').flatMap((item) =>
    [...item.operations.values()].map(
      (operation) => [addressOf(item.path, operation.method), { item, operation }] as const,
    ),
  )
  return {
    all: new Map(operations),
    byId: new Map(
      operations.flatMap(([address, { operation }]) =>
        operation.operationId === null ? [] : [[operation.operationId, address] as const],
      ),
    ),
    byObject: new Map(operations.map(([address, { operation }]) => [operation.value, address] as const)),
  }
}

function addressOf(path: string, method: string): string {
  return `${method} ${withoutNames(path)}`
}

/** A name may state the place of its parameter: `path.id` (OpenAPI 3.1.1 §4.8.20.1). Header fields are named in any letter case. */
function isNamed({ place, name }: Parameter, stated: string): boolean {
  const names = [name, `${place}.${name}`]
  return names.includes(stated) || (place === 'header' && names.some((one) => isSameInAnyCase(one, stated)))
}

function isSameInAnyCase(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
