/**
 * Patterns as regular languages: membership, emptiness and an example. A pattern outside of the regular languages
 * (lookaround, references to groups), or with an automaton above the bounds, has no language here.
 */
import { combineTransformers, DFA, ENFA, JS, NFA, transform, Transformers, CharSet, Words } from 'refa'
import type { Concatenation, Element, Expression, NoParent } from 'refa'

const MAX_AST = 2000
const MAX_NFA = 1500
const MAX_DFA = 1500
const MAX_CHARACTER = 0x10ffff

/** Two code points without a character stand for the start and the end of the text while a pattern is read. */
const START = CharSet.fromRange(MAX_CHARACTER, { min: 0x10fffe, max: 0x10fffe })
const END = CharSet.fromRange(MAX_CHARACTER, { min: 0x10ffff, max: 0x10ffff })
const TEXT = START.union(END).negate()

export type Language = DFA

/** By how they are made. */
const known = new Map<string, Language | null>()
/**
 * States of the languages that are kept: of a hostile contract's patterns not all are. Objects with more patterns than are
 * kept would make each of them again for each name, so a bound of their number is too low for small ones.
 */
const MAX_STATES = 50_000
let keptStates = 0

/** A language that is made once; null where the library throws: at a bound, or for a pattern without a regular language. */
function made(key: string, make: () => Language | null): Language | null {
  let language = known.get(key)
  if (language !== undefined) return language
  try {
    language = make()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    language = null
  }
  const size = language === null ? 1 : countStates(language)
  if (keptStates + size > MAX_STATES) {
    known.clear()
    keptStates = 0
  }
  keptStates += size
  known.set(key, language)
  return language
}

function countStates(language: Language): number {
  let count = 0
  for (const _ of language.nodes()) count += 1
  return count
}

const names = new WeakMap<Language, number>()
let named = 0

/** A text by which a language is known as a part of others. */
function languageName(language: Language): string {
  const name = names.get(language) ?? (named += 1)
  names.set(language, name)
  return String(name)
}

/** The texts in which a pattern finds a match; null where that is not known. */
export function languageOf(pattern: string): Language | null {
  return made(`pattern ${pattern}`, () => readPattern(pattern))
}

/** Texts with a number of characters within bounds; null where there are too many. */
export function lengthsBetween(min: number, max: number | null): Language | null {
  const [most, least] = [max ?? min, min]
  if (most > MAX_LENGTH || least > MAX_LENGTH) return null
  return made(`lengths ${min} ${max}`, () => minimal(automatonOf([repeated(TEXT, least, max ?? Infinity)])))
}

const MAX_LENGTH = 300

/**
 * Whether a language has texts with a number of characters within bounds, and whether all of its texts are such. Null: that
 * takes more than `mostStates` states of the product with these lengths.
 */
export function lengthsWithin(
  language: Language,
  min: number,
  max: number,
  mostStates: number,
): { readonly isAny: boolean; readonly isEvery: boolean } | null {
  const isFinal = (state: DFA.Node): boolean => language.finals.has(state)
  let states = new Set<DFA.Node>([language.initial])
  let [isAny, isShorter, seen] = [false, false, 0]
  const most = Math.min(max, min + MAX_DFA)
  for (let length = 0; length <= most && states.size > 0; length += 1) {
    seen += states.size
    if (seen > mostStates) return null
    const isMet = [...states].some(isFinal)
    if (length < min) isShorter ||= isMet
    else isAny ||= isMet
    if (isAny && (max === Infinity || isShorter)) return { isAny, isEvery: !isShorter }
    states = new Set([...states].flatMap((state) => [...state.out.values()]))
  }
  // Of a language without unreachable ends, what is left leads to longer texts.
  return { isAny, isEvery: isAny && !isShorter && states.size === 0 }
}

export function both(a: Language, b: Language): Language | null {
  return made(`both ${languageName(a)} ${languageName(b)}`, () => {
    const result = DFA.fromIntersection(a, b, new DFA.LimitedNodeFactory(MAX_DFA))
    result.minimize()
    return result
  })
}

