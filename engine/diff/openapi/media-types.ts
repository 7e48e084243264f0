/** Names of media types: when two are equal, and when one is contained in the other. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { MediaType } from '../../contracts/openapi/payloads.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'

interface Name {
  readonly type: string
  readonly subtype: string
  /** Structured syntax of RFC 6838 §4.2.8: `json` of `problem+json`. */
  readonly suffix: string
  readonly parameters: readonly string[]
  /** The stated encoding of the text; null: any. */
  readonly charset: string | null
}

const CHARSET = 'charset='
/** The default of text, and all that JSON allows (RFC 8259 §8.1). */
const UTF_8 = 'utf-8'
/** Other names, and a part that reads the same. */
const LIKE_UTF_8 = /^(?:utf-?8|(?:us-)?ascii)$/

function parseMediaType(name: string): Name {
  const [essence = '', ...parameters] = name.toLowerCase().split(';')
  const [type = '', full = ''] = essence.trim().split('/')
  const plus = full.lastIndexOf('+')
  const stated = parameters
    .map((parameter) => parameter.replaceAll(/[\s"]/g, ''))
    .filter((parameter) => parameter !== '')
    .sort()
  const charset = stated.find((parameter) => parameter.startsWith(CHARSET))?.slice(CHARSET.length) ?? null
  return {
    type,
    subtype: plus === -1 ? full : full.slice(0, plus),
    suffix: plus === -1 ? '' : full.slice(plus + 1),
    parameters: stated,
    charset: charset !== null && LIKE_UTF_8.test(charset) ? UTF_8 : charset,
  }
}

type Relation = 'same' | 'generalized' | 'specialized' | 'changed' | 'exchanged' | 'unrelated'

/**
 * The relation of a media type before and after. If only parameters differ, it is `changed` when the head adds some,
 * `generalized` when it removes some, else `exchanged`. Text that was UTF-8 by default exchanges its encoding.
 */
export function relationOf(before: string, after: string): Relation {
  if (before === after) return 'same'
  const [base, head] = [parseMediaType(before), parseMediaType(after)]
  if (isSameEssence(base, head)) {
    if (base.parameters.join() === head.parameters.join()) return 'same'
    if (isTypeWithin(head, base)) return isReadAlike(base, head) ? 'changed' : 'exchanged'
    return isTypeWithin(base, head) ? 'generalized' : 'exchanged'
  }
  if (isTypeWithin(base, head) || isSuffixOf(head, base)) return 'generalized'
  return isTypeWithin(head, base) || isSuffixOf(base, head) ? 'specialized' : 'unrelated'
}

/** Readers of JSON can read `application/problem+json` (RFC 6839 §3.1). Receivers of JSON may refuse its name. */
function isSuffixOf(whole: Name, part: Name): boolean {
  return part.suffix !== '' && isTypeWithin({ ...part, subtype: part.suffix, suffix: '' }, whole)
}

/** Whether every text of the media type `part` is one of the media type `whole`. */
export function isMediaTypeWithin(part: string, whole: string): boolean {
  return part === whole || isTypeWithin(parseMediaType(part), parseMediaType(whole))
}

/** Case, and parameters without effect (`charset=utf-8` of JSON), make no difference (RFC 9110 §8.3.1). */
export function isSameMediaType(one: string, other: string): boolean {
  return isMediaTypeWithin(one, other) && isMediaTypeWithin(other, one)
}

/** Whether texts of two media types are written alike. JSON is, whatever name a type that is based on it has. */
export function isWrittenAlike(one: string, other: string): boolean {
  if (isSameMediaType(one, other)) return true
  const [first, second] = [parseMediaType(one), parseMediaType(other)]
  return isJson(first) && isJson(second) && isReadAlike(first, second)
}

function isJson({ subtype, suffix }: Name): boolean {
  return suffix === 'json' || (subtype === 'json' && suffix === '')
}

function isSameEssence(a: Name, b: Name): boolean {
  return a.type === b.type && a.subtype === b.subtype && a.suffix === b.suffix
}

/** A range contains its members. A parameter makes a type more specific. */
function isTypeWithin(part: Name, whole: Name): boolean {
  // JSON in another encoding is no JSON that others take (RFC 8259 §8.1).
  const charset = whole.charset ?? (isJson(whole) ? UTF_8 : null)
  if (charset !== null && (part.charset ?? UTF_8) !== charset) return false
  const stated = significantParameters(part)
  if (!significantParameters(whole).every((parameter) => stated.includes(parameter))) return false
  if (whole.type === '*') return true
  if (part.type !== whole.type) return false
  if (whole.subtype === '*') return whole.suffix === '' || whole.suffix === part.suffix
  return isSameEssence(part, whole)
}

/** Whether text of two types of one essence has one encoding. That of other types, as of XML, is in the text itself. */
function isReadAlike(base: Name, head: Name): boolean {
  const isText = base.subtype !== '*' && (base.type === 'text' || base.subtype === 'json' || base.suffix === 'json')
  return !isText || (base.charset ?? UTF_8) === (head.charset ?? UTF_8)
}

function significantParameters({ parameters }: Name): readonly string[] {
  return parameters.filter((parameter) => !parameter.startsWith(CHARSET))
}

/**
 * The most specific of several media types that admits all texts of a name (OpenAPI 3.1.0 §4.8.14). Null if none does.
 */
export function coverAmong(media: readonly MediaType[]): (name: string) => MediaType | null {
  const near = nearby(media)
  return (name) => {
    const covers = near(name).filter((one) => one.name !== name && isMediaTypeWithin(name, one.name))
    return covers.find((one) => covers.every((other) => isMediaTypeWithin(one.name, other.name))) ?? null
  }
}

export function matchMediaTypes(before: readonly MediaType[], after: readonly MediaType[]): Matched<MediaType> {
  const exact = matchByKey(before, after, ({ name }) => name)
  return matchRelated(matchRest(exact, ({ name }) => essenceOf(name)))
}

/** A name that became wider or narrower is a change of that name. The names decide which of several is matched. */
function matchRelated(first: Matched<MediaType>): Matched<MediaType> {
  const { added, removed, kept } = first
  if (added.length === 0 || removed.length === 0) return first
  const waiting = new Set(added)
  const near = nearby(added)
  const related: (readonly [MediaType, MediaType])[] = []
  for (const base of removed.toSorted(byMediaTypeName)) {
    const [head] = near(base.name)
      .filter((one) => waiting.has(one) && relationOf(base.name, one.name) !== 'unrelated')
      .sort(byMediaTypeName)
    if (head === undefined) continue
    waiting.delete(head)
    related.push([base, head])
  }
  const relatedBase = new Set(related.map(([base]) => base))
  return {
    added: added.filter((media) => waiting.has(media)),
    removed: removed.filter((media) => !relatedBase.has(media)),
    kept: [...kept, ...related],
  }
}

function byMediaTypeName(a: MediaType, b: MediaType): number {
  return byCodeUnit(a.name, b.name)
}

/**
 * The media types that may be related to a name: of its essence or its suffix, and ranges. The others need not be held
 * against it.
 */
function nearby(media: readonly MediaType[]): (name: string) => readonly MediaType[] {
  let groups: ReadonlyMap<string, readonly MediaType[]> | null = null
  return (name) => {
    const parsed = parseMediaType(name)
    if (parsed.type === '*') return media
    const known = (groups ??= grouped(media))
    return [...new Set(wantedKeys(parsed).flatMap((key) => known.get(key) ?? []))]
  }
}

function grouped(media: readonly MediaType[]): ReadonlyMap<string, readonly MediaType[]> {
  const groups = new Map<string, MediaType[]>()
  for (const one of media) {
    for (const key of keysOf(parseMediaType(one.name))) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [one])
      else group.push(one)
    }
  }
  return groups
}

const ANY_TYPE = '*'

function keysOf({ type, subtype, suffix }: Name): readonly string[] {
  if (type === '*') return [ANY_TYPE]
  const own = [`${type}/`, subtype === '*' ? `${type}/*` : `${type}/${subtype}+${suffix}`]
  return suffix === '' ? own : [...own, `${type}/+${suffix}`]
}

function wantedKeys({ type, subtype, suffix }: Name): readonly string[] {
  if (subtype === '*') return [ANY_TYPE, `${type}/`]
  const ofSuffix = suffix === '' ? `${type}/+${subtype}` : `${type}/${suffix}+`
  return [ANY_TYPE, `${type}/*`, `${type}/${subtype}+${suffix}`, ofSuffix]
}

function essenceOf(name: string): string {
  return (name.split(';')[0] ?? '').trim().toLowerCase()
}
