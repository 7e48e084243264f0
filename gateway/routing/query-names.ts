/**
 * Names of parameters as servers read them. Some begin another parameter at a semicolon, ignore case, or take `name[]`
 * and `name.x` for `name`.
 */
import { fold } from './path-reading.ts'

/** As the most lenient server reads it: PHP writes `_` for dots and blanks, and what stands in brackets is a key within. */
export function canonicalName(name: string): string {
  return fold((name.split('[', 1)[0] ?? '').replaceAll(/\p{Cc}/gu, '').trim()).replaceAll(/[. ]/g, '_')
}

/** Canonical names of all parameters that some server reads. @param text a query or form, without its question mark */
export function readNames(text: string): readonly string[] {
  return text.split(/[&;]/).flatMap((piece) => [...new URLSearchParams(piece).keys()].map(canonicalName))
}

/** More than servers accept: most take a thousand. */
export const MOST_FIELDS = 10_000

/** Whether a form has more fields than are read, to a server that begins another one at each semicolon. */
export function hasTooManyFields(text: string): boolean {
  let fields = 0
  for (let index = 0; index < text.length && fields <= MOST_FIELDS; index += 1)
    if (text[index] === '&' || text[index] === ';') fields += 1
  return fields > MOST_FIELDS
}

/** The name of a parameter that only some servers read, because it is behind a semicolon. Null: there is none. */
export function hiddenName(text: string, counts: (canonical: string) => boolean): string | null {
  if (!text.includes(';')) return null
  for (const part of text.split('&').filter((one) => one.includes(';')))
    for (const piece of part.split(';')) {
      const [name = ''] = new URLSearchParams(piece).keys()
      if (counts(canonicalName(name))) return name
    }
  return null
}

/** The query of a target; `''` for none. */
export function queryOf(target: string): string {
  const queryStart = target.indexOf('?')
  return queryStart === -1 ? '' : target.slice(queryStart + 1)
}
