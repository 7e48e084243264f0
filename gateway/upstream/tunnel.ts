/** Tunnels: bytes between clients and destinations, with back-pressure, half-close and an end when nothing moves. */
import type { Transform } from 'node:stream'
import { connect, type LookupFunction, type Socket } from 'node:net'
import type { Authority } from '../network/authority.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Looks at how a client begins, before any of it goes out. */
export interface Doorkeeper {
  feed(bytes: Buffer): void
  /** False closes the tunnel. */
  readonly verdict: Promise<boolean>
  /** Watches all that the client sends; an error of it closes the tunnel. */
  readonly watch?: Transform
}

/** @returns null when the first bytes say enough: then all passes */
type AskDoorkeeper = (first: Buffer) => Doorkeeper | null

export interface Tunnels {
  /**
   * Both sockets belong to the tunnel from here on.
   * @param idleMs silence after which it is closed, milliseconds; 0: none
   * @param onEnd with the bytes that came from the destination
   */
  open(
    client: Socket,
    destination: Socket,
    idleMs: number,
    ask: AskDoorkeeper,
    onEnd?: (received: number) => void,
  ): void
  readonly size: number
  /** What moves goes on; what does not is closed within `idleMs`. */
  drain(idleMs: number): void
  /** Breaks all of them off. */
  close(): void
}

/** Longest wait for a beginning that is not whole. */
const BEGINNING_MS = 10_000

export function createTunnels(metrics: Metrics): Tunnels {
  const clients = new Set<Socket>()
  metrics.sample('preflight_tunnels_open', () => clients.size)
  return {
    open(client, destination, idleMs, ask, onEnd = () => {}) {
      clients.add(client)
      // A connection that switched protocols has carried other requests before; what came with the switch waits in the socket.
      const { bytesWritten } = destination
      const bytesRead = destination.bytesRead - destination.readableLength
      const end = (): void => {
        client.destroy()
        destination.destroy()
        if (!clients.delete(client)) return
        metrics.count('preflight_tunnel_bytes_total', { direction: 'sent' }, destination.bytesWritten - bytesWritten)
        const received = destination.bytesRead - bytesRead
        metrics.count('preflight_tunnel_bytes_total', { direction: 'received' }, received)
        onEnd(received)
      }
      closeTogether(client, destination, end)
      // What moves in one direction moves on both sockets, so one clock is enough.
      client.on('timeout', end).setTimeout(idleMs)
      destination.pipe(client)
      passBeginning(client, destination, ask, end)
      if (client.destroyed || destination.destroyed) end()
    },
    get size() {
      return clients.size
    },
    drain(idleMs) {
      for (const client of clients) client.setTimeout(idleMs)
    },
    close() {
      for (const client of clients) client.destroy()
    },
  }
}

/** A side that has said all it has to say leaves the other one to finish; a fault or a break takes both. */
function closeTogether(client: Socket, destination: Socket, end: () => void): void {
  const onClose = (closed: Socket, other: Socket) => (hadError: boolean) => {
    if (hadError || !closed.readableEnded || other.closed) end()
  }
  client.on('error', end).on('close', onClose(client, destination))
  destination.on('error', end).on('close', onClose(destination, client))
}

/** The client's first bytes wait until the doorkeeper has spoken; all that follows is piped. */
function passBeginning(client: Socket, destination: Socket, ask: AskDoorkeeper, end: () => void): void {
  const held: Buffer[] = []
  let keeper: Doorkeeper | null = null
  let timer: NodeJS.Timeout | undefined
  const goOn = (): void => {
    clearTimeout(timer)
    client.off('data', onData).off('end', onEnd).off('close', stop)
    const watch = keeper?.watch
    watch?.on('error', end).pipe(destination)
    const taker = watch ?? destination
    for (const bytes of held) taker.write(bytes)
    // A client that ended meanwhile will not say so again.
    if (client.readableEnded) taker.end()
    else client.pipe(taker)
  }
  const stop = (): void => clearTimeout(timer)
  // A beginning that will not be whole any more says nothing of where it was going.
  const onEnd = (): void => (keeper === null ? goOn() : end())
  const onData = (bytes: Buffer): void => {
    const isFirst = held.length === 0
    held.push(bytes)
    if (isFirst) {
      keeper = ask(bytes)
      if (keeper === null) return goOn()
      timer = setTimeout(end, BEGINNING_MS)
      void keeper.verdict.then((isGood) => (isGood && !client.destroyed ? goOn() : end()))
    }
    keeper?.feed(bytes)
  }
  // The end of a socket comes whether anybody listens or not: it may have come while the far side was connected to.
  if (client.readableEnded) return goOn()
  client.on('data', onData).on('end', onEnd).on('close', stop)
  // It waits since its first bytes were looked at.
  client.resume()
}

/** A connected socket. Rejects with the error of the connection, an EgressDenied of the look-up, or ETIMEDOUT. */
export function dial({ host, port }: Authority, lookup: LookupFunction, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup, allowHalfOpen: true, noDelay: true })
    const timer = setTimeout(() => {
      const error = Object.assign(new Error(`no connection within ${timeoutMs / 1000} s`), { code: 'ETIMEDOUT' })
      socket.destroy(error)
    }, timeoutMs)
    const settle = (): void => {
      clearTimeout(timer)
      socket.off('connect', onConnect).off('error', onError)
    }
    const onConnect = (): void => {
      settle()
      resolve(socket)
    }
    const onError = (error: Error): void => {
      settle()
      reject(error)
    }
    socket.on('connect', onConnect).on('error', onError)
  })
}
