/** The media types of JSON (RFC 6839 §3.1, RFC 8259 §11), read in one place. */

/**
 * Whether a body of this type is JSON to every server. A list of types counts by its first, as servers read it that take one
 * type only.
 */
export function isJsonType(type: string | undefined): boolean {
  return /^[^;,]*[/+]json\s*(?:[;,]|$)/i.test(type ?? '')
}
