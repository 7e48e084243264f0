/**
 * The parts of a `multipart/form-data` body (RFC 7578). Parsers differ on what precedes, follows or divides parts, so only
 * one form is accepted.
 */
import { MOST_FIELDS } from '../../routing/query-names.ts'

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string }

export interface RawPart {
  /** Lines of the head, each byte a character. */
  readonly head: readonly string[]
  readonly bytes: Buffer
}

export function refusedForm(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why }
}

const BOUNDARY = /^multipart\/form-data\s*;\s*boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))\s*$/i
const CRLF = '\r\n'
const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Nothing before the first boundary, nothing after the last, and no text within that a lenient parser reads as another
 * boundary.
 * @param type value of Content-Type
 */
export function readParts(bytes: Buffer, type: string): Read<readonly RawPart[]> {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return refusedForm('its type names no plain boundary')
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  if (!bytes.subarray(0, delimiter.length).equals(delimiter))
    return refusedForm('its form does not begin with its boundary')
  const parts: RawPart[] = []
  let at = delimiter.length
  for (;;) {
    const mark = bytes.toString('latin1', at, at + 2)
    if (mark === '--') {
      const rest = bytes.toString('latin1', at + 2)
      return rest === '' || rest === CRLF
        ? { ok: true, value: parts }
        : refusedForm('something follows the end of its form')
    }
    if (parts.length >= MOST_FIELDS) return refusedForm(`it has more than ${MOST_FIELDS} parts`)
    if (mark !== CRLF) return refusedForm('a boundary of its form is not a line of its own')
    const end = bytes.indexOf(delimiter, at)
    if (end === -1) return refusedForm('its form does not end')
    if (bytes.toString('latin1', end - 2, end) !== CRLF || end - 2 < at + 2)
      return refusedForm('a boundary of its form is not a line of its own')
    const part = bytes.subarray(at + 2, end - 2)
    const headEnd = part.indexOf(HEAD_END)
    if (headEnd === -1) return refusedForm('a part of its form has no head')
    const head = part.toString('latin1', 0, headEnd).split(CRLF)
    parts.push({ head, bytes: part.subarray(headEnd + HEAD_END.length) })
    at = end + delimiter.length
  }
}

const DISPOSITION =
  /^content-disposition:[ \t]*form-data;[ \t]*name="([^"\\%\r\n]*)"(;[ \t]*filename="[^"\\\r\n]*")?[ \t]*$/i

interface PartName {
  readonly name: string
  readonly isFile: boolean
  /** The other lines of the head. */
  readonly others: readonly string[]
}

/** Null: it is named in no way that all parsers read alike. @param lines of the head of a part */
export function partName(lines: readonly string[]): PartName | null {
  const others = lines.filter((line) => !/^content-disposition:/i.test(line))
  const disposition = others.length === lines.length - 1 ? lines.find((line) => !others.includes(line)) : undefined
  const [, name, filename] = DISPOSITION.exec(disposition ?? '') ?? []
  return name === undefined ? null : { name, isFile: filename !== undefined, others }
}
