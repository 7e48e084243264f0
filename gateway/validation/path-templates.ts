/** Path templates of OpenAPI, segment by segment: names, the texts around them, and what stands for them in a path. */
import { fold } from '../routing/path-reading.ts'

/** A part of a template between two slashes. */
export type TemplatePart =
  | { readonly kind: 'literal'; readonly text: string }
  /** `{id}` */
  | { readonly kind: 'parameter' }
  /** As the last part, in the forms of gateways and frameworks: one segment or more. */
  | { readonly kind: 'rest' }
  /** `{id}.json`, `{year}-{month}`: what stands around its names, folded. */
  | { readonly kind: 'mixed'; readonly literals: readonly string[] }

const NAME = /^\{[^{}]*\}$/

/** `{path+}`, `{path*}`, `{*path}`, `{path:path}`, `{path:.*}` */
export function isRest(segment: string): boolean {
  if (!NAME.test(segment)) return false
  const inner = segment.slice(1, -1)
  const colon = inner.indexOf(':')
  const form = colon < 1 ? '' : inner.slice(colon + 1)
  return inner.startsWith('*') || /[+*]$/.test(inner) || form === 'path' || /[+*]/.test(form)
}

/** Without what some contracts write behind it: routers choose by the path alone (`/users?action=delete`, `/users#batch`, `/users{?page}`). */
export function templateOf(path: string): string {
  return path.replace(/\{?[?#].*$/s, '')
}

export function templatePart(segment: string): TemplatePart {
  if (!segment.includes('{')) return { kind: 'literal', text: segment }
  return NAME.test(segment) ? { kind: 'parameter' } : { kind: 'mixed', literals: literalsOf(segment).map(fold) }
}

/** What stands before, between and behind the names of a segment of a template: one text more than there are names. */
export function literalsOf(segment: string): readonly string[] {
  return segment.split(/\{[^{}]*\}/)
}

/**
 * The texts that stand for the names between literals, each as long as it can be, the first one first. Null: it has another form.
 * An expression with several names takes a time that grows with a power of the length of the text.
 */
export function valuesBetween(literals: readonly string[], text: string): readonly string[] | null {
  const [first = '', ...others] = literals
  const last = others.pop()
  if (last === undefined) return text === first ? [] : null
  if (!text.startsWith(first) || !text.endsWith(last)) return null
  const values: string[] = []
  let end = text.length - last.length
  for (const literal of others.toReversed()) {
    const at = text.lastIndexOf(literal, end - 1 - literal.length)
    const start = at + literal.length
    if (at === -1 || start >= end) return null
    values.unshift(text.slice(start, end))
    end = at
  }
  return first.length < end ? [text.slice(first.length, end), ...values] : null
}
