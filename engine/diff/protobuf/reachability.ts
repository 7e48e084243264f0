/**
 * What nodes of a graph reach: the items of a node and of everything behind it. Counts are exact. A set for each node
 * would grow with the square of a contract, so items are followed in blocks of bits (32 items in one operation).
 */

/** Items that one pass over the graph follows. */
const BLOCK = 1024
const WORDS = BLOCK / 32

interface ReachGraph<Item> {
  readonly successorsOf: (node: string) => Iterable<string>
  /** In any order. The same item may be at several nodes. */
  readonly itemsOf: (node: string) => readonly Item[]
  readonly keyOf: (item: Item) => string
  readonly compare: (a: Item, b: Item) => number
}

interface ReachedItems<Item> {
  readonly count: number
  /** The first ones in order. */
  readonly listed: readonly Item[]
}

/** The items that each of some nodes reaches, for the nodes that are asked for together. */
export class Reachability<Item> {
  readonly #components: Components
  readonly #items: readonly Item[]
  /** By item, the components that have it. */
  readonly #owners: readonly (readonly number[])[]

  constructor(nodes: Iterable<string>, graph: ReachGraph<Item>) {
    this.#components = componentsFrom(nodes, graph)
    const owners = new Map<string, { readonly item: Item; readonly components: number[] }>()
    for (const [node, component] of this.#components.of) {
      for (const item of graph.itemsOf(node)) {
        const known = owners.get(graph.keyOf(item))
        if (known === undefined) owners.set(graph.keyOf(item), { item, components: [component] })
        else known.components.push(component)
      }
    }
    const sorted = [...owners.values()].sort((a, b) => graph.compare(a.item, b.item))
    this.#items = sorted.map(({ item }) => item)
    this.#owners = sorted.map(({ components }) => components)
  }

  /** What the nodes of each query reach together, at most so many of them listed. */
  reached(queries: readonly (readonly string[])[], most: number): readonly ReachedItems<Item>[] {
    const answers = queries.map((nodes) => ({ nodes: this.#componentsOf(nodes), count: 0, listed: [] as Item[] }))
    const bits = new Int32Array(this.#components.below.length * WORDS)
    const all = new Int32Array(WORDS)
    for (let start = 0; start < this.#items.length; start += BLOCK) {
      this.#follow(start, bits)
      for (const answer of answers) {
        all.fill(0)
        for (const component of answer.nodes) join(all, 0, bits, component * WORDS)
        answer.count += countOf(all)
        if (answer.listed.length < most) this.#list(start, all, most, answer.listed)
      }
    }
    return answers
  }

  #componentsOf(nodes: readonly string[]): readonly number[] {
    return [...new Set(nodes.flatMap((node) => this.#components.of.get(node) ?? []))]
  }

  /** Which items of a block each component reaches. Those behind a component come before it. */
  #follow(start: number, bits: Int32Array): void {
    bits.fill(0)
    for (const [place, components] of this.#owners.slice(start, start + BLOCK).entries()) {
      const bit = 1 << (place & 31)
      for (const component of components) {
        const word = component * WORDS + (place >> 5)
        bits[word] = (bits[word] ?? 0) | bit
      }
    }
    for (const [component, below] of this.#components.below.entries())
      for (const successor of below) join(bits, component * WORDS, bits, successor * WORDS)
  }

  #list(start: number, bits: Int32Array, most: number, into: Item[]): void {
    for (let place = 0; place < BLOCK && into.length < most; place += 1) {
      const item = this.#items[start + place]
      if (item !== undefined && ((bits[place >> 5] ?? 0) & (1 << (place & 31))) !== 0) into.push(item)
    }
  }
}

function join(into: Int32Array, to: number, bits: Int32Array, from: number): void {
  for (let word = 0; word < WORDS; word += 1) into[to + word] = (into[to + word] ?? 0) | (bits[from + word] ?? 0)
}

function countOf(bits: Int32Array): number {
  let count = 0
  for (let word of bits) for (; word !== 0; word &= word - 1) count += 1
  return count
}

/** Nodes that reach each other are one component. */
interface Components {
  readonly of: ReadonlyMap<string, number>
  /** By component, those of its successors. They have lower numbers. */
  readonly below: readonly (readonly number[])[]
}

/** A node in progress: its visit number, the lowest number it leads back to, and the successors still to be visited. */
interface NodeVisit {
  readonly node: string
  readonly order: number
  oldest: number
  readonly rest: Iterator<string, unknown>
}

/** Tarjan’s strongly connected components. The walk keeps its own stack, because nesting has no bound. */
function componentsFrom(
  nodes: Iterable<string>,
  { successorsOf }: Pick<ReachGraph<never>, 'successorsOf'>,
): Components {
  const component = new Map<string, number>()
  const below: number[][] = []
  const met = new Map<string, NodeVisit>()
  const open: NodeVisit[] = []
  const path: NodeVisit[] = []
  const enter = (node: string): void => {
    const visit = { node, order: met.size, oldest: met.size, rest: successorsOf(node)[Symbol.iterator]() }
    met.set(node, visit)
    open.push(visit)
    path.push(visit)
  }
  const close = (first: NodeVisit): void => {
    const members = open.splice(open.lastIndexOf(first)).map(({ node }) => node)
    for (const member of members) component.set(member, below.length)
    const successors = new Set<number>()
    for (const member of members)
      for (const successor of successorsOf(member)) successors.add(component.get(successor) ?? below.length)
    successors.delete(below.length)
    below.push([...successors])
  }
  for (const node of nodes) {
    if (!met.has(node)) enter(node)
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const next = visit.rest.next()
      if (next.done !== true && typeof next.value === 'string') {
        const known = met.get(next.value)
        if (known === undefined) enter(next.value)
        else if (!component.has(next.value)) visit.oldest = Math.min(visit.oldest, known.order)
        continue
      }
      path.pop()
      const under = path.at(-1)
      if (under !== undefined) under.oldest = Math.min(under.oldest, visit.oldest)
      if (visit.oldest === visit.order) close(visit)
    }
  }
  return { of: component, below }
}
