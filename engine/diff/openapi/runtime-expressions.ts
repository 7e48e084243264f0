/** Runtime expressions in the addresses of callbacks and in links (OpenAPI 3.1.1 §4.8.20.4). */
import { isRecord } from '../../schema/located.ts'

const HEADER = /\$(?:request|response)\.header\.[!#$%&'*+.^_`|~\w-]+/g

/** The form that equal expressions share: field names are case-insensitive (RFC 9110 §5.1). */
export function comparableExpression(text: string): string {
  return text.replaceAll(HEADER, (expression) => expression.toLowerCase())
}

/** A value with the expressions in it in that form. */
export function withComparableExpressions(value: unknown): unknown {
  if (typeof value === 'string') return comparableExpression(value)
  if (Array.isArray(value)) return value.map(withComparableExpressions)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withComparableExpressions(one)]))
}
