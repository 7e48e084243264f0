/**
 * The requests of each HTTP/1 connection, one after another. A client may send the next one before it has the answer; side by side
 * two writes would come to the upstream in any order (RFC 9112 §9.3.2).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { versionProblem } from '../routing/target.ts'

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
  /** The answer to the request before the last one, which is complete. */
  beforeLast: ServerResponse | null
  waiting: number
}

export class RequestOrder {
  readonly #connections = new WeakMap<Duplex, Exchanges>()
  readonly #ending = new WeakSet<Duplex>()

  /** Takes a request as soon as those before it on its connection are answered. Not at all if the connection ends with one. */
  take(request: IncomingMessage, response: ServerResponse, take: () => void): void {
    const { socket } = request
    closeIfFramingIsLost(request, response)
    const exchanges = this.#connections.get(socket)
    if (exchanges === undefined) {
      this.#connections.set(socket, withEnd(socket, response))
      return take()
    }
    const before = exchanges.last
    exchanges.last = response
    exchanges.beforeLast = before
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

  /** True while a complete request waits for its answer, or an answer has begun: an error in its place would be taken for it. */
  isUnderWay(connection: Duplex): boolean {
    return this.#underWay(connection) !== null
  }

  /**
   * Ends the connection after the answers to its complete requests. The bytes behind them are not read as a request. False: there
   * is no such answer, or nobody takes it, or it answers a request that can no longer be complete.
   */
  endAfterAnswer(connection: Duplex): boolean {
    // The parser reports an error again for each further piece of data, also while the answer is on its way.
    if (this.#ending.has(connection)) return true
    const answer = this.#underWay(connection)
    if (answer === null || !connection.writable) return false
    // Its body never ends, and neither does what waits for the body.
    if (!answer.req.complete && !answer.writableEnded) return false
    this.#ending.add(connection)
    answer.shouldKeepAlive = false
    answer.once('finish', () => endConnection(connection))
    return true
  }

  #underWay(connection: Duplex): ServerResponse | null {
    const { last, beforeLast } = this.#connections.get(connection) ?? {}
    if (last === undefined || last.writableFinished) return null
    if (last.req.complete || last.headersSent) return last
    return beforeLast === null || beforeLast === undefined || beforeLast.writableFinished ? null : beforeLast
  }
}

/** A client that does not close its side keeps the connection for this time only. */
function endConnection(connection: Duplex): void {
  connection.end()
  destroyLater(connection)
}

function destroyLater(connection: Duplex): void {
  const end = setTimeout(() => connection.destroy(), HALF_CLOSED_MS).unref()
  connection.once('close', () => clearTimeout(end))
}

function withEnd(connection: Duplex, first: ServerResponse): Exchanges {
  const exchanges: Exchanges = { current: first, last: first, beforeLast: null, waiting: 0 }
  connection.once('end', () => {
    if (isUnanswered(exchanges.current)) destroyLater(connection)
  })
  return exchanges
}

/**
 * Node.js drops the bytes that it has read behind a request with `Upgrade` that it does not hand over as a switch. What follows
 * them may be the body of a request that is lost, so nothing behind such a request is read as one. Nor behind one whose
 * framing its version does not have.
 */
function closeIfFramingIsLost(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.upgrade !== undefined || versionProblem(request) !== null) response.shouldKeepAlive = false
}

function count(connection: Duplex, exchanges: Exchanges, step: number): void {
  exchanges.waiting += step
  if (exchanges.waiting > MAX_WAITING) connection.pause()
  else if (step < 0 && exchanges.waiting === MAX_WAITING) connection.resume()
}

function isUnanswered(answer: ServerResponse): boolean {
  return !answer.writableFinished || answer.socket !== null
}
