/**
 * How servers read a path: as it is written, and as loosely as any common router does. Routers ignore the case of
 * letters (Express, ASP.NET) and parameters behind a semicolon (Spring, Tomcat). They ignore empty segments and a
 * trailing slash (nginx, Go, Express), and blanks and dots at the end of a name (IIS). They ignore a format behind the
 * last name (Rails, Spring), and some decode escapes more than once. To some, the query begins at a semicolon (Fastify,
 * find-my-way). A request that is judged by its path is judged by all of these readings, or refused.
 */

/** A name between two slashes. */
export interface LooseSegment {
  /** Without what routers ignore, case unchanged. */
  readonly text: string
  /** The same with case folded. */
  readonly folded: string
  /** The path contains it in this form, without escapes: no router reads it as another text. */
  readonly isPlain: boolean
}

export interface PathReading {
  /** Escapes decoded once, including empty segments; the first, before the leading slash, is left out. */
  readonly written: readonly string[]
  readonly loose: readonly LooseSegment[]
  /** Folded names before a semicolon that has names behind it: to some routers the path ends there. Null: it has none. */
  readonly earlier: readonly string[] | null
}

/** Number of layers of escapes that are decoded; more are of no use to anybody. */
const ROUNDS = 3
/** Paths that all routers read alike, except for case. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~@$!*,:+=&()'-](?:[A-Za-z0-9_~@$!*,:+=&()'.-]*[A-Za-z0-9_~@$!*,:+=&()'-])?)+$/
const CONTROLS = /\p{Cc}/u

/**
 * Null: some escapes are not valid text, or are control characters: servers read these differently. @param path without
 * query
 */
export function readPath(path: string): PathReading | null {
  if (PLAIN_PATH.test(path)) {
    const written = path.slice(1).split('/')
    return { written, loose: written.map((text) => ({ text, folded: fold(text), isPlain: true })), earlier: null }
  }
  const raw = path.slice(1).split('/')
  const written = raw.map(decodedOnce).filter((text) => text !== null)
  const loose = written.length === raw.length ? looseSegments(path) : null
  if (loose === null) return null
  const isAligned = loose.length === raw.length
  return {
    written,
    // Some routers compare names before they decode them: to those, an escaped letter is another text.
    loose: loose.map((text, index) => ({ text, folded: fold(text), isPlain: isAligned && text === raw[index] })),
    earlier: endsEarlier(path) ? (looseSegments(path.split(';', 1)[0] ?? '') ?? []).map(fold) : null,
  }
}

/** Whether names follow behind a semicolon. */
function endsEarlier(path: string): boolean {
  const semicolon = path.indexOf(';')
  const slash = semicolon === -1 ? -1 : path.indexOf('/', semicolon)
  return slash !== -1 && slash + 1 < path.length
}

function looseSegments(path: string): readonly string[] | null {
  const decoded = decodedFully(path)
  if (decoded === null || CONTROLS.test(decoded)) return null
  const segments: string[] = []
  // A server that decodes again finds separators that the first one read as letters.
  for (const part of (decoded.split(/[?#]/, 1)[0] ?? '').split(/[/\\]/)) {
    const text = trimmed(part.split(';', 1)[0] ?? '')
    if (part.startsWith('..')) segments.pop()
    if (text !== '') segments.push(text)
  }
  return segments
}

const IGNORED_END = /[\s\p{Cc}\p{Z}.]/u

/** Removes blanks around a name, and dots at its end. */
export function trimmed(text: string): string {
  const start = text.search(/[^\s\p{Cc}\p{Z}]/u)
  if (start === -1) return ''
  // An expression for the end of a text is tried at each of its letters.
  let end = text.length
  while (end > start && IGNORED_END.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
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
    // A percent sign that is not an escape: the text is complete.
    if (next === null) return round === 0 ? null : text
    if (next === text) return text
    text = next
  }
  return text
}

/** Folds letters that some library treats as equal: width and form (NFKC), case, the long s, the i of Turkish. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replaceAll('\u017F', 's')
    .replaceAll(/[\u0130\u0131]/g, 'i')
    .toLowerCase()
}

const ASCII = /^[\x20-\x7e]*$/

/**
 * Formats that are removed one after the other, from the end and from the beginning of a name. Routers remove the last
 * one, or all. A name with more has readings in between that no router has.
 */
const MOST_FORMATS = 8

/** The name, and the name without each suffix that some routers read as a format: `a.tar.gz`, `a.tar`, `a`. */
export function withoutFormats(text: string): readonly string[] {
  const ends = [...text.matchAll(/(?<!^)\./g)].map(({ index }) => index)
  const isLong = ends.length > 2 * MOST_FORMATS
  const cuts = isLong ? [...ends.slice(0, MOST_FORMATS), ...ends.slice(-MOST_FORMATS)] : ends
  return [text, ...cuts.toReversed().map((end) => text.slice(0, end))]
}

/**
 * Decoded segments of a path for a table of endpoints; empty ones are dropped, and an encoded slash is a letter. Null
 * when some router reads a segment as another text (parameters, blanks and dots at an end, escapes within escapes). No
 * row may judge such a path.
 * @param path with or without query
 */
export function singleSegments(path: string): readonly string[] | null {
  const [plain = ''] = path.split('?', 1)
  const raw = plain.split('/').filter(Boolean)
  const segments = raw.map(decodedOnce).filter((text) => text !== null)
  const isSingle = segments.every((text, index) => !AMBIGUOUS.test(text) && decodedFully(raw[index] ?? '') === text)
  return segments.length === raw.length && isSingle ? segments : null
}

/** Controls, separators of Windows, parameters; leading and trailing blanks, trailing dots; segments of dots alone. */
const AMBIGUOUS = /[\p{Cc}\\;]|^[\s\p{Z}]|[\s\p{Z}.]$|(?:^|\/)\.{1,2}(?:\/|$)/u

/** Segments as read by servers that decode escapes before they split at slashes and find the end of the path. */
export function splitSegments(segments: readonly string[]): readonly string[] {
  const [path = ''] = segments.join('/').split(/[?#]/, 1)
  return path.split('/').filter(Boolean)
}

/** The literals that a server may read a segment as: letters folded, with and without formats behind it. */
export function literalReadings(segment: string): readonly string[] {
  const folded = fold(segment)
  return folded.includes('.') ? withoutFormats(folded) : [folded]
}

/** Without the format of an answer, which Rails and Grape remove from a path. */
export function withoutExtension(text: string): string {
  return text.replace(/\.(?:json|xml)$/i, '')
}
