/** Finds bindings by their path templates, without a look at all of them. */
import type { Binding } from './http-rules.ts'

interface BindingNode<Item> {
  readonly below: Map<string, BindingNode<Item>>
  /** The items whose template ends here. */
  readonly ends: Item[]
}

export class BindingIndex<Item extends { readonly binding: Binding }> {
  /** By verb and method. */
  readonly #roots = new Map<string, Map<string, BindingNode<Item>>>()

  constructor(items: Iterable<Item> = []) {
    for (const item of items) this.add(item)
  }

  add(item: Item): void {
    const { method, template } = item.binding
    const ofVerb = this.#roots.get(template.verb) ?? new Map<string, BindingNode<Item>>()
    this.#roots.set(template.verb, ofVerb)
    let node = ofVerb.get(method) ?? newNode<Item>()
    ofVerb.set(method, node)
    for (const segment of pathOf(item.binding)) {
      const next = node.below.get(segment) ?? newNode<Item>()
      node.below.set(segment, next)
      node = next
    }
    node.ends.push(item)
  }

  /** The items whose template takes every path of the binding. */
  accepting(binding: Binding): Iterable<Item> {
    return this.#related(binding, 'every path')
  }

  /** The items whose template takes a path of the binding. */
  overlapping(binding: Binding): Iterable<Item> {
    return this.#related(binding, 'some path')
  }

  /** Of the bindings that take the method. */
  #rootsFor({ method, template }: Binding, shared: CommonPaths): readonly BindingNode<Item>[] {
    const ofVerb = this.#roots.get(template.verb)
    if (ofVerb === undefined) return []
    if (method === ANY_METHOD && shared === 'some path') return [...ofVerb.values()]
    return [...new Set([method, ANY_METHOD])].flatMap((name) => ofVerb.get(name) ?? [])
  }

  *#related(binding: Binding, shared: CommonPaths): Iterable<Item> {
    const segments = pathOf(binding)
    const open = this.#rootsFor(binding, shared).map((node) => ({ node, index: 0 }))
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const { node, index } = place
      // `**` stands for all remaining segments, also for none.
      yield* node.below.get('**')?.ends ?? []
      const segment = segments[index]
      const isRest = segment === '**' && shared === 'some path'
      if (segment === undefined || isRest) yield* node.ends
      if (segment === undefined) continue
      for (const next of nextNodes(node, segment, shared)) open.push({ node: next, index: isRest ? index : index + 1 })
    }
  }
}

/** A binding of the custom kind `*` leaves the method open (google/api/http.proto, `HttpRule.custom`). */
const ANY_METHOD = '*'

/** What two templates must have in common. */
type CommonPaths = 'every path' | 'some path'

/** The nodes for the next segment of a path, without those for all remaining ones. */
function nextNodes<Item>(
  { below }: BindingNode<Item>,
  segment: string,
  shared: CommonPaths,
): readonly BindingNode<Item>[] {
  const isWild = segment === '*' || segment === '**'
  if (isWild && shared === 'some path') return [...below].flatMap(([name, node]) => (name === '**' ? [] : [node]))
  const names = segment === '**' ? [] : new Set([segment, '*'])
  return [...names].flatMap((name) => below.get(name) ?? [])
}

function newNode<Item>(): BindingNode<Item> {
  return { below: new Map(), ends: [] }
}

/** The segments to the first `**`, which takes all behind it. */
function pathOf({ template: { segments } }: Binding): readonly string[] {
  const rest = segments.indexOf('**')
  return rest < 0 ? segments : segments.slice(0, rest + 1)
}
