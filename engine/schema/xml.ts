/**
 * How values of a schema are written in XML (OpenAPI 3.2.0, XML Object): as which kind of node, under which name. A prefix
 * is not compared, since it only stands for a namespace.
 */
import type { PairContext } from './examination.ts'
import { isRecord, pointerOf, textOrNull, type JsonRecord } from './located.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'
import { itemsOf, locateItem } from './subschemas.ts'
import { typesOf } from './types.ts'

interface XmlForm {
  /** Null: a list without an element of its own. */
  readonly node: string | null
  /** Null: not stated, so that of the property. */
  readonly name: string | null
  readonly namespace: string | null
  /** A list has an element of its own around its items. */
  readonly isWrapped: boolean
}

export function compareXml({ before, after, sources, add }: PairContext): void {
  const base = xmlOf(before, sources.before)
  const head = xmlOf(after, sources.after)
  if (base === null && head === null) return
  const isImplied = (name: string | null): boolean => [before, after].some((schema) => name === propertyName(schema))
  const values = {
    before: describe(xmlFormOf(base, before, isImplied)),
    after: describe(xmlFormOf(head, after, isImplied)),
  }
  if (values.before !== values.after) add({ keyword: 'xml', action: 'changed', name: null, ...values, steps: ['xml'] })
}

const MAX_WRAPPERS = 4

/** That of the schema, or of the only schema in its place: `allOf: [A]`, `anyOf: [A, {type: null}]`. */
function xmlOf(schema: ResolvedSchema, source: SchemaSource, depth = 0): JsonRecord | null {
  const { xml } = schema.value
  if (isRecord(xml)) return xml
  if (depth === MAX_WRAPPERS) return null
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const items = itemsOf(schema.value, keyword)
    const wrapped = items.flatMap((item, index) =>
      isRecord(item) && item.type === 'null' ? [] : [locateItem(schema, items, keyword, index)],
    )
    const [only, more] = wrapped
    if (only !== undefined && more === undefined) return xmlOf(resolveSchema(only, source), source, depth + 1)
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
  const stated = textOrNull(nodeType) ?? (attribute === true ? 'attribute' : 'element')
  const name = textOrNull(xml?.name)
  return {
    node: isList && !isWrapped ? null : stated,
    name: isImplied(name) ? null : name,
    namespace: textOrNull(xml?.namespace),
    isWrapped,
  }
}

/** Of the property that the schema is written at; null: it stands elsewhere, as a component. Items have that of their list. */
function propertyName({ at }: ResolvedSchema): string | null {
  const steps = pointerOf(at).split('/')
  while (steps.at(-1) === 'items') steps.pop()
  return steps.at(-2) === 'properties' ? (steps.at(-1) ?? null) : null
}

function describe({ node, name, namespace, isWrapped }: XmlForm): string {
  const kind = node === null ? 'a list without an element of its own' : `${isWrapped ? 'a list in an' : 'an'} ${node}`
  const named = name === null ? '' : ` named ${name}`
  return namespace === null ? `${kind}${named}` : `${kind}${named} of the namespace ${namespace}`
}
