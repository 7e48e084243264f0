/** The patterns of an object's names, by the text that a name has to begin with: a name is tested against few of many. */
import { isMember, languageOf } from './patterns.ts'

/** With fewer patterns all of them are tested. */
const FEW = 8

export class PatternIndex {
  readonly #sources: readonly string[]
  readonly #byLead = new Map<string, number[]>()
  #longest = 0
  #isKnown: boolean | null = null

  constructor(sources: readonly string[]) {
    this.#sources = sources
    for (const [index, source] of sources.entries()) {
      const lead = sources.length < FEW ? '' : leadOf(source)
      const indices = this.#byLead.get(lead)
      if (indices === undefined) this.#byLead.set(lead, [index])
      else indices.push(index)
      this.#longest = Math.max(this.#longest, lead.length)
    }
  }

  /** Indices of the patterns that match, in order; null where the language of a pattern is not known. */
  matching(name: string): readonly number[] | null {
    this.#isKnown ??= this.#sources.every((source) => languageOf(source) !== null)
    if (!this.#isKnown) return null
    const near: number[] = []
    for (let length = 0; length <= Math.min(this.#longest, name.length); length += 1)
      for (const index of this.#byLead.get(name.slice(0, length)) ?? []) near.push(index)
    const found = near.filter((index) => {
      const language = languageOf(this.#sources[index] ?? '')
      return language !== null && isMember(language, name)
    })
    return found.sort((a, b) => a - b)
  }
}

/** The plain characters after `^`. With alternatives, or before a quantifier, a character may be absent. */
function leadOf(source: string): string {
  if (source.includes('|')) return ''
  const lead = /^\^([\w/-]*)/.exec(source)?.[1] ?? ''
  const next = source.charAt(lead.length + 1)
  return '*+?{'.includes(next) && next !== '' ? lead.slice(0, -1) : lead
}
