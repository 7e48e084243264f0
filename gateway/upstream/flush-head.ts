/** Sends the head of an HTTP message before anything else of it. */

/**
 * Header values are Latin-1 (RFC 9110 §5.5), and so are the strings that Node holds them in. `flushHeaders()` writes a head in
 * the encoding of its socket, UTF-8, and so changes every byte beyond ASCII; an empty write has an encoding of its own. A
 * message without a body sends its head with its end instead.
 */
export function flushHead(message: { write(chunk: string, encoding: 'latin1'): unknown }): void {
  message.write('', 'latin1')
}
