/** File paths as tools interpret them, read lexically. Links on a disk are not resolved. */
import { percentDecoded } from './percent-decoding.ts'

/** With slashes, without `.`, `..`, empty parts, a drive or a scheme; an absolute path keeps its slash. */
export function normalFilePath(text: string): string {
  const path = text
    .replace(/^file:(?:\/\/(?:localhost(?=\/))?)?/i, '')
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/(?=[a-z]:)/i, '')
    .replace(/^\/*[a-z]:(?=\/|$)/i, '')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    // Above its start a relative path leaves its folder.
    else if (parts.length === 0 || parts.at(-1) === '..') parts.push(...(path.startsWith('/') ? [] : ['..']))
    else parts.pop()
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/')
}

/**
 * Every file that some reader may open for a path. Readers differ in escapes (literal, decoded once or twice),
 * surrounding quotes, suffixes of addresses and editor positions, and lookalike letters. Windows also drops characters
 * at the end of a name.
 */
export function filePathReadings(text: string): readonly string[] {
  const decodings = [text]
  for (let round = 0; round < ROUNDS; round += 1) decodings.push(percentDecoded(decodings.at(-1) ?? ''))
  // Most paths have one reading: each is interpreted and normalised once, since a call may name thousands.
  const readings = [...new Set(decodings)].flatMap((one) => [
    one,
    ...LOOSER.map((loosen) => loosen(one)),
    LOOSER.reduce((loose, loosen) => loosen(loose), one),
  ])
  return [...new Set([...new Set(readings)].map(normalFilePath))]
}

/**
 * Whether a path may name files other than the literal one: a glob, an expression of a shell, or a short name of
 * Windows (`OPENAP~1.YAM`). Names of several letters in brackets (`[id]`) are folders of web frameworks, and are taken
 * literally. An open file of a process (`/dev/fd/3`) may be any.
 */
export function isFilePattern(text: string): boolean {
  return filePathReadings(text).some((path) => PATTERN.test(path))
}

const PATTERN =
  /[*?`]|\$\(|\$\{\w*[^\w}]|\[(?:[!^]?[^\]]|[^\]]-[^\]]|[!^][^\]]+)\]|\{[^{}]*(?:,|\.\.)[^{}]*\}|[^/~]~\d|^\/(?:dev|proc\/.+)\/fd\//u

/** Names of one file on a disk that ignores letter case or Unicode forms: as written and in lower case. */
export function foldedFilePaths(path: string): readonly string[] {
  return [path, path.toLowerCase()].flatMap((one) => [one, one.normalize('NFC'), one.normalize('NFD')])
}

/**
 * The path; for one that is absolute, or leaves its folder, also what follows each of its folders. A link or a mount
 * gives a folder further names, so such a path may be that of a file below the root.
 */
export function pathAndEnds(path: string): readonly string[] {
  if (!/^(?:\/|\.\.(?:\/|$))/.test(path)) return [path]
  const names = path.split('/').slice(1)
  return [path, ...names.map((_, index) => names.slice(index).join('/'))]
}

/** Rounds of decoding, as a second and a third reader would do. */
const ROUNDS = 3

/** Interpretations of a path, applied each alone and all in sequence. */
const LOOSER: readonly ((path: string) => string)[] = [
  (path) => path.trim().replace(/^(["'`])(.*)\1$/s, '$2'),
  // The folder that a shell or an editor puts there, and that of a drive.
  (path) => path.replace(/^(?:\$\{?\w{1,100}\}?|%\w{1,100}%|~)[/\\]|^[a-z]:/i, ''),
  // The same through a folder of the kernel, or by an address of an editor.
  (path) => path.replace(/^\/proc\/[^/]{1,20}\/(?:cwd\/|root(?=\/))/i, ''),
  (path) => path.replace(/^[a-z][\w+.-]{1,40}:\/\/[^/]*/i, ''),
  // An address ends before its query and fragment. An editor position follows the file name.
  (path) => path.replace(/[?#].*$/s, ''),
  (path) => path.replace(/(?::\d+){1,2}$/, ''),
  (path) => path.split('\0', 1)[0] ?? '',
  (path) => path.normalize('NFKC').replaceAll(/\p{Cf}/gu, ''),
  (path) => path.replaceAll(/[\u2044\u2215\u29F8]/g, '/').replaceAll(/[\u2216\u29F5]/g, '\\'),
  (path) =>
    path
      .replace(/::\$DATA$/i, '')
      .split(/[/\\]/)
      .map(withoutTrailingDots)
      .join('/'),
]

/** Windows drops blanks and dots at the end of a name. Segments `.` and `..` keep their meaning. */
function withoutTrailingDots(name: string): string {
  if (name === '.' || name === '..') return name
  let end = name.length
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1
  return name.slice(0, end)
}

/** Whether one path may be the other one, seen from another folder. */
export function isSameFile(one: string, other: string): boolean {
  const [longer, shorter] = [normalFilePath(one), normalFilePath(other)].toSorted((a, b) => b.length - a.length)
  if (longer === undefined || shorter === undefined) return false
  return longer === shorter || (!shorter.startsWith('/') && shorter !== '' && longer.endsWith(`/${shorter}`))
}
