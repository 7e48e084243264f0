/** The texts of integers as patterns: what they are in general, and within bounds. */
import type { Bound } from './model.ts'

/** Digits as they are written by callers and read by every parser: no leading zero, no fraction, no exponent. */
export const INTEGER_TEXT = '^(0|-?[1-9][0-9]*)$'

/** The pattern of integers within a bound; null for one that is not a safe integer. */
export function patternWithin({ end, limit, isExclusive }: Bound): string | null {
  const first = end === 'min' ? Math.ceil(limit) : Math.floor(limit)
  const whole = first === limit && isExclusive ? first + (end === 'min' ? 1 : -1) : first
  if (!Number.isSafeInteger(whole)) return null
  if (end === 'min') return whole > 0 ? `^(${atLeast(whole)})$` : `^([0-9]+|-(${atMost(-whole)}))$`
  return whole < 0 ? `^-(${atLeast(-whole)})$` : `^(${atMost(whole)}|-[0-9]+)$`
}

/** Natural numbers from one on, without leading zeros. */
function atLeast(least: number): string {
  const digits = String(least)
  return [`[1-9][0-9]{${digits.length},}`, ...ofSameLength(digits, (digit) => [digit + 1, 9]), digits].join('|')
}

function atMost(most: number): string {
  const digits = String(most)
  const shorter = digits.length === 1 ? [] : ['0', `[1-9][0-9]{0,${digits.length - 2}}`]
  const isFirst = (index: number): boolean => index === 0 && digits.length > 1
  return [...shorter, ...ofSameLength(digits, (digit, index) => [isFirst(index) ? 1 : 0, digit - 1]), digits].join('|')
}

/** Numbers that first differ from another one at each of its digits. */
function ofSameLength(
  digits: string,
  others: (digit: number, index: number) => readonly [min: number, max: number],
): readonly string[] {
  return Array.from(digits).flatMap((digit, index) => {
    const [min, max] = others(Number(digit), index)
    if (min > max) return []
    return [`${digits.slice(0, index)}[${min}-${max}][0-9]{${digits.length - index - 1}}`]
  })
}
