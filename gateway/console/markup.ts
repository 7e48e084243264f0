/** HTML as typed values: every text that a template receives is escaped, and only templates make markup. */
import { html as tagged } from 'hono/html'
import { visibleText } from '../runtime/visible-text.ts'

/** A piece of HTML made by `html`. */
export interface Markup {
  readonly isEscaped: true
  toString(): string
}

export type Content = string | number | null | false | Markup | readonly Content[]

/**
 * A tagged template. Texts and numbers are escaped, null and false are left out, lists are joined. Attribute values must be in
 * double quotes. Characters of a text that mislead its reader are shown as `\u{…}`. Values that come back with a form stay.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const shown = values.map((value, index) => (isFormValue(strings, index) ? value : visibleContent(value)))
  const made = tagged(strings, ...shown)
  if (made instanceof Promise) throw new TypeError('a template received a promise')
  return made
}

/** The place of the value after `strings[index]`. */
function isFormValue(strings: TemplateStringsArray, index: number): boolean {
  return strings[index]?.endsWith(' value="') === true || strings[index + 1]?.startsWith('</textarea>') === true
}

function visibleContent(value: Content): Content {
  if (typeof value === 'string') return visibleText(value)
  return isList(value) ? value.map(visibleContent) : value
}

function isList(value: Content): value is readonly Content[] {
  return Array.isArray(value)
}
