/**
 * Passes informational answers (RFC 9110 §15.2) from an upstream to the client: early hints and signs of progress. They
 * come before the answer and never replace it; 100 and 101 concern the connection to the upstream, and are not passed
 * on.
 */
import type { IncomingMessage } from 'node:http'
import { withoutField } from './headers.ts'
import type { AnswerStream } from './answer-stream.ts'

/** More than any server needs: further ones are dropped, so that an upstream cannot flood a client. */
const MAX_PASSED = 20
const OF_THE_CONNECTION: ReadonlySet<number> = new Set([100, 101])

export interface Informational {
  /** @param fields for the client: name, value, name, value … */
  pass(status: number, fields: readonly string[]): void
}

/** HTTP/1.0 has none, and its clients would take the first for the answer. */
export function passInformational(
  { httpVersion }: Pick<IncomingMessage, 'httpVersion'>,
  response: Pick<AnswerStream, 'writeInformation' | 'headersSent' | 'destroyed'>,
): Informational {
  let passed = httpVersion === '1.0' ? MAX_PASSED : 0
  return {
    pass(status, fields) {
      if (passed >= MAX_PASSED || OF_THE_CONNECTION.has(status) || response.headersSent || response.destroyed) return
      passed += 1
      // It has no body (RFC 9110 §15.2), and a client that expects one waits for it.
      response.writeInformation(status, withoutField(fields, 'content-length'))
    },
  }
}
