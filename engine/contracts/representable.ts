/** Values of a parser without a canonical JSON form. They are refused during reading, with their place. */
import type { Problem } from '../common/result.ts'
import { composePointer } from './pointer.ts'
import type { Locate } from './positions.ts'
import { unreadable } from './unreadable.ts'

/** Whether strings of a document may contain half a surrogate pair: raw, or by an escape. Only YAML has one with `U`. */
export function mayHoldLoneSurrogates(text: string, format: 'json' | 'yaml'): boolean {
  if (!text.isWellFormed() || (format === 'yaml' && text.includes('\\U'))) return true
  // A pattern over the whole text takes longer than a plain search, and most texts have few such escapes.
  for (let at = text.indexOf('\\u'); at >= 0; at = text.indexOf('\\u', at + 2))
    if (isLetterD(text.charCodeAt(at + 2)) && /[89a-fA-F]/.test(text.charAt(at + 3))) return true
  return false
}

function isLetterD(unit: number): boolean {
  return unit === 0x44 || unit === 0x64
}

interface PairSearch {
  /**
   * Whether the document can contain half pairs at all (`mayHoldLoneSurrogates`). Checking every string is expensive.
   */
  readonly checkTexts: boolean
  /** The value is an acyclic graph, not a tree: shared parts are visited once. */
  readonly isShared: boolean
  readonly locate: Locate
}

/** The first number or string without a form in RFC 8785 (§3.2.2.2, §3.2.2.3), or null. Depth is bounded. */
export function findUnrepresentable(root: unknown, { checkTexts, isShared, locate }: PairSearch): Problem | null {
  const entered = isShared ? new Set<object>() : null
  let fault: TextFault | null = null

  /** The path from `value` to the fault, last token first. Null if there is no fault. */
  function find(value: unknown): string[] | null {
    if (typeof value !== 'object' || value === null) {
      fault = unrepresentable(value, checkTexts)
      return fault === null ? null : []
    }
    if (entered?.has(value)) return null
    entered?.add(value)
    if (checkTexts && !Array.isArray(value)) {
      fault = Object.keys(value).some((key) => !key.isWellFormed()) ? HALF_PAIR : null
      if (fault !== null) return []
    }
    const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    for (let index = 0; index < children.length; index++) {
      const tokens = find(children[index])
      if (tokens !== null) return [...tokens, Object.keys(value)[index] ?? '']
    }
    return null
  }

  const tokens = find(root)
  return tokens === null || fault === null ? null : representationProblem(fault, tokens.reverse(), locate)
}

interface TextFault {
  readonly what: string
  readonly fix: string
}

const NUMBER_FIX = 'Write a finite number, or quote it if it is meant as text.'
const NOT_A_NUMBER: TextFault = { what: 'a number is NaN', fix: NUMBER_FIX }
const INFINITE: TextFault = { what: 'a number is infinite, or too large for a double', fix: NUMBER_FIX }
const HALF_PAIR: TextFault = { what: 'a text holds half of a surrogate pair', fix: 'Write the whole character.' }

function unrepresentable(value: unknown, checkTexts: boolean): TextFault | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? NOT_A_NUMBER : INFINITE
  return checkTexts && typeof value === 'string' && !value.isWellFormed() ? HALF_PAIR : null
}

function representationProblem({ what, fix }: TextFault, tokens: readonly string[], locate: Locate): Problem {
  const pointer = composePointer(tokens)
  return unreadable(what, { pointer: pointer.toWellFormed(), position: locate(pointer), fix })
}
