/**
 * Schemas that select subtypes, among the alternatives of a choice. Alternatives may be written in another nesting: such a
 * schema is the same one wherever it stands among them, and its subtypes are compared.
 */
import { isChoice, selectsAny } from './discriminator.ts'
import type { SchemaSources } from './examination.ts'
import type { JsonRecord } from './located.ts'
import { COMPOSITIONS, itemsOf, locateItem } from './subschemas.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

/** A schema that selects subtypes, of one side and of the other one. */
type SelectorPair = readonly [before: ResolvedSchema, after: ResolvedSchema]

interface TwoSchemas {
  readonly before: ResolvedSchema
  readonly after: ResolvedSchema
}

export class SelectingAlternatives {
  readonly #before: SelectorsInPlace
  readonly #after: SelectorsInPlace

  constructor({ before, after }: SchemaSources) {
    this.#before = new SelectorsInPlace(before)
    this.#after = new SelectorsInPlace(after)
  }

  /**
   * The selecting schemas of two choices that belong together: by their reference, or where each side has one that the
   * other side lacks. Those are left out that one of the pairs below leads to, which are compared there.
   */
  unmet({ before, after }: TwoSchemas, below: () => readonly TwoSchemas[]): readonly SelectorPair[] {
    if (!isChoice(before.value) && !isChoice(after.value)) return []
    const base = this.#before.of(before)
    const head = base.length === 0 ? [] : this.#after.of(after)
    if (head.length === 0) return []
    const met = below().map((pair) => ({ base: this.#before.of(pair.before), head: this.#after.of(pair.after) }))
    return matched(base, head).filter(
      ([one, other]) => !met.some((pair) => has(pair.base, one) && has(pair.head, other)),
    )
  }
}

function matched(base: readonly ResolvedSchema[], head: readonly ResolvedSchema[]): readonly SelectorPair[] {
  const pairs = base.flatMap((one): readonly SelectorPair[] => {
    const partner = partnerIn(head, one)
    return partner === undefined ? [] : [[one, partner]]
  })
  const [gone, come] = [
    base.filter((one) => partnerIn(head, one) === undefined),
    head.filter((one) => partnerIn(base, one) === undefined),
  ]
  const [only, other] = [gone[0], come[0]]
  return only && other && gone.length === 1 && come.length === 1 ? [...pairs, [only, other]] : pairs
}

function partnerIn(list: readonly ResolvedSchema[], one: ResolvedSchema): ResolvedSchema | undefined {
  return list.find(({ reference }) => reference === one.reference)
}

function has(list: readonly ResolvedSchema[], { value }: ResolvedSchema): boolean {
  return list.some((one) => one.value === value)
}

/** Finds the selecting schemas in the place of a schema of one side. */
class SelectorsInPlace {
  readonly #source: SchemaSource
  /** Schemas that lead to none. */
  readonly #without = new Set<JsonRecord>()

  constructor(source: SchemaSource) {
    this.#source = source
  }

  of(schema: ResolvedSchema): readonly ResolvedSchema[] {
    if (this.#without.has(schema.value)) return []
    const [found, seen] = [new Map<JsonRecord, ResolvedSchema>(), new Set<JsonRecord>()]
    const open = [schema]
    // A schema that holds itself is entered once.
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (seen.has(one.value) || this.#without.has(one.value)) continue
      seen.add(one.value)
      if (selectsAny(one, this.#source)) {
        found.set(one.value, one)
        continue
      }
      for (const keyword of COMPOSITIONS) {
        const parts = itemsOf(one.value, keyword)
        for (const index of parts.keys()) open.push(resolveSchema(locateItem(one, parts, keyword, index), this.#source))
      }
    }
    if (found.size === 0) for (const value of seen) this.#without.add(value)
    return [...found.values()]
  }
}
