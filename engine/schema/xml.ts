/**
 * How values of a schema are written in XML (OpenAPI 3.2.0, XML Object): as which kind of node, under which name. A prefix
 * is not compared, since it only stands for a namespace.
 */
import { lookupTable } from '../common/lookup-table.ts'
import type { SchemaDelta } from './delta.ts'
import type { PairContext, SchemaSources } from './examination.ts'
import { isRecord, memberOf, pointerOf, textOrNull, type JsonRecord, type Located } from './located.ts'
import { AnswersByDepth } from './looked-at.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { itemsOf, locateItem } from './subschemas.ts'
import { typesOf } from './types.ts'

type Pair = Pick<PairContext, 'before' | 'after'>

interface XmlForm {
  /** Null: a list without an element of its own. */
  readonly node: string | null
  /** Null: not stated, so that of the property; or the node has none. */
  readonly name: string | null
  readonly namespace: string | null
  /** A list has an element of its own around its items. */
  readonly isWrapped: boolean
}

export function compareXml({ before, after, sources, add }: PairContext): void {
  const forms = formsOf({ before, after }, sources)
  if (forms === null) return
  const [base, head] = forms
  const values = { before: describe(base), after: describe(head) }
  if (values.before !== values.after) add({ keyword: 'xml', action: 'changed', name: null, ...values, steps: ['xml'] })
}

/** Null if neither side states a form. */
function formsOf({ before, after }: Pair, sources: SchemaSources): readonly [base: XmlForm, head: XmlForm] | null {
  const base = xmlOf(before, sources.before)
  const head = xmlOf(after, sources.after)
  if (base === null && head === null) return null
  const isImplied = (name: string | null): boolean => [before, after].some((schema) => name === propertyName(schema))
  return [xmlFormOf(base, before, isImplied), xmlFormOf(head, after, isImplied)]
}

/** Whether the stated forms of two schemas differ in their names only. */
export function differsInNameOnly(pair: Pair, sources: SchemaSources): boolean {
  const [base, head] = formsOf(pair, sources) ?? []
  if (base === undefined || head === undefined) return false
  return describe({ ...base, name: null }) === describe({ ...head, name: null })
}

/** XML (RFC 7303), and the ranges that contain it. */
export function mayBeXml(mediaType: string | null): boolean {
  const name = (mediaType?.split(';')[0] ?? '').trim().toLowerCase()
  return /^(?:application|text)\/xml$|\+xml$|^(?:\*|application|text)\/\*$/.test(name)
}

/** The text that a schema describes. */
interface DescribedText {
  /** Null if it has none. */
  readonly mediaType: string | null
  /** Whether its element has the name of the component that describes it (OpenAPI 3.2.0 §4.26.3). Absent: no. */
  readonly isNamedByComponent?: boolean
}

/**
 * Another name of the element that a text in XML is: the one that its schema states, or that of its component. A schema
 * in place has no name, so nothing is known of it. A range may contain XML: there only a stated name counts.
 */
export function otherElement(
  { before, after }: Pair,
  { mediaType, isNamedByComponent = false }: DescribedText,
  sources: SchemaSources,
): SchemaDelta | null {
  if (mediaType === null || !mayBeXml(mediaType)) return null
  const isStated = mediaType.includes('*') || !isNamedByComponent
  const base = elementNames(before, sources.before)
  const head = elementNames(after, sources.after)
  for (const [depth, one] of base.entries()) {
    const other = head[depth]
    if (other === undefined || one.name === null || other.name === null || one.name === other.name) continue
    if (isStated && !one.isStated && !other.isStated) continue
    const [from, to] = [one, other].map(({ name }) => `an element named ${name}`)
    const steps = isRecord(after.value.xml) ? ['xml'] : []
    return { keyword: 'xml', action: 'changed', name: null, before: from, after: to, steps }
  }
  return null
}

interface ElementName {
  readonly name: string | null
  /** By `xml.name`, and not by the name of the component. */
  readonly isStated: boolean
}

/** The names of the element of a document; of a list also those of its items, level by level. */
function elementNames(schema: ResolvedSchema, source: SchemaSource, depth = 0): readonly ElementName[] {
  const form = xmlFormOf(xmlOf(schema, source), schema, () => false)
  const own = { name: form.name ?? impliedName(schema, source), isStated: form.name !== null }
  const items = typesOf(schema.value).includes('array') ? memberOf(schema, 'items') : null
  if (items === null || depth === MAX_WRAPPERS) return [own]
  const unnamed = { name: null, isStated: false }
  return [form.node === null ? unnamed : own, ...elementNames(resolveSchema(items, source), source, depth + 1)]
}

