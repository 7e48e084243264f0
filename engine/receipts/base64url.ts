/**
 * base64url without padding (RFC 7515 §2). The engine may not use the runtime's codecs, and its tokens are ASCII. Decoding is strict, because two encodings of one token would be two tokens with one meaning.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const VALUES = new Int8Array(128).fill(-1)
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value

/** @throws RangeError on a character outside ASCII: the caller composes the text and has escaped it. */
export function encodeAscii(text: string): string {
  let encoded = ''
  for (let at = 0; at < text.length; at += 3) {
    const left = Math.min(3, text.length - at)
    let bits = 0
    for (let offset = 0; offset < 3; offset++) {
      const unit = offset < left ? text.charCodeAt(at + offset) : 0
      if (unit > 0x7f) throw new RangeError('encodeAscii: the text is not ASCII')
      bits = (bits << 8) | unit
    }
    for (let sextet = 0; sextet <= left; sextet++) encoded += ALPHABET[(bits >> (18 - 6 * sextet)) & 63]
  }
  return encoded
}

/** Null for anything but the one canonical encoding of an ASCII text: stray characters, padding, unused bits that are set. */
export function decodeAscii(encoded: string): string | null {
  const bytes = decodeBytes(encoded)
  if (bytes === null) return null
  let text = ''
  for (const byte of bytes) {
    if (byte > 0x7f) return null
    text += String.fromCharCode(byte)
  }
  return text
}

/** The bytes of unpadded base64url; null for anything but the one canonical encoding. */
export function decodeBytes(encoded: string): Uint8Array | null {
  const bytes = new Uint8Array(Math.floor((encoded.length * 3) / 4))
  let bits = 0
  let held = 0
  let length = 0
  for (let at = 0; at < encoded.length; at++) {
    const unit = encoded.charCodeAt(at)
    const value = unit < 128 ? (VALUES[unit] ?? -1) : -1
    if (value < 0) return null
    bits = ((bits << 6) | value) & 0xfff
    held += 6
    if (held < 8) continue
    held -= 8
    bytes[length++] = (bits >> held) & 0xff
  }
  const isWhole = encoded.length % 4 !== 1 && (bits & ((1 << held) - 1)) === 0
  return isWhole ? bytes : null
}
