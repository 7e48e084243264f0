/** Dynamic references of schemas in the form that every comparison follows. */
import { isRecord } from '../schema/located.ts'

/**
 * Dynamic references as the plain references that they are until another schema redefines them (JSON Schema 2020-12
 * §8.2.3.2): within one document that is what they mean.
 * @param text that the value was read from
 */
export function withPlainReferences(root: unknown, text: string): unknown {
  return DYNAMIC.test(text) ? rewritten(root) : root
}

/** Also where a keyword may be written with escapes. */
const DYNAMIC = /\$(?:dynamic|recursive)Ref|\\(?:u00|U0000|x)/

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten)
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const isDynamic = (name === '$dynamicRef' || name === '$recursiveRef') && typeof member === 'string'
    return isDynamic && !Object.hasOwn(value, '$ref') ? ['$ref', member] : [name, rewritten(member)]
  })
  return Object.fromEntries(members)
}
