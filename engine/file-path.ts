/** Paths of files as tools take them: what one may mean, lexically. Links on a disk are out of reach here. */

/** With slashes, without `.`, `..`, empty parts, a drive or a scheme; an absolute path keeps its slash. */
export function normalFilePath(text: string): string {
  const path = text
    .replace(/^file:\/\/(?:localhost(?=\/))?/i, '')
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/(?=[a-z]:)/i, '')
    .replace(/^\/*[a-z]:(?=\/|$)/i, '')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    // Above its beginning a relative path leads out of the folder that it is taken from.
    else if (parts.length === 0 || parts.at(-1) === '..') parts.push(...(path.startsWith('/') ? [] : ['..']))
    else parts.pop()
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/')
}

/**
 * Every file that a path names to some reader: escapes taken literally or decoded (once or again), quotes around it, what stands
 * behind the path in an address or a place in an editor, letters that look or count the same, and what Windows leaves out at the end
 * of a name.
 */
export function filePathReadings(text: string): readonly string[] {
  const decodings = [text]
  for (let round = 0; round < ROUNDS; round += 1) decodings.push(decoded(decodings.at(-1) ?? ''))
  const readings = decodings.flatMap((one) =>
    [one, ...LOOSER.map((loosen) => loosen(one)), LOOSER.reduce((loose, loosen) => loosen(loose), one)].map(
      normalFilePath,
    ),
  )
  return [...new Set(readings)]
}

/**
 * Whether a path may name other files than the one of its letters: a glob, or a short name of Windows (`OPENAP~1.YAM`). Names of
 * several letters in brackets (`[id]`) are what web frameworks call folders, and are taken as they stand.
 */
export function isFilePattern(text: string): boolean {
  return filePathReadings(text).some((path) => PATTERN.test(path))
}

const PATTERN = /[*?]|\[(?:[!^]?[^\]]|[^\]]-[^\]]|[!^][^\]]+)\]|\{[^{}]*(?:,|\.\.)[^{}]*\}|[^/~]~\d/u

/** Names that stand for one file where a disk does not tell letters or forms of Unicode apart: as written and in small letters. */
export function foldedFilePaths(path: string): readonly string[] {
  return [path, path.toLowerCase()].flatMap((one) => [one, one.normalize('NFC'), one.normalize('NFD')])
}

/** As many as a second and a third reader decode. */
const ROUNDS = 3

/** What some reader makes of a path, each alone and all after one another. */
const LOOSER: readonly ((path: string) => string)[] = [
  (path) => path.trim().replace(/^(["'`])(.*)\1$/s, '$2'),
  // The folder that a shell or an editor puts there, and that of a drive.
  (path) => path.replace(/^(?:\$\{?\w{1,100}\}?|%\w{1,100}%|~)[/\\]|^[a-z]:/i, ''),
  // An address ends before its query and its fragment, and a place in an editor stands behind the file.
  (path) => path.replace(/[?#].*$/s, ''),
  (path) => path.replace(/(?::\d+){1,2}$/, ''),
  (path) => path.split('\0', 1)[0] ?? '',
  (path) => path.normalize('NFKC').replaceAll(/\p{Cf}/gu, ''),
  (path) => path.replaceAll(/[\u2044\u2215\u29F8]/g, '/').replaceAll(/[\u2216\u29F5]/g, '\\'),
  (path) =>
    path
      .replace(/::\$DATA$/i, '')
      .split(/[/\\]/)
      .map(withoutEnd)
      .join('/'),
]

/** Windows drops blanks and dots at the end of a name; a segment that is one dot or two means something. */
function withoutEnd(name: string): string {
  if (name === '.' || name === '..') return name
  let end = name.length
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1
  return name.slice(0, end)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether one path may be the other one, seen from another folder. */
export function isSameFile(one: string, other: string): boolean {
  const [longer, shorter] = [normalFilePath(one), normalFilePath(other)].toSorted((a, b) => b.length - a.length)
  if (longer === undefined || shorter === undefined) return false
  return longer === shorter || (!shorter.startsWith('/') && shorter !== '' && longer.endsWith(`/${shorter}`))
}
