/** How values of parameters and header fields are serialised: in a style, or as text of a media type. */
import { isSince32 } from '../../contracts/openapi/contract.ts'
import { hasMember } from '../../contracts/openapi/version-members.ts'
import { contentOf, listStyleOf } from '../../contracts/openapi/payloads.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { isSameMediaType, isWrittenAlike } from './media-types.ts'
import type { Walk } from './walk.ts'
import { writtenTypesOf, type WrittenType } from './written-types.ts'

interface Written {
  readonly name: string
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
  /** Reserved characters may also be written as they are, and nothing else changed. */
  readonly isOnlyReserved: boolean
}

/** Null if values are serialised as before. */
export function writingChange(walk: Walk, base: Written, head: Written): WritingChange | null {
  const before = contentOf(walk.base, base.located)[0]?.name
  const after = contentOf(walk.head, head.located)[0]?.name
  if (before !== after && (before === undefined || after === undefined || !isWrittenAlike(before, after))) {
    if (isText(walk.base, base) && isText(walk.head, head)) return null
    const isOtherKind = before === undefined || after === undefined
    const [from, to] = [before ?? 'plain values', after ?? 'plain values']
    return { of: 'content', before: from, after: to, isOtherKind, isOnlyReserved: false }
  }
  const baseStyle = styleOf(base, walk.base)
  const headStyle = styleOf(head, walk.head)
  if (isEqual(baseStyle, headStyle) && !(isNamed(headStyle) && base.name !== head.name)) return null
  const types = sharedTypes(walk, base, head)
  const [from, to] = [effectOn(types, baseStyle), effectOn(types, headStyle)]
  if (isEqual(from, to)) {
    if (base.name === head.name || !writesName(types, to)) return null
    const named = ({ name }: Written): string => `${nameStyle(headStyle)}, named ${name}`
    return { of: 'style', before: named(base), after: named(head), isOtherKind: false, isOnlyReserved: false }
  }
  const isOnlyReserved = to.isReserved && isEqual({ ...from, isReserved: true }, to)
  return { of: 'style', before: nameStyle(baseStyle), after: nameStyle(headStyle), isOtherKind: false, isOnlyReserved }
}

/** Places in which all values are percent-encoded, of a style or of a media type (OpenAPI 3.1.1 §4.8.12.4). */
const ENCODED_PLACES: ReadonlySet<string> = new Set(['path', 'query'])
const TEXT_STYLES: ReadonlySet<string> = new Set(['form', 'simple'])

/** Whether a value is sent as its text: a scalar in the default style of its place, or as `text/plain`. */
function isText(contract: Walk['base'], written: Written): boolean {
  const [media] = contentOf(contract, written.located)
  const { name, isReserved } = styleOf(written, contract)
  const types = media === undefined ? typesIn(contract, written) : writtenTypesOf(media.schema, contract.documents)
  const isPlain = media === undefined ? TEXT_STYLES.has(name) && !isReserved : isSameMediaType(media.name, 'text/plain')
  const areScalars = types.length > 0 && types.every((type) => type !== 'array' && type !== 'object')
  return ENCODED_PLACES.has(written.place) && isPlain && areScalars
}

/** Of the styles in a path only `matrix` writes the name: `;color=blue` (RFC 6570 §3.2.7). */
function isNamed({ name }: Style): boolean {
  return name === 'matrix'
}

/** An object that explodes is written with the names of its members only. */
function writesName(types: readonly WrittenType[], style: Style): boolean {
  return isNamed(style) && !(style.isExploded && types.every((type) => type === 'object'))
}

/** Styles that write the members of an object that explodes like parameters of their own (RFC 6570 §3.2.8). */
const BY_MEMBERS: ReadonlySet<string> = new Set(['form', 'cookie'])

/** Whether the name of a parameter is never sent, but those of its members. */
export function isSentByMembers(written: Written, contract: Walk['base']): boolean {
  if (written.place !== 'query' && written.place !== 'cookie') return false
  const { name, isExploded } = styleOf(written, contract)
  const types = typesIn(contract, written)
  return isExploded && BY_MEMBERS.has(name) && types.length > 0 && types.every((type) => type === 'object')
}

/** The types of values that both sides write. A change of types is reported elsewhere. */
function sharedTypes({ base, head }: Walk, before: Written, after: Written): readonly WrittenType[] {
  const headTypes = typesIn(head, after)
  return typesIn(base, before).filter((type) => headTypes.includes(type))
}

function typesIn(contract: Walk['base'], { located }: Written): readonly WrittenType[] {
  return writtenTypesOf(contract.isSwagger ? located : memberOf(located, 'schema'), contract.documents)
}

/** The part of a style that changes how values of these types are written (OpenAPI 3.1.1 §4.8.12.6). */
export function effectOn(types: readonly WrittenType[], { name, isExploded, isReserved }: Style): Style {
  const exploding = EXPLODING[name] ?? ['array', 'object']
  // The two differ in separators and percent-encoding.
  const isPlain = name === 'cookie' && types.length > 0 && types.every((type) => UNRESERVED.includes(type))
  return {
    name: isPlain ? 'form' : name,
    isExploded: isExploded && types.some((type) => exploding.includes(type)),
    isReserved: isReserved && types.some((type) => !UNRESERVED.includes(type)),
  }
}

/** The types that a style writes otherwise when it explodes, if not lists and objects. */
const EXPLODING: Readonly<Record<string, readonly WrittenType[]>> = lookupTable({ simple: ['object'], deepObject: [] })

/** Types whose values contain no reserved character. */
const UNRESERVED: readonly WrittenType[] = ['boolean', 'integer']

/** A value without a schema may be anything. */
export function anySchema({ at, document }: Located): Located {
  return { value: {}, at: stepInto(at, 'schema'), document }
}

/** How the values of a parameter are serialised. */
export interface Style {
  readonly name: string
  readonly isExploded: boolean
  /** Reserved characters are written as they are. */
  readonly isReserved: boolean
}

/** OpenAPI's defaults: `form` in queries and cookies, `simple` elsewhere, exploded if `form` or `cookie`. */
export function styleOf({ place, located }: Written, contract: Walk['base']): Style {
  const value: JsonRecord = isRecord(located.value) ? located.value : {}
  const fallback = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  if (value.content !== undefined) return { name: 'content', isExploded: false, isReserved: false }
  if (value.schema === undefined && value.type !== undefined) {
    const { style: name, explode: isExploded } = listStyleOf(located, contract, fallback) ?? {
      style: fallback,
      explode: fallback === 'form',
    }
    return { name, isExploded, isReserved: false }
  }
  const { style } = value
  const name = typeof style === 'string' && hasMember(contract, 'style', style) ? style : fallback
  const isExploded = typeof value.explode === 'boolean' ? value.explode : name === 'form' || name === 'cookie'
  return { name, isExploded, isReserved: value.allowReserved === true && isPercentEncoded(place, name, contract) }
}

/** Elsewhere `allowReserved` is ignored: before OpenAPI 3.2 it is of queries only (3.1.1 §4.8.12.2, 3.2.0 §4.12.2). */
function isPercentEncoded(place: string, style: string, contract: Walk['base']): boolean {
  if (place === 'query') return true
  return isSince32(contract) && (place === 'path' || (place === 'cookie' && style === 'form'))
}

function nameStyle({ name, isExploded, isReserved }: Style): string {
  return `${name}${isReserved ? ', reserved characters as they are' : ''}${isExploded ? ', exploded' : ''}`
}
