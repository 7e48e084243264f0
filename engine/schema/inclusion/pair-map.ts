/**
 * What is known of pairs of nodes or schemas. Most are compared with one other: the first partner is held in place, since a
 * map for each of half a million members weighs more than the members.
 */
import type { SchemaNode } from './model.ts'

class Partner<Key, Value> {
  readonly key: Key
  value: Value
  others: Map<Key, Value> | null = null

  constructor(key: Key, value: Value) {
    this.key = key
    this.value = value
  }
}

/** Pairs of keys that are compared by identity. */
export class Pairs<Key, Value> {
  readonly #partners = new Map<Key, Partner<Key, Value>>()

  get(one: Key, other: Key): Value | undefined {
    const first = this.#partners.get(one)
    return first === undefined || first.key === other ? first?.value : first.others?.get(other)
  }

  set(one: Key, other: Key, value: Value): void {
    const first = this.#partners.get(one)
    if (first === undefined) this.#partners.set(one, new Partner(other, value))
    else if (first.key === other) first.value = value
    else (first.others ??= new Map()).set(other, value)
  }
}

/** Pairs of nodes. */
export class PairMap<Value> {
  readonly #pairs = new Pairs<number, Value>()

  get(one: SchemaNode, other: SchemaNode): Value | undefined {
    return this.#pairs.get(one.id, other.id)
  }

  set(one: SchemaNode, other: SchemaNode, value: Value): void {
    this.#pairs.set(one.id, other.id, value)
  }
}
