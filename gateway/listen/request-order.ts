/**
 * The requests of each HTTP/1 connection, one after another. A client may send the next one before it has the answer; side by side
 * two writes would come to the upstream in any order (RFC 9112 §9.3.2).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** More requests that wait on one connection stop it from being read. Those of the bytes that were read are still taken. */
const MAX_WAITING = 100

export class RequestOrder {
  /** The last answer on each connection. */
  readonly #answers = new WeakMap<Duplex, ServerResponse>()
  readonly #waiting = new WeakMap<Duplex, number>()

  /** Takes a request as soon as those before it on its connection are answered. Not at all if the connection ends with one. */
  take({ socket }: IncomingMessage, response: ServerResponse, take: () => void): void {
    const before = this.#answers.get(socket)
    this.#answers.set(socket, response)
    if (before === undefined || !isUnanswered(before)) return take()
    this.#count(socket, 1)
    before.once('close', () => {
      this.#count(socket, -1)
      // An answer that closes the connection has ended it: nobody would get the answers after that one.
      if (socket.writable) take()
    })
  }

  /**
   * True while an earlier request of the connection has no whole answer. A switch immediately takes the connection: its own answer
   * would come before that one, and Node.js gives one connection to one answer.
   */
  isAnswering(connection: Duplex): boolean {
    const answer = this.#answers.get(connection)
    return answer !== undefined && isUnanswered(answer)
  }

  /** True while a complete request is being answered, or an answer has begun: an error in its place would be taken for it. */
  isUnderWay(connection: Duplex): boolean {
    const answer = this.#answers.get(connection)
    return answer !== undefined && !answer.writableFinished && (answer.req.complete || answer.headersSent)
  }

  #count(connection: Duplex, step: number): void {
    const waiting = (this.#waiting.get(connection) ?? 0) + step
    this.#waiting.set(connection, waiting)
    if (waiting > MAX_WAITING) connection.pause()
    else if (step < 0 && waiting === MAX_WAITING) connection.resume()
  }
}

function isUnanswered(answer: ServerResponse): boolean {
  return !answer.writableFinished || answer.socket !== null
}
