/** The letters of a body. The same bytes can be other JSON in another charset (UTF-7, UTF-16, Shift_JIS). */

/** False when the type names another charset than UTF-8, more than one, or one in a form that servers read differently. */
export function isUtf8Type(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true
  const charsets = type.match(/charset[^;]*/gi) ?? []
  return charsets.length <= 1 && charsets.every((one) => UTF8.test(one))
}

const UTF8 = /^charset\s*=\s*"?(?:utf-?8|us-ascii)"?\s*$/i
