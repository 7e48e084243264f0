/**
 * What is known of pairs of nodes. Most nodes are compared with one other node: the first partner is held in place, since a
 * map for each of half a million members weighs more than the members.
 */
import type { SchemaNode } from './model.ts'

class Partner<Value> {
  readonly id: number
  value: Value
  others: Map<number, Value> | null = null

  constructor(id: number, value: Value) {
    this.id = id
    this.value = value
  }
}

export class PairMap<Value> {
  readonly #partners = new Map<number, Partner<Value>>()

  get(one: SchemaNode, other: SchemaNode): Value | undefined {
    const first = this.#partners.get(one.id)
    return first === undefined || first.id === other.id ? first?.value : first.others?.get(other.id)
  }

  set(one: SchemaNode, other: SchemaNode, value: Value): void {
    const first = this.#partners.get(one.id)
    if (first === undefined) this.#partners.set(one.id, new Partner(other.id, value))
    else if (first.id === other.id) first.value = value
    else (first.others ??= new Map()).set(other.id, value)
  }
}
