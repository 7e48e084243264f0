/** Writes SDL values in canonical form: spacing, block strings and the order of object fields have no meaning. */
import type { ConstValueNode } from 'graphql/language'
import { byCodeUnit } from '../../common/code-unit-order.ts'

/** The canonical literal of a value. The reader bounds its nesting (nesting.ts). */
export function literalOf(node: ConstValueNode): string {
  if (node.kind === 'StringValue') return JSON.stringify(node.value)
  if (node.kind === 'ListValue') return `[${node.values.map(literalOf).join(', ')}]`
  if (node.kind === 'ObjectValue') {
    return objectLiteral(node.fields.map(({ name, value }) => [name.value, literalOf(value)]))
  }
  if (node.kind === 'NullValue') return 'null'
  // Integers keep their digits, because a custom scalar may exceed a double.
  if (node.kind === 'FloatValue') return Number.isFinite(Number(node.value)) ? String(Number(node.value)) : node.value
  return String(node.value)
}

/** The literal of an object with these members, each a name and a literal. */
export function objectLiteral(members: readonly (readonly [name: string, literal: string])[]): string {
  const texts = members.map(([name, literal]) => `${name}: ${literal}`)
  return `{${texts.sort(byCodeUnit).join(', ')}}`
}