export function complement(language: Language): Language | null {
  return made(`not ${languageName(language)}`, () => {
    const result = language.copy(new DFA.LimitedNodeFactory(MAX_DFA))
    result.complement(new DFA.LimitedNodeFactory(MAX_DFA))
    result.removeUnreachable()
    // The two code points are no text.
    return both(result, texts())
  })
}

/** The language without a few listed texts; null where they are too large together. */
export function withoutTexts(language: Language, excluded: readonly string[]): Language | null {
  return made(`without ${languageName(language)} ${JSON.stringify(excluded)}`, () => {
    const words = excluded.map((text) => Words.fromStringToUnicode(text))
    const listed = NFA.fromWords(words, { maxCharacter: MAX_CHARACTER }, factory())
    const others = complement(minimal(listed))
    return others === null ? null : both(language, others)
  })
}

function texts(): Language {
  const language = languageOf('')
  if (language === null) throw new Error('the language of all texts is known')
  return language
}

export function isMember(language: Language, text: string): boolean {
  return language.test(Words.fromStringToUnicode(text))
}

/** The first texts of a language in the order of their length. Plain characters are preferred. */
export function* firstTexts(language: Language, most: number): Generator<string> {
  let count = 0
  for (const sets of language.wordSets()) {
    if (count >= most) return
    count += 1
    yield String.fromCodePoint(...sets.map(plainest))
  }
}

const PREFERRED: readonly (readonly [number, number])[] = [
  [0x61, 0x7a],
  [0x41, 0x5a],
  [0x30, 0x39],
  [0x21, 0x7e],
]

function plainest(set: CharSet): number {
  for (const [min, max] of PREFERRED) {
    const [range] = set.intersect({ min, max }).ranges
    if (range !== undefined) return range.min
  }
  return set.ranges[0]?.min ?? 0x20
}

function readPattern(pattern: string): Language {
  const parser = JS.Parser.fromLiteral({ source: pattern, flags: 'u' })
  const { expression } = parser.parse({ maxNodes: MAX_AST, backreferences: 'throw', assertions: 'parse' })
  const simple = transform(
    combineTransformers([Transformers.removeUnnecessaryAssertions(), Transformers.inline()]),
    expression,
  )
  const elements = unmarkedElements(simple)
  return minimal(elements === null ? markedAutomaton(simple) : automatonOf(elements))
}

/**
 * The elements that match the whole text. Only for a pattern of one alternative whose `^` is at its start and whose `$`
 * is at its end, if it has them. Most patterns are such and need no marks. Null for all others.
 */
function unmarkedElements({ alternatives }: NoParent<Expression>): readonly NoParent<Element>[] | null {
  const [only, more] = alternatives
  if (only === undefined || more !== undefined) return null
  const elements = [...only.elements]
  const [first, last] = [elements[0], elements.at(-1)]
  const isStart = first !== undefined && edgeOf(first) === 'start'
  const isEnd = last !== undefined && edgeOf(last) === 'end'
  const inner = elements.slice(isStart ? 1 : 0, isEnd ? -1 : undefined)
  if (inner.some(holdsAssertion)) return null
  return [...(isStart ? [] : [many(TEXT)]), ...inner.map(markedElement), ...(isEnd ? [] : [many(TEXT)])]
}

function holdsAssertion(element: NoParent<Element>): boolean {
  if (element.type === 'Assertion') return true
  return 'alternatives' in element && element.alternatives.some(({ elements }) => elements.some(holdsAssertion))
}

/** Reads `^` and `$` as characters of their own, in texts that have them at their edges only, and takes them away. */
function markedAutomaton(simple: NoParent<Expression>): NFA {
  if (isEndBeforeStart(simple)) throw new Error('an end of the text before its start')
  const core = withMarks(simple)
  const found = automatonOf([
    many(TEXT.union(START)),
    { type: 'Alternation', alternatives: core },
    many(TEXT.union(END)),
  ])
  const plain = automatonOf([many(START), many(TEXT), many(END)])
  return withoutMarks(NFA.fromIntersection(found, plain, factory()))
}

