/** The texts of JSON Pointers (RFC 6901): how a name becomes a token, and back. */

/** RFC 6901 §3: `~` first, else the escape of `/` would be escaped again. */
export function pointerToken(name: string): string {
  return name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

/** The name that a token stands for. */
export function nameOfToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token
}

/** A pointer as the fragment of a URI (RFC 6901 §6). */
export function pointerFragment(pointer: string): string {
  return `#${pointer.split('/').map(encodeURIComponent).join('/')}`
}

/** The pointer of a member or item below `pointer`. */
export function appendPointer(pointer: string, name: string | number): string {
  return `${pointer}/${typeof name === 'number' ? name : pointerToken(name)}`
}
