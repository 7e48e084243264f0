/** What the move of a contract to another version of OpenAPI did to an element, in words. */
import {
  isMovedBetween,
  isSince,
  membersBetween,
  type VersionedContract,
} from '../../contracts/openapi/version-members.ts'
import { isRecord, type Located, type Place } from '../../schema/located.ts'
import type { ContractDelta } from './walk.ts'

/** The move between two versions; null if a side has no contract. */
export function moveBetween(base: VersionedContract, head: VersionedContract): string | null {
  return base.version === '' || head.version === '' ? null : `from OpenAPI ${base.version} to ${head.version}`
}

export class VersionEffect {
  readonly #names: ReadonlySet<string>
  readonly #words: string

  constructor(base: VersionedContract, head: VersionedContract) {
    this.#names = isMovedBetween(base, head) ? membersBetween(base.version, head.version) : new Set()
    const effect = isSince(head.version, base.version) ? 'takes effect' : 'loses its effect'
    this.#words = `${effect} by the move ${moveBetween(base, head) ?? ''}`
  }

  /** Null if the element does not depend on a member that only one of the versions has. */
  of({ located, before, after, facts }: ContractDelta): string | null {
    if (this.#names.size === 0) return null
    const { value } = located
    const own = isRecord(value) ? [...Object.keys(value), value['in'], value['type'], value['style']] : []
    const named = [...stepsOf(located), before, after, ...Object.values<unknown>({ ...facts }), ...own]
    const name = named.find((one) => typeof one === 'string' && this.#names.has(one))
    return typeof name === 'string' ? `\`${name}\` ${this.#words}` : null
  }
}

function stepsOf({ at }: Located): readonly string[] {
  const steps: string[] = []
  for (let place: Place = at; place.parent !== null; place = place.parent) steps.unshift(place.step)
  return steps
}
