/**
 * Templated paths by their segments, and which of them answer the calls of an added path. A concrete path is matched before
 * a templated one; between two templated paths it is up to the tooling (OpenAPI 3.1.0 §4.8.8.2).
 */
import type { ApiOperation, PathItem } from '../../contracts/openapi/contract.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Located } from '../../schema/located.ts'
import { withoutNames } from './moved-prefix.ts'

/** A path item under the path by which findings name it. */
export interface PathEntry {
  readonly key: string
  /** The path by which it is matched: with what only the servers of the other side lack. */
  readonly address: string
  readonly item: PathItem
}

export function byKey(one: PathEntry, other: PathEntry): number {
  return byCodeUnit(one.key, other.key)
}

const EXPRESSION = /\{[^{}]*\}/g

/** The names of the parameters in a path, in their order. */
export function templateNames(path: string): readonly string[] {
  return [...path.matchAll(EXPRESSION)].map(([expression]) => expression.slice(1, -1))
}

/** An operation of a templated path. */
export interface TemplatedOperation {
  readonly entry: PathEntry
  readonly operation: ApiOperation
  /** The schemas of its path parameters by name, once they are asked for. */
  schemas: ReadonlyMap<string, Located | null> | null
}

export interface TemplateNode {
  /** The segment before it, without the names of expressions. */
  readonly segment: string
  /** All segments up to it, if templates end here. */
  pattern: readonly string[]
  /** The texts around the expressions of the last segment. */
  readonly texts: readonly string[]
  /** By their first segment: those without an expression in it. */
  readonly fixed: Map<string, TemplateNode>
  readonly open: Map<string, TemplateNode>
  /** Indices of the operations of the templates that end here. */
  readonly ends: number[]
}

/**
 * Templates by their segments: an added path is compared with those only whose fixed segments it may have. Templates
 * that differ in the names of parameters only are in one place.
 */
export class TemplateIndex {
  readonly #templates: readonly TemplatedOperation[]
  readonly #root = newNode('')
  /** The places after each segment of the path that was asked for last. The next one often begins like it. */
  readonly #steps: { readonly segment: string; readonly nodes: readonly TemplateNode[] }[] = []

  constructor(entries: readonly PathEntry[]) {
    this.#templates = entries
      .filter(({ address }) => address.includes('{'))
      .sort(byKey)
      .flatMap((entry) => [...entry.item.operations.values()].map((operation) => ({ entry, operation, schemas: null })))
    for (const [index, { entry }] of this.#templates.entries()) {
      let node = this.#root
      const pattern = segmentsOf(withoutNames(entry.address))
      for (const segment of pattern) {
        const nodes = segment.includes('{') ? node.open : node.fixed
        const next = nodes.get(segment) ?? newNode(segment)
        nodes.set(segment, next)
        node = next
      }
      node.pattern = pattern
      node.ends.push(index)
    }
  }

  /** The places of templates that may answer calls of an added path, which is more specific in a segment. */
  near(segments: readonly string[]): readonly TemplateNode[] {
    const known = this.#steps.findIndex(({ segment }, index) => segment !== segments[index])
    if (known !== -1) this.#steps.length = known
    for (const segment of segments.slice(this.#steps.length)) {
      const nodes = this.#steps.at(-1)?.nodes ?? [this.#root]
      this.#steps.push({ segment, nodes: nodes.flatMap((node) => nextNodes(node, segment)) })
    }
    const nodes = this.#steps.at(-1)?.nodes ?? []
    return nodes.filter(({ ends, pattern }) => ends.length > 0 && isMoreSpecific(segments, pattern))
  }

  /** The first templates of some places in the order of their paths, and the number of the others. */
  first(nodes: readonly TemplateNode[], most: number): readonly [readonly TemplatedOperation[], others: number] {
    const indices = nodes.flatMap(({ ends }) => (ends.length > most ? ends.slice(0, most) : ends))
    const first = indices.sort((a, b) => a - b).slice(0, most)
    return [this.#at(first), countIn(nodes) - first.length]
  }

  of({ ends }: TemplateNode): readonly TemplatedOperation[] {
    return this.#at(ends)
  }

  #at(indices: readonly number[]): readonly TemplatedOperation[] {
    return indices.flatMap((index) => this.#templates[index] ?? [])
  }
}

export function countIn(nodes: readonly TemplateNode[]): number {
  return nodes.reduce((sum, { ends }) => sum + ends.length, 0)
}

function newNode(segment: string): TemplateNode {
  return { segment, pattern: [], texts: segment.split(EXPRESSION), fixed: new Map(), open: new Map(), ends: [] }
}

function nextNodes({ fixed, open }: TemplateNode, segment: string): readonly TemplateNode[] {
  const openNodes = [...open.values()]
  if (segment.includes('{'))
    return [...fixed.values(), ...openNodes].filter((node) => canOverlap(segment, node.segment))
  const same = fixed.get(segment)
  const taking = openNodes.filter(({ texts }) => isBuiltFrom(segment, texts))
  return same === undefined ? taking : [same, ...taking]
}

export function segmentsOf(path: string): readonly string[] {
  return path.split('/')
}

function isMoreSpecific(added: readonly string[], template: readonly string[]): boolean {
  return added.some((segment, index) => isNarrower(segment, template[index] ?? ''))
}

function canOverlap(one: string, other: string): boolean {
  if (one === other) return true
  if (!one.includes('{')) return matchesTemplate(other, one)
  if (!other.includes('{')) return matchesTemplate(one, other)
  const [first, second] = [textsAround(one), textsAround(other)]
  const isLed = first.lead.startsWith(second.lead) || second.lead.startsWith(first.lead)
  return isLed && (first.trail.endsWith(second.trail) || second.trail.endsWith(first.trail))
}

function matchesTemplate(template: string, text: string): boolean {
  return isBuiltFrom(text, template.split(EXPRESSION))
}

/** Whether a text consists of these in order, with at least one character between any two. */
function isBuiltFrom(text: string, texts: readonly string[]): boolean {
  const [first = '', ...others] = texts
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const other of others) {
    const found = at < text.length ? text.indexOf(other, at + 1) : -1
    if (found === -1) return false
    at = found + other.length
  }
  return at < text.length - last.length
}

function textsAround(segment: string): { readonly lead: string; readonly trail: string } {
  const parts = segment.split(EXPRESSION)
  return { lead: parts[0] ?? '', trail: parts.at(-1) ?? '' }
}

/** Fixed text is narrower than a template, and a template with fixed text is narrower than one without. */
function isNarrower(one: string, other: string): boolean {
  if (!other.includes('{')) return false
  return !one.includes('{') || (isExpression(other) && !isExpression(one))
}

export function isExpression(segment: string): boolean {
  return /^\{[^{}]*\}$/.test(segment)
}
