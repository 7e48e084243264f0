/**
 * The effect of each write endpoint of a platform, as data: rows of patterns with one effect and one reason. An
 * endpoint without a row is unknown, and unknown is not harmless.
 */
import { literalReadings } from '../../routing/path-reading.ts'

/** Operations of the receipts that such calls take. */
export type ReceiptOperation = 'merge' | 'approve' | 'deploy' | 'publish' | 'administer'

type EndpointEffect =
  /** Forwarded unjudged. */
  | { readonly kind: 'passes' }
  /** Forwarded unless a text in it holds a command that the platform runs. */
  | { readonly kind: 'texts' }
  /** Forwarded unless it is the check that the gateway writes. */
  | { readonly kind: 'results' }
  /** Forwarded with a receipt for exactly this request. */
  | { readonly kind: 'receipt'; readonly operation: ReceiptOperation }

export interface EndpointGroup {
  readonly effect: Exclude<EndpointEffect['kind'], 'receipt'> | ReceiptOperation
  readonly because: string
  /**
   * `PATH` for every method that writes, `METHOD|METHOD PATH` for some. In a path, `:name` stands for one segment and `*` at the end
   * for any number of them; a literal counts before a name, and a name before the rest.
   */
  readonly endpoints: readonly string[]
}

export interface Endpoint {
  readonly effect: EndpointEffect
  readonly because: string
  /** As written in the table. */
  readonly pattern: string
}

export interface EndpointTable {
  /** Null: unknown. @param segments decoded */
  find(method: string, segments: readonly string[]): Endpoint | null
  readonly patterns: readonly string[]
}

interface EndpointNode {
  readonly literals: Map<string, EndpointNode>
  name: EndpointNode | null
  /** By method; `''` for all of them. */
  readonly here: Map<string, Endpoint>
  readonly rest: Map<string, Endpoint>
}

/** @throws Error for two rows that say something of the same requests */
export function createEndpointTable(groups: readonly EndpointGroup[]): EndpointTable {
  const root = newNode()
  for (const { effect, because, endpoints } of groups)
    for (const pattern of endpoints) insert(root, { effect: endpointEffect(effect), because, pattern })
  return {
    find: (method, segments) => (segments.every(isPlainSegment) ? find(root, method, segments, 0) : null),
    patterns: groups.flatMap(({ endpoints }) => endpoints),
  }
}

function endpointEffect(effect: EndpointGroup['effect']): EndpointEffect {
  return effect === 'passes' || effect === 'texts' || effect === 'results'
    ? { kind: effect }
    : { kind: 'receipt', operation: effect }
}

function insert(root: EndpointNode, endpoint: Endpoint): void {
  const [path = '', methods] = endpoint.pattern.split(' ').toReversed()
  const segments = path.split('/').filter(Boolean)
  const hasRest = segments.at(-1) === '*'
  let node = root
  for (const segment of hasRest ? segments.slice(0, -1) : segments) node = childOf(node, segment)
  const rows = hasRest ? node.rest : node.here
  for (const method of methods?.split('|') ?? ['']) {
    if (rows.has(method)) throw new Error(`two rows for ${endpoint.pattern}`)
    rows.set(method, endpoint)
  }
}

function childOf(node: EndpointNode, segment: string): EndpointNode {
  if (segment.startsWith(':')) return (node.name ??= newNode())
  const literal = segment.toLowerCase()
  const child = node.literals.get(literal) ?? newNode()
  node.literals.set(literal, child)
  return child
}

function newNode(): EndpointNode {
  return { literals: new Map(), name: null, here: new Map(), rest: new Map() }
}

/** All that a server may take the path for; the strictest of them counts. */
function find(node: EndpointNode, method: string, segments: readonly string[], index: number): Endpoint | null {
  const segment = segments[index]
  const below = (child: EndpointNode): Endpoint | null => find(child, method, segments, index + 1)
  const own = segment === undefined ? rowIn(node.here, method) : deeper(node, segment, below)
  return own ?? rowIn(node.rest, method)
}

function deeper(node: EndpointNode, segment: string, below: (child: EndpointNode) => Endpoint | null): Endpoint | null {
  const exact = node.literals.get(segment)
  const plain = exact === undefined ? null : below(exact)
  if (plain !== null) return plain
  const loose = literalReadings(segment).flatMap((text) => node.literals.get(text) ?? [])
  const children = node.name === null ? loose : [...loose, node.name]
  return children.map(below).reduce(stricter, null)
}

/** From the mildest to the strictest. */
const RANKS = ['passes', 'results', 'texts', 'publish', 'deploy', 'approve', 'merge', 'administer'] as const

function rankOf({ effect }: Endpoint): number {
  return RANKS.indexOf(effect.kind === 'receipt' ? effect.operation : effect.kind)
}

function stricter(one: Endpoint | null, other: Endpoint | null): Endpoint | null {
  if (one === null || other === null) return one ?? other
  return rankOf(other) > rankOf(one) ? other : one
}

function rowIn(rows: ReadonlyMap<string, Endpoint>, method: string): Endpoint | null {
  return rows.get(method) ?? rows.get('') ?? null
}

/** `/a/b` */
export function pathText(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment}`).join('')
}

/** A segment may hold an escaped slash; one that leads elsewhere, when somebody takes it apart, is no name. */
function isPlainSegment(segment: string): boolean {
  return !/\p{Cc}|\\|;/u.test(segment) && segment.split('/').every((part) => part !== '..' && part !== '.')
}
