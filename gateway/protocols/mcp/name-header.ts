/** The Mcp-Name header. Names outside visible ASCII are sent as `=?base64?…?=` (MCP 2026-07-28, Streamable HTTP). */

export function encodedName(name: string): string {
  return /^[!-~]+$/.test(name) && !name.startsWith('=?') ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`
}

export function decodedName(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/i.exec(value)
  return encoded?.[1] === undefined ? value : Buffer.from(encoded[1], 'base64').toString('utf8')
}
