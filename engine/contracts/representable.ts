/** Values that a parser yields and canonical JSON has no form for: they are refused on reading, with the place. */
import type { Problem } from '../result.ts'
import { composePointer } from './pointer.ts'
import { unreadable } from './unreadable.ts'

/** Whether strings of a document may hold half a surrogate pair: raw, or made by an escape. */
export function mayHoldLoneSurrogates(text: string): boolean {
  return !text.isWellFormed() || /\\(?:u|U0000)[dD][89a-fA-F]/.test(text)
}

/**
 * The first number or text without a form in RFC 8785 (§3.2.2.2, §3.2.2.3), null when there is none. `root` is a tree or
 * an acyclic graph of bounded depth; `isShared` says that it may be a graph, whose parts are then entered once.
 */
export function findUnrepresentable(root: unknown, checkTexts: boolean, isShared: boolean): Problem | null {
  const entered = isShared ? new Set<object>() : null
  let fault: Fault | null = null

  /** Tokens below `value` that lead to the fault, last first; null when it is free of faults. */
  function find(value: unknown): string[] | null {
    if (typeof value !== 'object' || value === null) {
      fault = faultOf(value, checkTexts)
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
  return tokens === null || fault === null ? null : describe(fault, tokens.reverse())
}

interface Fault {
  readonly what: string
  readonly fix: string
}

const NUMBER_FIX = 'Write a finite number, or quote it if it is meant as text.'
const NOT_A_NUMBER: Fault = { what: 'a number is NaN', fix: NUMBER_FIX }
const INFINITE: Fault = { what: 'a number is infinite, or too large for a double', fix: NUMBER_FIX }
const HALF_PAIR: Fault = { what: 'a text holds half of a surrogate pair', fix: 'Write the whole character.' }

function faultOf(value: unknown, checkTexts: boolean): Fault | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? NOT_A_NUMBER : INFINITE
  return checkTexts && typeof value === 'string' && !value.isWellFormed() ? HALF_PAIR : null
}

function describe(fault: Fault, tokens: readonly string[]): Problem {
  return unreadable(fault.what, { pointer: composePointer(tokens).toWellFormed(), fix: fault.fix })
}
