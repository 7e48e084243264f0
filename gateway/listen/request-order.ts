/**
 * The requests of each HTTP/1 connection, one after another. A client may send the next one before it has the answer; side by side
 * two writes would come to the upstream in any order (RFC 9112 §9.3.2).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** More requests that wait on one connection stop it from being read. Those of the bytes that were read are still taken. */
const MAX_WAITING = 100
/**
 * Time for the answer to a client that has ended its side of the connection. One that has left altogether looks the same, and what
 * is done for such a client ends.
 */
const HALF_CLOSED_MS = 2000

/** The requests of one connection. */
interface Exchanges {
  /** The answer that is being made, or the last one that was. */
  current: ServerResponse
  /** The answer to the last request. */
  last: ServerResponse
  waiting: number
}

export class RequestOrder {
  readonly #connections = new WeakMap<Duplex, Exchanges>()
  readonly #ending = new WeakSet<Duplex>()

  /** Takes a request as soon as those before it on its connection are answered. Not at all if the connection ends with one. */
  take(request: IncomingMessage, response: ServerResponse, take: () => void): void {
    const { socket } = request
    closeIfBytesAreLost(request, response)
    const exchanges = this.#connections.get(socket)
    if (exchanges === undefined) {
      this.#connections.set(socket, withEnd(socket, response))
      return take()
    }
    const before = exchanges.last
    exchanges.last = response
    if (!isUnanswered(before)) {
      exchanges.current = response
      return take()
    }
    count(socket, exchanges, 1)
    before.once('close', () => {
      count(socket, exchanges, -1)
      // An answer that closes the connection has ended it: nobody would get the answers after that one.
      if (!socket.writable) return
      exchanges.current = response
      take()
    })
  }

  /**
   * True while an earlier request of the connection has no whole answer. A switch immediately takes the connection: its own answer
   * would come before that one, and Node.js gives one connection to one answer.
   */
  isAnswering(connection: Duplex): boolean {
    const exchanges = this.#connections.get(connection)
    return exchanges !== undefined && isUnanswered(exchanges.last)
  }

  /** True while a complete request is being answered, or an answer has begun: an error in its place would be taken for it. */
  isUnderWay(connection: Duplex): boolean {
    return this.#underWay(connection) !== null
  }

  /** Ends the connection after the answer to the request that is under way. False: there is none, or nobody takes it. */
  endAfterAnswer(connection: Duplex): boolean {
    const answer = this.#underWay(connection)
    if (answer === null || !connection.writable) return false
    // The parser reports an error again for each further piece of data.
    if (this.#ending.has(connection)) return true
    this.#ending.add(connection)
    answer.shouldKeepAlive = false
    answer.once('finish', () => connection.end())
    return true
  }

  #underWay(connection: Duplex): ServerResponse | null {
    const answer = this.#connections.get(connection)?.last
    if (answer === undefined || answer.writableFinished) return null
    return answer.req.complete || answer.headersSent ? answer : null
  }
}

function withEnd(connection: Duplex, first: ServerResponse): Exchanges {
  const exchanges = { current: first, last: first, waiting: 0 }
  connection.once('end', () => {
    if (!isUnanswered(exchanges.current)) return
    const end = setTimeout(() => connection.destroy(), HALF_CLOSED_MS).unref()
    connection.once('close', () => clearTimeout(end))
  })
  return exchanges
}

/**
 * Node.js drops the bytes that it has read behind a request with `Upgrade` that it does not hand over as a switch. What follows
 * them may be the body of a request that is lost, so nothing behind such a request is read as one.
 */
function closeIfBytesAreLost({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.upgrade !== undefined) response.shouldKeepAlive = false
}

function count(connection: Duplex, exchanges: Exchanges, step: number): void {
  exchanges.waiting += step
  if (exchanges.waiting > MAX_WAITING) connection.pause()
  else if (step < 0 && exchanges.waiting === MAX_WAITING) connection.resume()
}

function isUnanswered(answer: ServerResponse): boolean {
  return !answer.writableFinished || answer.socket !== null
}
