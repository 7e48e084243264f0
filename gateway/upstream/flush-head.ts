/** Sends the head of an HTTP message before any of its body. */

/**
 * Header values are Latin-1 (RFC 9110 §5.5), and so are the strings in which Node.js keeps them. `flushHeaders()`
 * writes a head in the encoding of its socket, UTF-8, and so changes every byte beyond ASCII. An empty write states its
 * own encoding. A message without a body sends its head with its end instead.
 */
export function flushHead(message: { write(chunk: string, encoding: 'latin1'): unknown }): void {
  message.write('', 'latin1')
}
