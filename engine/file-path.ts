/** Paths of files as tools take them: what one may mean, lexically. Links on a disk are out of reach here. */

/** With slashes, without `.`, `..`, empty parts, a drive or a scheme; an absolute path keeps its slash. */
export function normalFilePath(text: string): string {
  const path = text
    .replace(/^file:\/\/(?:localhost(?=\/))?/i, '')
    .replaceAll('\\', '/')
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

/** Every file that a path names to some reader: escapes taken literally or not, and what Windows leaves out at the end of a name. */
export function filePathReadings(text: string): readonly string[] {
  const readings = [text, decoded(text)].flatMap((one) => [
    normalFilePath(one),
    normalFilePath(one.split('\0', 1)[0] ?? ''),
    normalFilePath(one.trim().replace(/(?:::\$DATA)?[. ]*$/i, '')),
  ])
  return [...new Set(readings)]
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
