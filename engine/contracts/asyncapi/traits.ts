/**
 * Merges parts of an operation or message with its traits. Both majors use JSON Merge Patch (RFC 7396) in the order of
 * the traits. In 2.x a trait overrides its owner, in 3.x it does not (AsyncAPI 3.0, Traits Merge Mechanism).
 */
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import { isRecord, locatedItems, memberOf, recordOf, stepInto, type Located, type Place } from '../../schema/located.ts'
import type { OpenApiDocuments } from '../documents.ts'
import { movesBetween, rewriteReferences } from '../rewritten-references.ts'

export type TraitOrder = 'traits-override' | 'owner-overrides'

export function traitOrderOf(version: string): TraitOrder {
  return version.startsWith('2') ? 'traits-override' : 'owner-overrides'
}

/** A member of the owner merged with those of its traits. References are followed where there is something to merge. */
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
  if (first === null) return null
  const merge = new TraitMerge(documents)
  return others.reduce((under, over) => merge.merged(under, over), first)
}

/** One merge. References may lead back to where they stand. */
class TraitMerge {
  readonly #documents: OpenApiDocuments
  readonly #open = new Pairs<object, true>()

  constructor(documents: OpenApiDocuments) {
    this.#documents = documents
  }

  /** Each part keeps its place. Of two parts that are no objects, the stronger one wins. */
  merged(under: Located, over: Located): Located {
    const [lower, upper] = [this.#documents.follow(under), this.#documents.follow(over)]
    if (lower === null || upper === null || !isRecord(lower.value) || !isRecord(upper.value)) return over
    const [below, above] = [lower.value, upper.value]
    if (below === above || this.#open.get(below, above) === true) return over
    this.#open.set(below, above, true)
    return this.#ofObjects(inDocumentOf(lower, upper), upper)
  }

  #ofObjects(under: Located, over: Located): Located {
    const names = Object.keys(recordOf(under.value))
    const values = new Map<string, unknown>(Object.entries(recordOf(under.value)))
    const moved = new Map<string, Place>(names.map((name) => [name, stepInto(under.at, name)]))
    for (const name of Object.keys(recordOf(over.value))) {
      const [below, above] = [memberOf(under, name), memberOf(over, name)]
      if (above === null) continue
      const part = below === null ? above : inDocumentOf(this.merged(below, above), over)
      values.set(name, part.value)
      moved.set(name, part.at)
      // RFC 7396: null removes the member.
      if (part.value === null) values.delete(name)
    }
    return { value: Object.fromEntries(values), at: { ...over.at, moved }, document: over.document }
  }
}

/** The part with its references as the document of the other one writes them, at the place of the other one. */
function inDocumentOf(part: Located, other: Located): Located {
  if (part.document === other.document) return part
  const value = rewriteReferences(part.value, movesBetween(part, other))
  return { value, at: other.at, document: other.document }
}
