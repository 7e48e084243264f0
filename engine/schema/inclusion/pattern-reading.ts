/**
 * Reads a pattern as a regular language. It throws for a pattern without one (references to groups), with lookaround that is
 * not at the edges of the text, or above the bounds.
 */
import { combineTransformers, ENFA, JS, NFA, transform, Transformers } from 'refa'
import type { Concatenation, Element, Expression, NoParent } from 'refa'
import {
  automatonOf,
  complementOf,
  END,
  factory,
  intersection,
  many,
  MAX_NFA,
  minimal,
  START,
  TEXT,
  type Language,
} from './automata.ts'

const MAX_AST = 2000
/** Lookarounds of a pattern, and alternatives with one: each takes automata of its own. */
const MAX_LOOKAROUNDS = 16

/** The texts in which a pattern finds a match. */
export function readPattern(pattern: string): Language {
  const parser = JS.Parser.fromLiteral({ source: pattern, flags: 'u' })
  const { expression } = parser.parse({ maxNodes: MAX_AST, backreferences: 'throw', assertions: 'parse' })
  if (countLookarounds(expression) > MAX_LOOKAROUNDS) throw new Error('many assertions')
  return languageOfExpression(expression)
}

function languageOfExpression(expression: NoParent<Expression>): Language {
  const simple = transform(Transformers.inline(), expression)
  const guarded = guardedPattern(simple)
  if (guarded !== null) return guardedLanguage(guarded)
  if (countLookarounds(simple) === 0) return anchoredLanguage(simple)
  const { length } = simple.alternatives
  if (length < 2 || length > MAX_LOOKAROUNDS) throw new Error('an assertion inside of the text')
  return simple.alternatives.map((one) => languageOfExpression(alone(one))).reduce(either)
}

/** The language of an expression that looks around at the edges of the text only. The library removes other assertions wrongly. */
function anchoredLanguage(expression: NoParent<Expression>): Language {
  const simple = transform(
    combineTransformers([Transformers.removeUnnecessaryAssertions(), Transformers.inline()]),
    expression,
  )
  const elements = unmarkedElements(simple)
  return minimal(elements === null ? markedAutomaton(simple) : automatonOf(elements))
}

/** A pattern without the lookaround at the edges of the text, and each of these as a pattern of its own. */
interface GuardedPattern {
  readonly rest: NoParent<Expression>
  readonly guards: readonly { readonly pattern: NoParent<Expression>; readonly isNegated: boolean }[]
}

type PatternPart = NoParent<Element>
type Lookaround = Extract<PatternPart, { type: 'Assertion' }>

/** What looks ahead from `^`, or behind from `$`, is a condition on the whole text beside the rest. Null if there is none. */
function guardedPattern({ alternatives }: NoParent<Expression>): GuardedPattern | null {
  const [only, more] = alternatives
  if (only === undefined || more !== undefined) return null
  const elements = [...only.elements]
  const [start, end] = [elements[0], elements.at(-1)]
  const guards: GuardedPattern['guards'][number][] = []
  const guard = (
    { alternatives, negate }: Lookaround,
    add: (elements: readonly PatternPart[]) => PatternPart[],
  ): void => {
    const whole = alternatives.map((one) => concatenation(add(one.elements)))
    guards.push({ pattern: { type: 'Expression', alternatives: whole }, isNegated: negate })
  }
  if (start !== undefined && edgeOf(start) === 'start') {
    for (let next = elements[1]; isLookaround(next, 'ahead'); next = elements[1]) {
      guard(next, (ahead) => [start, ...ahead])
      elements.splice(1, 1)
    }
  }
  if (end !== undefined && edgeOf(end) === 'end') {
    for (let next = elements.at(-2); isLookaround(next, 'behind'); next = elements.at(-2)) {
      guard(next, (behind) => [...behind, end])
      elements.splice(-2, 1)
    }
  }
  return guards.length === 0 ? null : { rest: alone(concatenation(elements)), guards }
}

function concatenation(elements: PatternPart[]): NoParent<Concatenation> {
  return { type: 'Concatenation', elements }
}

function guardedLanguage({ rest, guards }: GuardedPattern): Language {
  return guards.reduce((language, { pattern, isNegated }) => {
    const guard = languageOfExpression(pattern)
    return intersection(language, isNegated ? complementOf(guard) : guard)
  }, languageOfExpression(rest))
}

/** The texts of one language or the other. */
function either(a: Language, b: Language): Language {
  return complementOf(intersection(complementOf(a), complementOf(b)))
}

function alone(only: NoParent<Concatenation>): NoParent<Expression> {
  return { type: 'Expression', alternatives: [only] }
}

function isLookaround(element: NoParent<Element> | undefined, kind: Lookaround['kind']): element is Lookaround {
  return element?.type === 'Assertion' && element.kind === kind && edgeOf(element) === null
}

/** How often an expression looks around, but for `^` and `$`. */
function countLookarounds({ alternatives }: { readonly alternatives: readonly NoParent<Concatenation>[] }): number {
  const counts = alternatives.flatMap(({ elements }) =>
    elements.map((one): number => {
      const own = one.type === 'Assertion' && edgeOf(one) === null ? 1 : 0
      return own + ('alternatives' in one ? countLookarounds(one) : 0)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
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
