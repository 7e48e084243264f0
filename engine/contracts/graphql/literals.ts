/** Values as SDL writes them → one text for each value: spacing, block strings and the order of object fields mean nothing. */
import type { ConstValueNode } from 'graphql/language'
import { byCodeUnit } from '../../change-set.ts'

/** The canonical literal of a value. Nesting is bounded by reading (nesting.ts). */
export function literalOf(node: ConstValueNode): string {
  if (node.kind === 'StringValue') return JSON.stringify(node.value)
  if (node.kind === 'ListValue') return `[${node.values.map(literalOf).join(', ')}]`
  if (node.kind === 'ObjectValue') {
    const fields = node.fields.map(({ name, value }) => `${name.value}: ${literalOf(value)}`)
    return `{${fields.sort(byCodeUnit).join(', ')}}`
  }
  if (node.kind === 'NullValue') return 'null'
  // Integers keep their digits: those of a custom scalar may be more than a double holds.
  if (node.kind === 'FloatValue') return Number.isFinite(Number(node.value)) ? String(Number(node.value)) : node.value
  return String(node.value)
}
