/** The operations to which links lead. A link names one by its id or by its place (OpenAPI 3.1.1 §4.8.20). */
import { pathItemsOf, type OpenApiContract } from '../../contracts/openapi/contract.ts'
import { localRefPointer, parsePointer } from '../../contracts/pointer.ts'
import { isRecord, type Located } from '../../schema/located.ts'
import { withoutNames } from './moved-prefix.ts'

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

  #operations(): KnownOperations {
    this.#known ??= operationsOf(this.#contract)
    return this.#known
  }
}

interface KnownOperations {
  readonly all: ReadonlySet<string>
  readonly byId: ReadonlyMap<string, string>
  readonly byObject: ReadonlyMap<unknown, string>
}

function operationsOf(contract: OpenApiContract): KnownOperations {
  const operations = pathItemsOf(contract, 'paths').flatMap((item) =>
    [...item.operations.values()].map(
      ({ method, operationId, value }) => [addressOf(item.path, method), operationId, value] as const,
    ),
  )
  return {
    all: new Set(operations.map(([address]) => address)),
    byId: new Map(operations.flatMap(([address, id]) => (id === null ? [] : [[id, address] as const]))),
    byObject: new Map(operations.map(([address, , value]) => [value, address] as const)),
  }
}

function addressOf(path: string, method: string): string {
  return `${method} ${withoutNames(path)}`
}
