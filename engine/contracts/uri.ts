/** Resolves a URI reference against a base (RFC 3986 §5.2), as far as schemas need it. */

interface Uri {
  readonly scheme: string
  /** With its slashes. Empty if there is none. */
  readonly authority: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

/** RFC 3986, appendix B. */
const PARTS = /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s

function parseUri(uri: string): Uri {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = PARTS.exec(uri) ?? []
  return { scheme, authority, path, query, fragment }
}

/** The target URI of `reference` against `base`, without its fragment, and the fragment without `#`. */
export function resolveUri(reference: string, base: string): { readonly uri: string; readonly fragment: string } {
  const to = parseUri(reference)
  const from = parseUri(base)
  const target = merge(to, from)
  return { uri: `${target.scheme}${target.authority}${target.path}${target.query}`, fragment: to.fragment.slice(1) }
}

/** Whether a URI is more than a path: it has a scheme. */
export function isAbsolute(uri: string): boolean {
  return parseUri(uri).scheme !== ''
}

/** The path by which a URI is named from the folder of another one. Null if no path leads there. */
export function relativePath(uri: string, base: string): string | null {
  const [to, from] = [parseUri(uri), parseUri(base)]
  if (to.scheme !== from.scheme || to.authority !== from.authority || to.query !== '') return null
  let folder = folderOf(from)
  let path = ''
  while (!to.path.startsWith(folder)) {
    folder = folder.replace(/[^/]*\/$/, '')
    path += '../'
  }
  return path + to.path.slice(folder.length)
}

function merge(to: Uri, from: Uri): Omit<Uri, 'fragment'> {
  if (to.scheme !== '') return to
  if (to.authority !== '') return { ...to, scheme: from.scheme }
  const { scheme, authority } = from
  if (to.path === '') return { scheme, authority, path: from.path, query: to.query === '' ? from.query : to.query }
  const path = to.path.startsWith('/') ? to.path : `${folderOf(from)}${to.path}`
  return { scheme, authority, path: withoutDots(path), query: to.query }
}

function folderOf({ authority, path }: Uri): string {
  if (path === '' && authority !== '') return '/'
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function withoutDots(path: string): string {
  const steps: string[] = []
  const parts = path.split('/')
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    if (part === '..') {
      if (steps.length > 1 || (steps.length === 1 && steps[0] !== '')) steps.pop()
      if (isLast) steps.push('')
    } else if (part !== '.') steps.push(part)
    else if (isLast) steps.push('')
  }
  return steps.join('/')
}
