/**
 * Merges parts of an operation or message with its traits. Both majors use JSON Merge Patch (RFC 7396) in the order of
 * the traits. In 2.x a trait overrides its owner, in 3.x it does not (AsyncAPI 3.0, Traits Merge Mechanism).
 */
import { isRecord, locatedItems, memberOf, stepInto, type Located, type Place } from '../../schema/located.ts'
import type { OpenApiDocuments } from '../documents.ts'

export type TraitOrder = 'traits-override' | 'owner-overrides'

export function traitOrderOf(version: string): TraitOrder {
  return version.startsWith('2') ? 'traits-override' : 'owner-overrides'
}

/**
 * A member of the owner merged with those of its traits. A reference at its top is followed if there is something to
 * merge.
 */
export function partWithTraits(
  owner: Located,
  member: string,
  order: TraitOrder,
  documents: OpenApiDocuments,
): Located | null {
  const traits = locatedItems(memberOf(owner, 'traits')).map((trait) => documents.follow(trait))
  const holders = order === 'traits-override' ? [owner, ...traits] : [...traits, owner]
  const parts = holders.flatMap((holder) => {
    const part = holder === null ? null : memberOf(holder, member)
    return part === null ? [] : [part]
  })
  const [first = null, ...others] = parts
  return others.reduce<Located | null>((under, over) => mergedAtTop(under, over, documents), first)
}

function mergedAtTop(under: Located | null, over: Located, documents: OpenApiDocuments): Located {
  const [lower, upper] = [under === null ? null : documents.follow(under), documents.follow(over)]
  return lower === null || upper === null ? over : mergedTrait(lower, upper)
}

/** Each part keeps its place. Nested references are not followed: of two, the stronger one wins. */
function mergedTrait(under: Located, over: Located): Located {
  const [lower, upper] = [under.value, over.value]
  if (!isRecord(lower) || !isRecord(upper) || under.document !== over.document) return over
  if (Object.hasOwn(lower, '$ref') || Object.hasOwn(upper, '$ref')) return over
  const values = new Map(Object.entries(lower))
  const moved = new Map<string, Place>(Object.keys(lower).map((name) => [name, stepInto(under.at, name)]))
  for (const name of Object.keys(upper)) {
    const [below, above] = [memberOf(under, name), memberOf(over, name)]
    if (above === null) continue
    const part = below === null ? above : mergedTrait(below, above)
    values.set(name, part.value)
    moved.set(name, part.at)
    // RFC 7396: null removes the member.
    if (part.value === null) values.delete(name)
  }
  return { value: Object.fromEntries(values), at: { ...over.at, moved }, document: over.document }
}