/** The name of the component, or of the only schema in its place; of several alternatives all of them. */
function impliedName(
  schema: ResolvedSchema,
  source: SchemaSource,
  known = new AnswersByDepth<string | null>(),
  depth = 0,
): string | null {
  const name = componentName(schema)
  if (name !== null || depth === MAX_WRAPPERS) return name
  return known.of(schema.value, depth, () => nameOfParts(schema, source, known, depth))
}

function nameOfParts(
  schema: ResolvedSchema,
  source: SchemaSource,
  known: AnswersByDepth<string | null>,
  depth: number,
): string | null {
  const only = onlyWrapped(schema)
  if (only !== null) return impliedName(resolveSchema(only, source), source, known, depth + 1)
  const names = (['anyOf', 'oneOf'] as const).flatMap((keyword) => {
    const items = itemsOf(schema.value, keyword)
    return items.map((_, index) => {
      const one = resolveSchema(locateItem(schema, items, keyword, index), source)
      return xmlFormOf(xmlOf(one, source), one, () => false).name ?? impliedName(one, source, known, depth + 1)
    })
  })
  const given = names.filter((one) => one !== null)
  return given.length === 0 || given.length < names.length ? null : [...new Set(given)].sort().join(' or ')
}

const COMPONENT = /^\/(?:components\/schemas|definitions)\/([^/]+)$/

function componentName({ at }: ResolvedSchema): string | null {
  return COMPONENT.exec(pointerOf(at))?.[1] ?? null
}

const MAX_WRAPPERS = 4

/** That of the schema, or of the only schema in its place: `allOf: [A]`, `anyOf: [A, {type: null}]`. */
function xmlOf(schema: ResolvedSchema, source: SchemaSource, depth = 0): JsonRecord | null {
  const { xml } = schema.value
  const only = depth === MAX_WRAPPERS ? null : onlyWrapped(schema)
  // A schema without a node leaves it to the schema in its place.
  if (isRecord(xml) && (only === null || xml.nodeType !== 'none')) return xml
  return only === null ? null : xmlOf(resolveSchema(only, source), source, depth + 1)
}

/** The only schema in the place of another one. */
function onlyWrapped(schema: ResolvedSchema): Located | null {
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const items = itemsOf(schema.value, keyword)
    const wrapped = items.flatMap((item, index) =>
      isRecord(item) && item.type === 'null' ? [] : [locateItem(schema, items, keyword, index)],
    )
    const [only, more] = wrapped
    if (only !== undefined && more === undefined) return only
  }
  return null
}

/** @param isImplied whether the element has that name anyway */
function xmlFormOf(
  xml: JsonRecord | null,
  schema: ResolvedSchema,
  isImplied: (name: string | null) => boolean,
): XmlForm {
  const { attribute, wrapped, nodeType } = xml ?? {}
  const isList = typesOf(schema.value).includes('array')
  const isWrapped = isList && (wrapped === true || nodeType === 'element')
  // Readers get the characters of a CDATA section as those of a text (XML 1.0 §2.7).
  const stated =
    nodeType === 'cdata' ? 'text' : (textOrNull(nodeType) ?? (attribute === true ? 'attribute' : 'element'))
  const node = isList && !isWrapped ? null : stated
  // Texts and lists without an element have no name: what is stated is ignored.
  const isNamed = node === 'element' || node === 'attribute'
  const name = isNamed ? textOrNull(xml?.name) : null
  return {
    node,
    name: isImplied(name) ? null : name,
    namespace: isNamed ? textOrNull(xml?.namespace) : null,
    isWrapped,
  }
}

/** Of the property that the schema is written at; null: it stands elsewhere, as a component. Items have that of their list. */
function propertyName({ at }: ResolvedSchema): string | null {
  const steps = pointerOf(at).split('/')
  while (steps.at(-1) === 'items') steps.pop()
  return steps.at(-2) === 'properties' ? (steps.at(-1) ?? null) : null
}

const NODES: Readonly<Record<string, string>> = lookupTable({
  element: 'an element',
  attribute: 'an attribute',
  text: 'a text node',
  none: 'no node of its own',
})

function describe({ node, name, namespace, isWrapped }: XmlForm): string {
  const kind =
    node === null ? 'a list without an element of its own' : `${isWrapped ? 'a list in ' : ''}${NODES[node] ?? node}`
  const named = name === null ? '' : ` named ${name}`
  return namespace === null ? `${kind}${named}` : `${kind}${named} of the namespace ${namespace}`
}
