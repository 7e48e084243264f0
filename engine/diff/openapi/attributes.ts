/** Extension members of operations (`x-team`, `x-audience`) that a caller wants in the findings of those operations. */
import type { ApiOperation } from '../../contracts/openapi/contract.ts'
import { brief, type FindingGroup, type Occurrence } from '../../model/finding.ts'
import type { Json } from '../../common/hash.ts'

type Attributes = Readonly<Record<string, Json>>

export class OperationAttributes {
  readonly #names: readonly string[]
  readonly #byOperation = new Map<string, Attributes>()

  /** `names` are the wanted members. Without names nothing is kept or added. */
  constructor(names: readonly string[]) {
    this.#names = [...new Set(names)].sort()
  }

  /** Keeps the members of an operation. If several sides state a member, the last one counts. */
  note(path: string, ...sides: readonly ApiOperation[]): void {
    const attributes: Record<string, Json> = {}
    for (const name of this.#names) {
      const side = sides.findLast(({ value }) => Object.hasOwn(value, name))
      if (side !== undefined) attributes[name] = brief(side.value[name])
    }
    const method = sides[0]?.method
    if (method !== undefined && Object.keys(attributes).length > 0) {
      this.#byOperation.set(operationKey({ method, path }), attributes)
    }
  }

  /** The groups, each occurrence with the attributes of its operation. */
  addTo(groups: readonly FindingGroup[]): readonly FindingGroup[] {
    if (this.#byOperation.size === 0) return groups
    return groups.map((group) => ({ ...group, occurrences: group.occurrences.map((one) => this.#attributed(one)) }))
  }

  #attributed(occurrence: Occurrence): Occurrence {
    const { operation } = occurrence
    const attributes = operation === null ? undefined : this.#byOperation.get(operationKey(operation))
    return attributes === undefined ? occurrence : { ...occurrence, attributes }
  }
}

function operationKey({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`
}
