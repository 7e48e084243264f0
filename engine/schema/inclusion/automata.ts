/** Automata of texts, within bounds: above these the library throws. */
import { CharSet, DFA, NFA } from 'refa'
import type { Concatenation, Element, NoParent } from 'refa'

export const MAX_NFA = 1500
export const MAX_DFA = 1500
export const MAX_CHARACTER = 0x10ffff

/** Two code points without a character stand for the start and the end of the text while a pattern is read. */
export const START = CharSet.fromRange(MAX_CHARACTER, { min: 0x10fffe, max: 0x10fffe })
export const END = CharSet.fromRange(MAX_CHARACTER, { min: 0x10ffff, max: 0x10ffff })
export const TEXT = START.union(END).negate()

export type Language = DFA

export function intersection(a: Language, b: Language): Language {
  const result = DFA.fromIntersection(a, b, new DFA.LimitedNodeFactory(MAX_DFA))
  result.minimize()
  return result
}

export function complementOf(language: Language): Language {
  const result = language.copy(new DFA.LimitedNodeFactory(MAX_DFA))
  result.complement(new DFA.LimitedNodeFactory(MAX_DFA))
  result.removeUnreachable()
  // The two code points are no text.
  return intersection(result, (texts ??= minimal(automatonOf([many(TEXT)]))))
}

let texts: Language | null = null

export function automatonOf(elements: readonly NoParent<Element>[]): NFA {
  const concatenation: NoParent<Concatenation> = { type: 'Concatenation', elements: [...elements] }
  return NFA.fromRegex(concatenation, { maxCharacter: MAX_CHARACTER }, { assertions: 'throw' }, factory())
}

export function minimal(automaton: NFA): Language {
  const language = DFA.fromFA(automaton, new DFA.LimitedNodeFactory(MAX_DFA))
  language.minimize()
  return language
}

export function factory(): NFA.LimitedNodeFactory {
  return new NFA.LimitedNodeFactory(MAX_NFA)
}

export function many(characters: CharSet): NoParent<Element> {
  return repeated(characters, 0, Infinity)
}

export function repeated(characters: CharSet, min: number, max: number): NoParent<Element> {
  const alternatives: NoParent<Concatenation>[] = [
    { type: 'Concatenation', elements: [{ type: 'CharacterClass', characters }] },
  ]
  return { type: 'Quantifier', min, max, lazy: false, alternatives }
}
