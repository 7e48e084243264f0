/**
 * How servers read a path: as it is written, and as loosely as any common router does. Routers ignore the case of letters (Express,
 * ASP.NET), parameters behind a semicolon (Spring, Tomcat), empty segments and a slash at the end (nginx, Go, Express), blanks and dots
 * at the end of a name (IIS), a format behind the last name (Rails, Spring), and some decode escapes more than once. What is judged by
 * its path is judged by all of these readings, or refused.
 */

/** A name between two slashes. */
export interface LooseSegment {
  /** Without what routers ignore, letters as they came. */
  readonly text: string
  /** The same with letters folded. */
  readonly folded: string
  /** It stands in the path as it is here: no router reads it as another text. */
  readonly isPlain: boolean
}

export interface PathReading {
  /** Escapes decoded once, empty segments included; the first is before the leading slash and left out. */
  readonly written: readonly string[]
  readonly loose: readonly LooseSegment[]
}

/** Escapes that are decoded again by a second server; more layers than that are no use to anybody. */
const ROUNDS = 3
/** Text of which no router makes anything else, but for letters. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~@$!*,:+=&()'-](?:[A-Za-z0-9_~@$!*,:+=&()'.-]*[A-Za-z0-9_~@$!*,:+=&()'-])?)+$/
const CONTROLS = /\p{Cc}/u

/** Null: some escapes stand for no text, or for control characters: no two servers agree on what those are. @param path without query */
export function readPath(path: string): PathReading | null {
  if (PLAIN_PATH.test(path)) {
    const written = path.slice(1).split('/')
    return { written, loose: written.map((text) => ({ text, folded: fold(text), isPlain: true })) }
  }
  const written = path.slice(1).split('/').map(decodedOnce)
  if (written.some((text) => text === null)) return null
  const texts = written.filter((text) => text !== null)
  const loose = looseSegments(path)
  if (loose === null) return null
  const isAligned = loose.length === texts.length
  return {
    written: texts,
    loose: loose.map((text, index) => ({
      text,
      folded: fold(text),
      isPlain: isAligned && text === texts[index],
    })),
  }
}

function looseSegments(path: string): readonly string[] | null {
  const decoded = decodedFully(path)
  if (decoded === null || CONTROLS.test(decoded)) return null
  const segments: string[] = []
  // A server that decodes again finds separators that the first one took for letters.
  for (const part of (decoded.split(/[?#]/, 1)[0] ?? '').split(/[/\\]/)) {
    const text = trimmed(part.split(';', 1)[0] ?? '')
    if (part.startsWith('..')) segments.pop()
    if (text !== '') segments.push(text)
  }
  return segments
}

/** Blanks around a name, and dots behind it. */
export function trimmed(text: string): string {
  return text.replace(/^[\s\p{Cc}\p{Z}]+/u, '').replace(/[\s\p{Cc}\p{Z}.]+$/u, '')
}

function decodedOnce(text: string): string | null {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text
  } catch {
    return null
  }
}

function decodedFully(path: string): string | null {
  let text = path
  for (let round = 0; round < ROUNDS && text.includes('%'); round += 1) {
    const next = decodedOnce(text)
    // A percent sign that is meant: what stands there is the text.
    if (next === null) return round === 0 ? null : text
    if (next === text) return text
    text = next
  }
  return text
}

/** Letters that some library takes for the same: width and form (NFKC), case, the long s. */
export function fold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.normalize('NFKC').replaceAll('\u017F', 's').toLowerCase()
}

const ASCII = /^[\x20-\x7e]*$/

/** A name as it is, and without what some routers take for the format behind it: `a.tar.gz`, `a.tar`, `a`. */
export function withoutFormats(text: string): readonly string[] {
  const readings = [text]
  for (let dot = text.lastIndexOf('.'); dot > 0; dot = text.lastIndexOf('.', dot - 1)) readings.push(text.slice(0, dot))
  return readings
}

/**
 * Decoded segments of a path of a table of endpoints; empty ones count for nothing, and an encoded slash is a letter. Null: some
 * router reads one of them as another text (parameters, blanks and dots at an end, escapes within escapes), so no row may judge it.
 * @param path with or without query
 */
export function singleSegments(path: string): readonly string[] | null {
  const [plain = ''] = path.split('?', 1)
  const raw = plain.split('/').filter(Boolean)
  const segments = raw.map(decodedOnce).filter((text) => text !== null)
  const isSingle = segments.every((text, index) => !AMBIGUOUS.test(text) && decodedFully(raw[index] ?? '') === text)
  return segments.length === raw.length && isSingle ? segments : null
}

/** Controls, separators of Windows, parameters; blanks at an end and dots behind; segments that are dots alone. */
const AMBIGUOUS = /[\p{Cc}\\;]|^[\s\p{Z}]|[\s\p{Z}.]$|(?:^|\/)\.{1,2}(?:\/|$)/u

/** As servers read segments that decode escapes before they look for slashes and for the end of the path. */
export function splitSegments(segments: readonly string[]): readonly string[] {
  const [path = ''] = segments.join('/').split(/[?#]/, 1)
  return path.split('/').filter(Boolean)
}

/** What a segment may be to a server that looks for a literal: letters folded, with and without formats behind it. */
export function literalReadings(segment: string): readonly string[] {
  const folded = fold(segment)
  return folded.includes('.') ? withoutFormats(folded) : [folded]
}

/** Without the format of an answer, as Rails and Grape take it off a path. */
export function withoutExtension(text: string): string {
  return text.replace(/\.(?:json|xml)$/i, '')
}
