/** HTML as typed values: every text that a template receives is escaped, and only templates make markup. */
import { html as tagged } from 'hono/html'

/** A piece of HTML made by `html`. */
export interface Markup {
  readonly isEscaped: true
  toString(): string
}

export type Content = string | number | null | false | Markup | readonly Content[]

/**
 * A tagged template. Texts and numbers are escaped, null and false are left out, lists are joined. Attribute values must be in
 * double quotes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const made = tagged(strings, ...values)
  if (made instanceof Promise) throw new TypeError('a template received a promise')
  return made
}
