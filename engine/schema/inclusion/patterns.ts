/**
 * Patterns as regular languages: membership, emptiness and an example. Some patterns have no language here: those with
 * references to groups, with lookaround within the text, or with an automaton above the bounds.
 */
import { NFA, Words, type CharSet, type DFA } from 'refa'
import {
  automatonOf,
  complementOf,
  factory,
  intersection,
  MAX_CHARACTER,
  MAX_DFA,
  minimal,
  repeated,
  TEXT,
  type Language,
} from './automata.ts'
import { readPattern } from './pattern-reading.ts'

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
  return made(`both ${languageName(a)} ${languageName(b)}`, () => intersection(a, b))
}

export function complement(language: Language): Language | null {
  return made(`not ${languageName(language)}`, () => complementOf(language))
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

export function isMember(language: Language, text: string): boolean {
  return language.test(Words.fromStringToUnicode(text))
}

/**
 * The first texts of a language in the order of their length. Plain characters are preferred. Only steps from which a text of
 * the length is still possible are taken: the library's own search takes all, which are exponentially many in the length.
 */
export function* firstTexts(language: Language, most: number): Generator<string> {
  const { initial, getOut } = language.transitionIterator()
  const steps = new Map<AutomatonState, ReadonlyMap<AutomatonState, CharSet>>()
  const stepsOf = (state: AutomatonState): ReadonlyMap<AutomatonState, CharSet> => {
    const found = steps.get(state) ?? getOut(state)
    steps.set(state, found)
    return found
  }
  const ends = new Set<AutomatonState>(language.finals)
  const states = new Set(language.nodes())
  let found = 0
  // The states from which a text may end after so many further characters.
  const ending: ReadonlySet<AutomatonState>[] = []
  // No two lengths of an infinite language lie further apart than it has states.
  for (let lastLength = 0, length = 0; found < most && length - lastLength <= states.size; length += 1) {
    const next = ending.at(-1)
    const now = [...states].filter((state) =>
      next === undefined ? ends.has(state) : [...stepsOf(state).keys()].some((to) => next.has(to)),
    )
    if (now.length === 0) return
    ending.push(new Set(now))
    if (ending[length]?.has(initial) !== true) continue
    lastLength = length
    for (const sets of wordsOf(initial, ending, stepsOf)) {
      yield String.fromCodePoint(...sets.map(plainest))
      found += 1
      if (found === most) return
    }
  }
}

type AutomatonState = DFA.ReadonlyNode

/** The words from a state that end after as many characters as `ending` has steps. */
function* wordsOf(
  initial: AutomatonState,
  ending: readonly ReadonlySet<AutomatonState>[],
  stepsOf: (state: AutomatonState) => ReadonlyMap<AutomatonState, CharSet>,
): Generator<readonly CharSet[]> {
  const length = ending.length - 1
  const word: CharSet[] = []
  const open = [stepsOf(initial).entries()]
  if (length === 0) {
    yield []
    return
  }
  while (open.length > 0) {
    const step = open.at(-1)?.next()
    if (step === undefined || step.done === true) {
      open.pop()
      word.pop()
      continue
    }
    const [to, characters] = step.value
    if (ending[length - open.length]?.has(to) !== true) continue
    word.push(characters)
    if (word.length < length) {
      open.push(stepsOf(to).entries())
      continue
    }
    yield word
    word.pop()
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
