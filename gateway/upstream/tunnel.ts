/** Tunnels: bytes between clients and destinations, with back-pressure, half-close and an idle timeout. */
import type { Transform } from 'node:stream'
import { connect, type LookupFunction, type Socket } from 'node:net'
import type { Authority } from '../network/authority.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Checks the first bytes of a client before any of them is sent. */
export interface BeginningCheck {
  feed(bytes: Buffer): void
  /** False closes the tunnel. */
  readonly verdict: Promise<boolean>
  /** Checks all that the client sends; an error of it closes the tunnel. */
  readonly watch?: Transform
}

/** @returns null when the first bytes suffice: then everything passes */
type CheckBeginning = (first: Buffer) => BeginningCheck | null

interface TunnelOptions {
  /** Silence after which the tunnel is closed, milliseconds; 0: no limit. */
  readonly idleMs: number
  readonly ask: CheckBeginning
  /** Called with the bytes that the destination sent. */
  readonly onEnd?: (received: number) => void
}

export interface Tunnels {
  /** Both sockets belong to the tunnel from here on. */
  open(client: Socket, destination: Socket, options: TunnelOptions): void
  readonly size: number
  /** Tunnels with traffic continue; others are closed within `idleMs`. */
  drain(idleMs: number): void
  /** Closes all tunnels. */
  close(): void
}

/** Maximum wait for the rest of incomplete first bytes. */
const BEGINNING_MS = 10_000

export function createTunnels(metrics: Metrics): Tunnels {
  const clients = new Set<Socket>()
  metrics.sample('preflight_tunnels_open', () => clients.size)
  return {
    open(client, destination, { idleMs, ask, onEnd }) {
      clients.add(client)
      // A connection that switched protocols has carried other requests before; bytes received with the switch are
      // buffered in the socket.
      const { bytesWritten } = destination
      const bytesRead = destination.bytesRead - destination.readableLength
      const end = (): void => {
        client.destroy()
        destination.destroy()
        if (!clients.delete(client)) return
        metrics.count('preflight_tunnel_bytes_total', { direction: 'sent' }, destination.bytesWritten - bytesWritten)
        const received = destination.bytesRead - bytesRead
        metrics.count('preflight_tunnel_bytes_total', { direction: 'received' }, received)
        onEnd?.(received)
      }
      closeTogether(client, destination, end)
      // Traffic in one direction uses both sockets, so one timer is enough.
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

/** A side that ends lets the other one finish; a fault or a broken connection closes both. */
function closeTogether(client: Socket, destination: Socket, end: () => void): void {
  const onClose = (closed: Socket, other: Socket) => (hadError: boolean) => {
    if (hadError || !closed.readableEnded || other.closed) end()
  }
  client.on('error', end).on('close', onClose(client, destination))
  destination.on('error', end).on('close', onClose(destination, client))
}

/** The client's first bytes wait for the verdict of the check; all that follows is piped. */
function passBeginning(client: Socket, destination: Socket, ask: CheckBeginning, end: () => void): void {
  const held: Buffer[] = []
  let check: BeginningCheck | null = null
  let timer: NodeJS.Timeout | undefined
  const goOn = (): void => {
    clearTimeout(timer)
    client.off('data', onData).off('end', onEnd).off('close', stop)
    const watch = check?.watch
    watch?.on('error', end).pipe(destination)
    const taker = watch ?? destination
    for (const bytes of held) taker.write(bytes)
    // The end of a client that ended meanwhile is not emitted again.
    if (client.readableEnded) taker.end()
    else client.pipe(taker)
  }
  const stop = (): void => clearTimeout(timer)
  // First bytes that stay incomplete do not show a destination.
  const onEnd = (): void => (check === null ? goOn() : end())
  const onData = (bytes: Buffer): void => {
    const isFirst = held.length === 0
    held.push(bytes)
    if (isFirst) {
      check = ask(bytes)
      if (check === null) return goOn()
      timer = setTimeout(end, BEGINNING_MS)
      void check.verdict.then((isGood) => (isGood && !client.destroyed ? goOn() : end()))
    }
    check?.feed(bytes)
  }
  // A socket emits its end whether anybody listens or not: that may have happened while the destination was connected
  // to.
  if (client.readableEnded) return goOn()
  client.on('data', onData).on('end', onEnd).on('close', stop)
  // It is paused since its first bytes were checked.
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
    const release = (): void => {
      clearTimeout(timer)
      socket.off('connect', onConnect).off('error', onError)
    }
    const onConnect = (): void => {
      release()
      resolve(socket)
    }
    const onError = (error: Error): void => {
      release()
      reject(error)
    }
    socket.on('connect', onConnect).on('error', onError)
  })
}
