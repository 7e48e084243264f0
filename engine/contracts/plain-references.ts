/** Dynamic references of schemas in the form that every comparison follows. */
import { isRecord } from '../schema/located.ts'

/**
 * Replaces dynamic references by plain ones. Within one document they are equal unless another schema redefines the
 * anchor (JSON Schema 2020-12 §8.2.3.2).
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
  const dynamic: readonly string[] = KEYWORDS.filter((name) => typeof value[name] === 'string')
  const members = Object.entries(value)
    .filter(([name]) => !dynamic.includes(name))
    .map(([name, member]): [string, unknown] => [name, rewritten(member)])
  const plain = Object.fromEntries(members)
  const [first, ...others] = [...(Object.hasOwn(value, '$ref') ? ['$ref'] : []), ...dynamic].map((name) => value[name])
  if (dynamic.length === 0) return plain
  const { allOf } = plain
  // Each reference is a condition of its own.
  const more = others.length === 0 ? {} : { allOf: [...(Array.isArray(allOf) ? allOf : []), ...others.map(refTo)] }
  return { ...plain, $ref: first, ...more }
}

const KEYWORDS = ['$dynamicRef', '$recursiveRef'] as const

function refTo(target: unknown): object {
  return { $ref: target }
}
