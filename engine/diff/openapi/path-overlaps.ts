/** Added paths that take calls from a templated path, unless its parameters refuse the fixed text of the added one. */
import { effectiveParameters, type ApiOperation, type PathItem } from '../../contracts/openapi/contract.ts'
import { schemaOfParameter } from '../../contracts/openapi/payloads.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import type { Operation } from '../../model/finding.ts'
import type { Located } from '../../schema/located.ts'
import { resolveSchema } from '../../schema/source.ts'
import type { Matched } from '../match.ts'
import {
  byKey,
  countIn,
  isExpression,
  segmentsOf,
  TemplateIndex,
  type PathEntry,
  type TemplatedOperation,
  type TemplateNode,
} from './path-templates.ts'
import type { ContractDelta, Walk } from './walk.ts'

/**
 * Added paths and operations of templates that are compared one by one. Beyond them, an added path takes the
 * calls of every template of its form, whatever values the parameters of the template have.
 */
const MAX_PAIRS = 50_000
/** Changes that are listed for one added path. Further operations are places of the last one, and are counted. */
const MAX_LISTED = 20

export function compareOverlaps(walk: Walk, { added, kept }: Matched<PathEntry>): void {
  if (added.length === 0) return
  const index = new TemplateIndex(kept.map(([entry]) => entry))
  const split = added.toSorted(byKey).map((entry) => ({ entry, segments: segmentsOf(entry.address) }))
  const pairs = split.reduce((sum, { segments }) => sum + countIn(index.near(segments)), 0)
  const most = pairs <= MAX_PAIRS ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(MAX_PAIRS / split.length))
  const counted = new CountedTemplates(index)
  for (const { entry, segments } of split) {
    const near = index.near(segments)
    const [candidates, unseen] = index.first(near, most)
    const taken = candidates.filter((template) => isSent(walk, template, segments))
    const [next] = unseen === 0 ? [] : index.first(near, most + 1)[0].slice(-1)
    const all = next === undefined ? taken : [...taken, next]
    const rest = all.splice(MAX_LISTED)
    const last = all.pop()
    for (const template of all) reportOverlap(walk, entry, template)
    if (last === undefined) continue
    const places = rest.length + Math.max(0, unseen - 1)
    const endpoints = (): Iterable<Operation> => counted.newIn(rest, unseen > 0 ? near : [], new Set(candidates))
    reportOverlap(walk, entry, last, { places, endpoints })
  }
}

function reportOverlap(
  walk: Walk,
  { key: name, item }: PathEntry,
  { operation, entry: { key: before } }: TemplatedOperation,
  further?: ContractDelta['further'],
): void {
  walk.add({
    change: 'path-shadowed',
    facts: { name, before },
    operation: operationOf(before, operation),
    side: 'head',
    located: item.located,
    before,
    after: name,
    // One added path is one change, whatever operations the template has.
    subject: `${before} ${name}`,
    ...(further !== undefined && { further }),
  })
}

function operationOf(path: string, { method, operationId }: ApiOperation): Operation {
  return { method, path, operation_id: operationId }
}

/** Operations that changes touch where they are only counted: each is named once. */
class CountedTemplates {
  readonly #index: TemplateIndex
  readonly #nodes = new Set<TemplateNode>()
  readonly #templates = new Set<TemplatedOperation>()

  constructor(index: TemplateIndex) {
    this.#index = index
  }

  *newIn(
    templates: readonly TemplatedOperation[],
    nodes: readonly TemplateNode[],
    others: ReadonlySet<TemplatedOperation>,
  ): Iterable<Operation> {
    const unseen = nodes.filter((node) => !this.#nodes.has(node))
    for (const node of unseen) this.#nodes.add(node)
    const ofNodes = unseen.flatMap((node) => this.#index.of(node)).filter((template) => !others.has(template))
    for (const template of [...templates, ...ofNodes]) {
      if (this.#templates.has(template)) continue
      this.#templates.add(template)
      yield operationOf(template.entry.key, template.operation)
    }
  }
}

/** Whether callers may send the fixed text of an added path as parameters. A parameter that refuses it proves that not. */
function isSent(walk: Walk, template: TemplatedOperation, added: readonly string[]): boolean {
  const { item } = template.entry
  const stated = segmentsOf(item.path).slice(-added.length)
  const segments = [...Array.from({ length: added.length - stated.length }, () => ''), ...stated]
  const schemas = (template.schemas ??= pathSchemas(walk, item, template.operation))
  return added.every((text, index) => {
    const segment = segments[index] ?? ''
    if (text.includes('{') || !isExpression(segment)) return true
    const schema = schemas.get(segment.slice(1, -1)) ?? null
    return schema === null || mayAdmit(walk, schema, text)
  })
}

function pathSchemas({ base }: Walk, item: PathItem, operation: ApiOperation): ReadonlyMap<string, Located | null> {
  const parameters = effectiveParameters(base, item, operation).filter(({ place }) => place === 'path')
  // The first of several with one name counts.
  return new Map(parameters.toReversed().map((parameter) => [parameter.name, schemaOfParameter(base, parameter)]))
}

/** What texts of a format have at least. A contract that states it has no such fixed texts among its values. */
const SHAPES: Readonly<Record<string, RegExp>> = lookupTable({
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT/i,
})

function mayAdmit({ schemas, base }: Walk, schema: Located, text: string): boolean {
  const { format } = resolveSchema(schema, base.documents).value
  if (typeof format === 'string' && SHAPES[format]?.test(text) === false) return false
  return !schemas.prover.refusesText(schema, text)
}