function automatonOf(elements: readonly NoParent<Element>[]): NFA {
  const concatenation: NoParent<Concatenation> = { type: 'Concatenation', elements: [...elements] }
  return NFA.fromRegex(concatenation, { maxCharacter: MAX_CHARACTER }, { assertions: 'throw' }, factory())
}

function minimal(automaton: NFA): Language {
  const language = DFA.fromFA(automaton, new DFA.LimitedNodeFactory(MAX_DFA))
  language.minimize()
  return language
}

function factory(): NFA.LimitedNodeFactory {
  return new NFA.LimitedNodeFactory(MAX_NFA)
}

function many(characters: CharSet): NoParent<Element> {
  return repeated(characters, 0, Infinity)
}

function repeated(characters: CharSet, min: number, max: number): NoParent<Element> {
  const alternatives: NoParent<Concatenation>[] = [
    { type: 'Concatenation', elements: [{ type: 'CharacterClass', characters }] },
  ]
  return { type: 'Quantifier', min, max, lazy: false, alternatives }
}

/** `^` and `$` as the two code points; no other character is one of them. */
function withMarks({ alternatives }: NoParent<Expression>): NoParent<Concatenation>[] {
  return alternatives.map(markedConcatenation)
}

function markedConcatenation({ elements }: NoParent<Concatenation>): NoParent<Concatenation> {
  return { type: 'Concatenation', elements: elements.map(markedElement) }
}

function markedElement(element: NoParent<Element>): NoParent<Element> {
  if (element.type === 'CharacterClass') {
    return { type: 'CharacterClass', characters: element.characters.intersect(TEXT) }
  }
  if (element.type === 'Alternation' || element.type === 'Quantifier') {
    return { ...element, alternatives: element.alternatives.map(markedConcatenation) }
  }
  if (element.type === 'Assertion') {
    const edge = edgeOf(element)
    if (edge === null) throw new Error('an assertion inside of the text')
    return { type: 'CharacterClass', characters: edge === 'start' ? START : END }
  }
  throw new Error(`no regular language: ${element.type}`)
}

/** `^` is no character before, `$` no character after. */
function edgeOf(element: NoParent<Element>): 'start' | 'end' | null {
  if (element.type !== 'Assertion' || !element.negate || element.alternatives.length !== 1) return null
  const [only, more] = element.alternatives[0]?.elements ?? []
  if (more !== undefined || only?.type !== 'CharacterClass' || !only.characters.isAll) return null
  return element.kind === 'behind' ? 'start' : 'end'
}

/** `$` before `^` in one sequence matches the empty text only; the marks cannot show that. */
function isEndBeforeStart({ alternatives }: { readonly alternatives: readonly NoParent<Concatenation>[] }): boolean {
  return alternatives.some(({ elements }) => {
    const ends = elements.findIndex((element) => holdsEdge(element, 'end'))
    const starts = elements.findLastIndex((element) => holdsEdge(element, 'start'))
    const isCrossed = ends !== -1 && (starts > ends || (starts === ends && elements[ends]?.type === 'Quantifier'))
    return isCrossed || elements.some((element) => 'alternatives' in element && isEndBeforeStart(element))
  })
}

function holdsEdge(element: NoParent<Element>, edge: 'start' | 'end'): boolean {
  if (edgeOf(element) === edge) return true
  if (!('alternatives' in element)) return false
  return element.alternatives.some(({ elements }) => elements.some((one) => holdsEdge(one, edge)))
}

/** A step over a mark reads nothing. */
function withoutMarks(marked: NFA): NFA {
  const automaton = ENFA.fromFA(marked, new ENFA.LimitedNodeFactory(MAX_NFA * 2))
  for (const node of automaton.nodes()) {
    for (const [next, characters] of node.out) {
      if (characters === null || !characters.isDisjointWith(TEXT)) continue
      node.out.set(next, null)
      next.in.set(node, null)
    }
  }
  return NFA.fromFA(automaton, new NFA.LimitedNodeFactory(MAX_NFA * 2))
}
