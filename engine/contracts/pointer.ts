/**
 * JSON Pointers (RFC 6901) and local `$ref`s. A failed lookup is a value: a dangling or circular reference is reported
 * and never stops reading.
 */
import { appendPointer, nameOfToken } from '../common/json-pointer.ts'

/** Composes a pointer from unescaped tokens. */
export function composePointer(tokens: readonly (string | number)[]): string {
  return tokens.reduce<string>(appendPointer, '')
}

/** Unescaped tokens of a pointer; null when the text is no pointer. */
export function parsePointer(pointer: string): string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null
  return pointer.slice(1).split('/').map(nameOfToken)
}

type Lookup = { readonly found: true; readonly value: unknown } | { readonly found: false }

const NOT_FOUND: Lookup = { found: false }

/** The own member or item that a token names. Array indices have no leading zero (RFC 6901 §4). */
function childAt(value: unknown, token: string): Lookup {
  if (typeof value !== 'object' || value === null) return NOT_FOUND
  if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(token)) return NOT_FOUND
  if (!Object.hasOwn(value, token)) return NOT_FOUND
  const child: unknown = Reflect.get(value, token)
  return { found: true, value: child }
}

/** The value that a pointer names within `root`. */
export function resolvePointer(root: unknown, pointer: string): Lookup {
  const tokens = parsePointer(pointer)
  if (tokens === null) return NOT_FOUND
  let value = root
  for (const token of tokens) {
    const child = childAt(value, token)
    if (!child.found) return NOT_FOUND
    value = child.value
  }
  return { found: true, value }
}

/**
 * The target pointer of a local `$ref` (`#/components/schemas/Pet` → `/components/schemas/Pet`), percent-decoded (RFC
 * 6901 §6). Null if it names another document, an anchor, or cannot be read.
 */
export function localRefPointer(ref: string): string | null {
  if (ref === '#' || ref === '') return ''
  if (!ref.startsWith('#/')) return null
  try {
    return decodeURIComponent(ref.slice(1))
  } catch (error) {
    // A stray `%` is common in hand-written keys. The fragment is then used as written.
    if (error instanceof URIError) return ref.slice(1)
    throw error
  }
}

type Resolution =
  | { readonly kind: 'resolved'; readonly value: unknown; readonly pointer: string }
  | { readonly kind: 'dangling'; readonly ref: string }
  | { readonly kind: 'circular'; readonly ref: string }

/** Follows a `$ref` within `root`, through chains of `$ref`s, to the first value that is not a `$ref`. */
export function resolveRef(root: unknown, ref: string): Resolution {
  const visited = new Set<string>()
  let current = ref
  for (;;) {
    const pointer = localRefPointer(current)
    if (pointer === null) return { kind: 'dangling', ref: current }
    if (visited.has(pointer)) return { kind: 'circular', ref: current }
    visited.add(pointer)
    const target = resolvePointer(root, pointer)
    if (!target.found) return { kind: 'dangling', ref: current }
    const next = refOf(target.value)
    if (next === null) return { kind: 'resolved', value: target.value, pointer }
    current = next
  }
}

/** The `$ref` of a value that consists of a reference only, else null. */
function refOf(value: unknown): string | null {
  const ref = childAt(value, '$ref')
  return ref.found && typeof ref.value === 'string' && !Array.isArray(value) ? ref.value : null
}
