/** Names of media types: when two name the same, and when one is a special case of the other. */
import type { MediaType } from '../../contracts/openapi/payloads.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'

interface Name {
  readonly type: string
  readonly subtype: string
  /** Structured syntax of RFC 6838 §4.2.8: `json` of `problem+json`. */
  readonly suffix: string
  readonly parameters: string
}

function parse(name: string): Name {
  const [essence = '', ...parameters] = name.toLowerCase().split(';')
  const [type = '', full = ''] = essence.trim().split('/')
  const plus = full.lastIndexOf('+')
  return {
    type,
    subtype: plus === -1 ? full : full.slice(0, plus),
    suffix: plus === -1 ? '' : full.slice(plus + 1),
    parameters: parameters
      .map((parameter) => parameter.trim())
      .filter((parameter) => parameter !== '')
      .sort()
      .join(';'),
  }
}

export type Relation = 'same' | 'generalized' | 'specialized' | 'changed' | 'unrelated'

/** What became of a media type that was named `before` and is named `after`. */
export function relationOf(before: string, after: string): Relation {
  if (before === after) return 'same'
  const [old, now] = [parse(before), parse(after)]
  if (isWithin(old, now))
    return isWithin(now, old) ? (old.parameters === now.parameters ? 'same' : 'changed') : 'generalized'
  return isWithin(now, old) ? 'specialized' : 'unrelated'
}

/** `application/problem+json` is JSON; a range holds its members; a parameter makes a type more special. */
function isWithin(part: Name, whole: Name): boolean {
  if (whole.type === '*') return true
  if (part.type !== whole.type) return false
  if (whole.subtype === '*') return true
  const isSame = part.subtype === whole.subtype && part.suffix === whole.suffix
  const isSuffix = whole.suffix === '' && part.suffix === whole.subtype
  return (isSame || isSuffix) && (whole.parameters === '' || part.parameters !== '' || !isSame)
}

export function matchMediaTypes(before: readonly MediaType[], after: readonly MediaType[]): Matched<MediaType> {
  const exact = matchByKey(before, after, ({ name }) => name)
  const sameName = matchRest(exact, ({ name }) => essenceOf(name))
  const [old, now] = [sameName.removed[0], sameName.added[0]]
  // A single name that became a wider or narrower one is a change of that name.
  if (sameName.removed.length !== 1 || sameName.added.length !== 1 || !old || !now) return sameName
  if (relationOf(old.name, now.name) === 'unrelated') return sameName
  return { added: [], removed: [], kept: [...sameName.kept, [old, now]] }
}

function essenceOf(name: string): string {
  return (name.split(';')[0] ?? '').trim().toLowerCase()
}
