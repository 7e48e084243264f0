/**
 * Merges parts of an operation or message with its traits. Both majors use JSON Merge Patch (RFC 7396) in the order of
 * the traits. In 2.x a trait overrides its owner, in 3.x it does not (AsyncAPI 3.0, Traits Merge Mechanism).
 */
import { isRecord, locatedItems, memberOf, recordOf, type Located, type Place } from '../../schema/located.ts'
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
  return parts.length === 0 ? null : new TraitMerge(documents).merged(parts)
}

/** One merge of all parts together. One part after the other would copy each time what is merged so far. */
class TraitMerge {
  readonly #documents: OpenApiDocuments
  readonly #ids = new Map<unknown, number>()
  /** By the parts. Null while they are being merged: references may lead back to where they stand. */
  readonly #results = new Map<string, Located | null>()

  constructor(documents: OpenApiDocuments) {
    this.#documents = documents
  }

  /** @param parts the strongest last. Each keeps its place. A part that is no object replaces all before it. */
  merged(parts: readonly Located[]): Located {
    const last = parts[parts.length - 1]
    if (last === undefined) throw new Error('no part to merge')
    const followed = parts.map((part) => this.#documents.follow(part))
    const objects = followed.slice(1 + followed.findLastIndex((part) => !isRecord(part?.value)))
    const different = objects.flatMap((part, index) =>
      part === null || part.value === objects[index + 1]?.value ? [] : [part],
    )
    const strongest = different.at(-1)
    if (strongest === undefined || different.length === 1) return last
    const key = different.map(({ value }) => this.#idOf(value)).join(' ')
    const known = this.#results.get(key)
    if (known !== undefined) return known ?? last
    this.#results.set(key, null)
    const result = this.#ofObjects(
      different.map((part) => inDocumentOf(part, strongest)),
      strongest,
    )
    this.#results.set(key, result)
    return result
  }

  #ofObjects(parts: readonly Located[], strongest: Located): Located {
    const held = new Map<string, Located[]>()
    for (const part of parts)
      for (const name of Object.keys(recordOf(part.value))) {
        const member = memberOf(part, name)
        if (member === null) continue
        const own = held.get(name)
        // RFC 7396: null removes the member.
        if (member.value === null) held.delete(name)
        else if (own === undefined) held.set(name, [member])
        else own.push(member)
      }
    const values = new Map<string, unknown>()
    const moved = new Map<string, Place>()
    for (const [name, members] of held) {
      const part = inDocumentOf(this.merged(members), strongest)
      values.set(name, part.value)
      moved.set(name, part.at)
    }
    return { value: Object.fromEntries(values), at: { ...strongest.at, moved }, document: strongest.document }
  }

  #idOf(value: unknown): number {
    const id = this.#ids.get(value) ?? this.#ids.size
    this.#ids.set(value, id)
    return id
  }
}

/** The part with its references as the document of the other one writes them, at the place of the other one. */
function inDocumentOf(part: Located, other: Located): Located {
  if (part.document === other.document) return part
  const value = rewriteReferences(part.value, movesBetween(part, other))
  return { value, at: other.at, document: other.document }
}
