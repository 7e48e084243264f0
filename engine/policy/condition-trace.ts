/**
 * A condition as a person follows it: its parts with their results, the values that they read, and what would change the answer.
 * Parts are split at `&&` and `||` outside brackets and texts. Only explanations use this; decisions are made from the whole.
 */
import { compileCondition, type ConditionFacts, type OccasionFacts } from './condition.ts'

type TracedFacts = ConditionFacts | OccasionFacts

/** `true`, `false`, or why it cannot be said. */
type PartAnswer = boolean | { readonly failed: string }

export interface ConditionPart {
  /** As it is written. */
  readonly text: string
  readonly answer: PartAnswer
  /** How its own parts are joined; `one`: it has none. */
  readonly kind: 'one' | 'all' | 'any'
  readonly parts: readonly ConditionPart[]
  /** What a part without parts reads: `finding.level` and `"breaking"`. */
  readonly reads: readonly { readonly name: string; readonly value: string }[]
}

/** Deeper parts stay whole. */
const MOST_LEVELS = 4

/**
 * @param source the condition, CEL
 * @param facts what it is asked about
 * @param level number of parts around it
 * @returns the condition with the answers of its parts; it never throws
 */
export function traceCondition(source: string, facts: TracedFacts, level = 0): ConditionPart {
  const text = withoutBrackets(source.trim())
  const answer = answerOfPart(text, facts)
  const skeleton = skeletonOf(text)
  for (const [operator, kind] of [
    ['||', 'any'],
    ['&&', 'all'],
  ] as const) {
    const pieces = skeleton.includes('?') || level >= MOST_LEVELS ? [text] : splitAt(text, skeleton, operator)
    if (pieces.length > 1) {
      const parts = pieces.map((piece) => traceCondition(piece, facts, level + 1))
      return { text, answer, kind, parts, reads: [] }
    }
  }
  return { text, answer, kind: 'one', parts: [], reads: readsIn(text, facts) }
}

function answerOfPart(text: string, facts: TracedFacts): PartAnswer {
  const condition = compileCondition(text)
  if (!condition.ok) return { failed: condition.problem }
  const answer = condition.value.test(facts)
  return answer.ok ? answer.value : { failed: answer.problem }
}

/** The same length, with everything within brackets and texts blanked out. */
function skeletonOf(text: string): string {
  let depth = 0
  let skeleton = ''
  for (let at = 0; at < text.length; at += 1) {
    const end = textEnd(text, at)
    if (end > at) {
      skeleton += ' '.repeat(end - at)
      at = end - 1
      continue
    }
    const char = text.charAt(at)
    if ('([{'.includes(char)) depth += 1
    skeleton += depth > 0 ? ' ' : char
    if (')]}'.includes(char)) depth -= 1
  }
  return skeleton
}

/** Where the text that begins here ends; the same place: none begins. */
function textEnd(source: string, at: number): number {
  const quote = source.charAt(at)
  if (quote !== '"' && quote !== "'") return at
  const mark = source.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote
  const isRaw = /[rR][bB]?$|[bB]?[rR]$/.test(source.slice(Math.max(0, at - 2), at))
  for (let end = at + mark.length; end < source.length; end += 1) {
    if (!isRaw && source.charAt(end) === '\\') end += 1
    else if (source.startsWith(mark, end)) return end + mark.length
  }
  return source.length
}

/** Brackets around the whole are left out. */
function withoutBrackets(text: string): string {
  const isWrapped = text.startsWith('(') && skeletonOf(text).trim() === ''
  return isWrapped ? withoutBrackets(text.slice(1, -1).trim()) : text
}

function splitAt(text: string, skeleton: string, operator: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = skeleton.indexOf(operator); at >= 0; at = skeleton.indexOf(operator, at + operator.length)) {
    pieces.push(text.slice(from, at).trim())
    from = at + operator.length
  }
  return [...pieces, text.slice(from).trim()]
}

const READS = /(?<![\w.])(?:(finding|context|operation|change_set|time|history)\.(\w+)|(route|tool)(?![\w(]))/g

function readsIn(text: string, facts: TracedFacts): ConditionPart['reads'] {
  const names = new Map<string, unknown>()
  for (const [whole, variable, member] of textsBlanked(text).matchAll(READS)) {
    const holder: unknown = variable === undefined ? facts : ownValue(facts, variable)
    names.set(whole, ownValue(holder, variable === undefined ? whole : (member ?? '')))
  }
  return [...names].map(([name, value]) => ({ name, value: shownValue(value) }))
}

function textsBlanked(text: string): string {
  let blanked = ''
  for (let at = 0; at < text.length; at += 1) {
    const end = textEnd(text, at)
    blanked += end > at ? ' '.repeat(end - at) : text.charAt(at)
    if (end > at) at = end - 1
  }
  return blanked
}

function ownValue(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return null
  return Object.entries(holder).find(([key]) => key === name)?.[1]
}

function shownValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  return JSON.stringify(value) ?? 'null'
}

/** Alternatives are not listed beyond these. */
const MOST_WAYS = 5

/**
 * What would turn the answer: each entry is one way, and names the parts whose answers would all have to be the other one. Empty: a
 * part failed, so nothing can be said.
 */
export function waysToTurn(part: ConditionPart): readonly (readonly ConditionPart[])[] {
  const { answer, kind, parts, reads } = part
  if (typeof answer !== 'boolean') return []
  // What reads nothing has the same answer always.
  if (kind === 'one') return reads.length === 0 ? [] : [[part]]
  const turning = parts.filter((inner) => inner.answer === answer).map(waysToTurn)
  // One part decides over `all` that hold, and over `any` that do not; else every such part has to turn.
  const isOneEnough = (kind === 'all') === answer
  if (isOneEnough) return turning.flat().slice(0, MOST_WAYS)
  const isPossible = turning.length > 0 && turning.every((ways) => ways.length > 0)
  return isPossible ? [turning.flatMap(([first = []]) => first)] : []
}
