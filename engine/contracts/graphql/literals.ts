/** Writes SDL values in canonical form: spacing, block strings and the order of object fields have no meaning. */
import type { ConstValueNode } from 'graphql/language'
import { byCodeUnit } from '../../common/code-unit-order.ts'

/** The canonical literal of a value. The reader bounds its nesting (nesting.ts). */
export function literalOf(node: ConstValueNode): string {
  if (node.kind === 'StringValue') return JSON.stringify(node.value)
  if (node.kind === 'ListValue') return `[${node.values.map(literalOf).join(', ')}]`
  if (node.kind === 'ObjectValue') {
    const fields = node.fields.map(({ name, value }) => `${name.value}: ${literalOf(value)}`)
    return `{${fields.sort(byCodeUnit).join(', ')}}`
  }
  if (node.kind === 'NullValue') return 'null'
  // Integers keep their digits, because a custom scalar may exceed a double.
  if (node.kind === 'FloatValue') return Number.isFinite(Number(node.value)) ? String(Number(node.value)) : node.value
  return String(node.value)
}
