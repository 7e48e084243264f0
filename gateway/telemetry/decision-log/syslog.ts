/**
 * Sends entries to a syslog receiver: RFC 5424 messages in RFC 5425 frames over TLS. Syslog acknowledges nothing, so a batch
 * counts as delivered when the connection has taken it; what was under way when it broke is sent again.
 */
import { hostname } from 'node:os'
import type { TLSSocket } from 'node:tls'
import { parseAddress } from '../../network/listen-address.ts'
import { tls } from '../../runtime/node-tls.ts'
import type { Delivered, Receiver } from '../sinks/receiver.ts'
import { messageOf } from '../../errors/startup-error.ts'
import { readRegularFile } from '../../runtime/regular-file.ts'

interface SyslogConfig {
  readonly address: string
  readonly ca?: string
  readonly facility: number
  /** Seconds. */
  readonly timeout: number
}

/** Severities of RFC 5424 §6.2.1. */
const WARNING = 4
const NOTICE = 5
const INFORMATIONAL = 6
const REFUSED: ReadonlySet<unknown> = new Set(['BLOCK', 'REQUIRE_APPROVAL', 'receipt_required', 'undecided'])

export function createSyslogReceiver(config: SyslogConfig): Receiver {
  let socket: TLSSocket | null = null
  const connected = async (): Promise<TLSSocket> => {
    if (socket !== null && !socket.destroyed) return socket
    socket = await connectToReceiver(config)
    return socket
  }
  return {
    async deliver(batch) {
      try {
        const text = batch.map((line) => frame(line, config.facility)).join('')
        await writeToSocket(await connected(), text, config.timeout * 1000)
        return { kind: 'acknowledged', rejected: 0, why: null }
      } catch (error) {
        socket?.destroy()
        socket = null
        return undelivered(error)
      }
    },
    close() {
      socket?.end()
      socket?.unref()
      socket = null
      return Promise.resolve()
    },
  }
}

function undelivered(error: unknown): Delivered {
  const reason = messageOf(error)
  const problem = `the syslog receiver was not reached (${reason}); entries wait in the spool`
  return { kind: 'refused', problem, retryAfter: null, isTooLarge: false }
}

function connectToReceiver({ address, ca, timeout }: SyslogConfig): Promise<TLSSocket> {
  const { host, port } = parseAddress(address)
  const trusted = ca === undefined ? {} : { ca: readRegularFile(ca) }
  return new Promise((resolve, reject) => {
    const socket = tls().connect({ host, port, servername: host, ...trusted })
    socket.setTimeout(timeout * 1000, () => socket.destroy(new Error('no connection in time')))
    socket.once('secureConnect', () => {
      socket.setTimeout(0)
      socket.unref()
      resolve(socket)
    })
    socket.once('error', reject)
    // Receivers send nothing; what one sends all the same is not kept.
    socket.resume()
    socket.on('error', () => {})
  })
}

function writeToSocket(socket: TLSSocket, text: string, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the receiver reads nothing')), timeout)
    const done = (error?: Error | null): void => {
      clearTimeout(timer)
      socket.off('close', closed)
      if (error == null) resolve()
      else reject(error)
    }
    const closed = (): void => done(new Error('the connection closed'))
    socket.once('close', closed)
    socket.write(text, done)
  })
}

/** RFC 5425 §4.3: the length in bytes, a space, the message. */
function frame(line: string, facility: number): string {
  const message = syslogMessage(line, facility)
  return `${Buffer.byteLength(message)} ${message}`
}

/** RFC 5424 §6. The message is the entry, in UTF-8 with its byte order mark (§6.4). */
export function syslogMessage(line: string, facility: number): string {
  const entry: { readonly time?: unknown; readonly kind?: unknown; readonly decision?: unknown } = JSON.parse(line)
  const severity = REFUSED.has(entry.decision) ? WARNING : entry.kind === 'act' ? NOTICE : INFORMATIONAL
  const kind = typeof entry.kind === 'string' ? entry.kind : '-'
  return `<${facility * 8 + severity}>1 ${String(entry.time)} ${hostname()} preflight-gateway ${process.pid} ${kind} - \uFEFF${line}`
}
