/** How values of parameters and header fields are serialised: in a style, or as text of a media type. */
import { contentOf, listStyleOf } from '../../contracts/openapi/payloads.ts'
import { isRecord, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { typesOf } from '../../schema/types.ts'
import { relationOf } from './media-types.ts'
import type { Walk } from './walk.ts'

interface Written {
  /** `query`, `header`, `path`, `cookie`. */
  readonly place: string
  readonly located: Located
}

interface WritingChange {
  readonly of: 'style' | 'content'
  readonly before: string
  readonly after: string
  /** One side has a style and the other a media type, so their schemas cannot be compared. */
  readonly isOtherKind: boolean
}

/** Null if values are serialised as before. */
export function writingChange(walk: Walk, base: Written, head: Written): WritingChange | null {
  const [before, after] = [contentOf(walk.base, base.located)[0]?.name, contentOf(walk.head, head.located)[0]?.name]
  if (before !== after && (before === undefined || after === undefined || relationOf(before, after) !== 'same')) {
    const isOtherKind = before === undefined || after === undefined
    return { of: 'content', before: before ?? 'plain values', after: after ?? 'plain values', isOtherKind }
  }
  const [baseStyle, headStyle] = [styleOf(base), styleOf(head)]
  const isPlain = baseStyle.isScalar || headStyle.isScalar
  if (baseStyle.name === headStyle.name && (isPlain || baseStyle.isExploded === headStyle.isExploded)) return null
  return { of: 'style', before: nameStyle(baseStyle), after: nameStyle(headStyle), isOtherKind: false }
}

/** A value without a schema may be anything. */
export function anySchema({ at, document }: Located): Located {
  return { value: {}, at: stepInto(at, 'schema'), document }
}

/** How the values of a parameter are serialised. */
interface Style {
  readonly name: string
  readonly isExploded: boolean
  /** Scalars are written the same whether exploded or not. */
  readonly isScalar: boolean
}

/** OpenAPI's defaults: `form` in queries and cookies, `simple` elsewhere, exploded if `form`. */
export function styleOf({ place, located }: Written): Style {
  const value: JsonRecord = isRecord(located.value) ? located.value : {}
  const schema = isRecord(value.schema) ? value.schema : value
  const types = typesOf(schema)
  const isScalar = types.length > 0 && types.every((type) => type !== 'array' && type !== 'object')
  const fallback = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  if (value.content !== undefined) return { name: 'content', isExploded: false, isScalar }
  if (value.schema === undefined && value.type !== undefined) {
    const { style: name, explode: isExploded } = listStyleOf(value, fallback) ?? {
      style: fallback,
      explode: fallback === 'form',
    }
    return { name, isExploded, isScalar }
  }
  const style = typeof value.style === 'string' ? value.style : fallback
  const isExploded = typeof value.explode === 'boolean' ? value.explode : style === 'form'
  const reserved = value.allowReserved === true ? ', reserved characters as they are' : ''
  return { name: `${style}${reserved}`, isExploded, isScalar }
}

function nameStyle({ name, isExploded }: Style): string {
  return isExploded ? `${name}, exploded` : name
}
