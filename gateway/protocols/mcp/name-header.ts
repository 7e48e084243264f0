/** Texts in the Mcp headers. Those outside visible ASCII are sent as `=?base64?…?=` (MCP 2026-07-28, Streamable HTTP). */

export function encodedName(name: string): string {
  return /^[!-~]+$/.test(name) && !name.startsWith('=?') ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`
}

/** The value itself where readers may not agree on what is encoded: other letters of `base64`, padding, bytes that are not UTF-8. */
export function decodedName(value: string): string {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value) ?? []
  if (encoded === undefined) return value
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  return Buffer.from(decoded).toString('base64') === encoded ? decoded : value
}
