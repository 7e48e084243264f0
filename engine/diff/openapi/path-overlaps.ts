/**
 * Added paths that take calls from a templated path. A concrete path is matched before a templated one; between two
 * templated paths it is up to the tooling (OpenAPI 3.1.0 §4.8.8.2).
 */
import { effectiveParameters, type ApiOperation, type PathItem } from '../../contracts/openapi/contract.ts'
import { schemaOfParameter } from '../../contracts/openapi/payloads.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import type { Located } from '../../schema/located.ts'
import { resolveSchema } from '../../schema/source.ts'
import type { Matched } from '../match.ts'
import type { Walk } from './walk.ts'

/** A path item under the path by which findings name it. */
export interface PathEntry {
  readonly key: string
  /** The path by which it is matched: with what only the servers of the other side lack. */
  readonly address: string
  readonly item: PathItem
}

export function compareOverlaps(walk: Walk, { added, kept }: Matched<PathEntry>): void {
  if (added.length === 0) return
  const templated = kept.filter(([{ address }]) => address.includes('{'))
  const split = templated.map(([entry]) => ({ ...entry, pattern: segmentsOf(entry.address) }))
  const index = new TemplateIndex(split)
  for (const { key: name, address, item } of added) {
    const segments = segmentsOf(address)
    for (const { key: before, item: template, pattern } of index.near(segments)) {
      if (!takesCalls(segments, pattern)) continue
      for (const operation of template.operations.values()) {
        if (!isSent(walk, template, operation, segments)) continue
        const { method, operationId: operation_id } = operation
        walk.add({
          change: 'path-shadowed',
          facts: { name, before },
          operation: { method, path: before, operation_id },
          side: 'head',
          located: item.located,
          before,
          after: name,
          // One added path is one change, whatever operations the template has.
          subject: `${before} ${name}`,
        })
      }
    }
  }
}

const EXPRESSION = /\{[^{}]*\}/g

interface SplitEntry extends PathEntry {
  readonly pattern: readonly string[]
}

interface TemplateNode {
  /** The segment before it, and the texts around its expressions. */
  readonly segment: string
  readonly texts: readonly string[]
  /** By their first segment: those without an expression in it. */
  readonly fixed: Map<string, TemplateNode>
  readonly open: Map<string, TemplateNode>
  /** Indices of the templates that end here. */
  readonly ends: number[]
}

/** Templates by their segments: an added path is compared with those only whose fixed segments it may have. */
class TemplateIndex {
  readonly #entries: readonly SplitEntry[]
  readonly #root = newNode('')

  constructor(entries: readonly SplitEntry[]) {
    this.#entries = entries
    for (const [index, { pattern }] of entries.entries()) {
      let node = this.#root
      for (const segment of pattern) {
        const nodes = segment.includes('{') ? node.open : node.fixed
        const next = nodes.get(segment) ?? newNode(segment)
        nodes.set(segment, next)
        node = next
      }
      node.ends.push(index)
    }
  }

  /** In the order of the entries. */
  near(segments: readonly string[]): readonly SplitEntry[] {
    let nodes: readonly TemplateNode[] = [this.#root]
    for (const segment of segments) nodes = nodes.flatMap((node) => nextNodes(node, segment))
    const found = nodes.flatMap(({ ends }) => ends).sort((a, b) => a - b)
    return found.flatMap((index) => this.#entries[index] ?? [])
  }
}

function newNode(segment: string): TemplateNode {
  return { segment, texts: segment.split(EXPRESSION), fixed: new Map(), open: new Map(), ends: [] }
}

function nextNodes({ fixed, open }: TemplateNode, segment: string): readonly TemplateNode[] {
  const openNodes = [...open.values()]
  if (segment.includes('{'))
    return [...fixed.values(), ...openNodes].filter((node) => canOverlap(segment, node.segment))
  const same = fixed.get(segment)
  const taking = openNodes.filter(({ texts }) => isBuiltFrom(segment, texts))
  return same === undefined ? taking : [same, ...taking]
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/')
}

/** Whether some calls match both paths, and the added one is more specific in a segment. */
function takesCalls(added: readonly string[], template: readonly string[]): boolean {
  return (
    added.every((segment, index) => canOverlap(segment, template[index] ?? '')) &&
    added.some((segment, index) => isNarrower(segment, template[index] ?? ''))
  )
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

function isExpression(segment: string): boolean {
  return /^\{[^{}]*\}$/.test(segment)
}

/** Whether callers may send the fixed text of an added path as parameters. A parameter that refuses it proves that not. */
function isSent(walk: Walk, item: PathItem, operation: ApiOperation, added: readonly string[]): boolean {
  const parameters = effectiveParameters(walk.base, item, operation).filter(({ place }) => place === 'path')
  const stated = segmentsOf(item.path).slice(-added.length)
  const template = [...Array.from({ length: added.length - stated.length }, () => ''), ...stated]
  return added.every((text, index) => {
    const segment = template[index] ?? ''
    if (text.includes('{') || !isExpression(segment)) return true
    const parameter = parameters.find(({ name }) => name === segment.slice(1, -1))
    const schema = parameter === undefined ? null : schemaOfParameter(walk.base, parameter)
    return schema === null || mayAdmit(walk, schema, text)
  })
}

/** What texts of a format have at least. A contract that states it has no such fixed texts among its values. */
const SHAPES: Readonly<Record<string, RegExp>> = lookupTable({
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT/i,
})

function mayAdmit({ schemas, base, head }: Walk, schema: Located, text: string): boolean {
  const { format } = resolveSchema(schema, base.documents).value
  if (typeof format === 'string' && SHAPES[format]?.test(text) === false) return false
  const sent = { ...head.root, value: { enum: [text] } }
  const answer = schemas.prover.ask(schema, sent, {
    direction: 'widening',
    usage: 'request',
    convention: 'none',
    overlap: 'refused',
    isText: true,
  })
  return answer.kind !== 'refuted'
}
