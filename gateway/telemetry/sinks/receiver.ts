/** What takes deliveries at the other end of a sink: one gzipped POST of a batch, and how its answer is to be read. */
import { notReached } from '../../errors/startup-error.ts'
import { createPost } from './post.ts'

/** How one kind of receiver is spoken to. */
export interface ReceiverProtocol {
  readonly url: string
  readonly contentType: string
  /** Further request headers: names and values. */
  readonly headers: Readonly<Record<string, string>>
  /** @param batch serialized CloudEvents */
  encode(batch: readonly string[]): string
  /** The result in a 2xx answer: how many events it permanently rejected, and why. */
  read(body: string): Acknowledgement
}

export interface Acknowledgement {
  readonly rejected: number
  readonly why: string | null
}

export type Delivered =
  | ({ readonly kind: 'acknowledged' } & Acknowledgement)
  | {
      readonly kind: 'refused'
      readonly problem: string
      /** Pause that the receiver asks for, in milliseconds; null when it asks for none. */
      readonly retryAfter: number | null
      /** The batch was too large for the receiver. */
      readonly isTooLarge: boolean
    }

export interface Receiver {
  /** Never rejects. */
  deliver(batch: readonly string[], signal: AbortSignal): Promise<Delivered>
  close(): Promise<void>
}

const PAYLOAD_TOO_LARGE = 413

/** @param timeout milliseconds for one delivery */
export function createReceiver(protocol: ReceiverProtocol, timeout: number): Receiver {
  const post = createPost(protocol, timeout)
  return {
    async deliver(batch, signal) {
      try {
        const { status, headers, text } = await post.send(protocol.encode(batch), signal)
        if (status >= 200 && status < 300) return { kind: 'acknowledged', ...protocol.read(text) }
        const problem = `the telemetry sink answered ${status}; events wait in the spool`
        return { kind: 'refused', problem, retryAfter: waitOf(headers), isTooLarge: status === PAYLOAD_TOO_LARGE }
      } catch (error) {
        // Every fault of one delivery has the same answer: not acknowledged, so tried again.
        const problem = `${notReached('the telemetry sink', protocol.url, error).message}; events wait in the spool`
        return { kind: 'refused', problem, retryAfter: null, isTooLarge: false }
      }
    },
    close: () => post.close(),
  }
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function waitOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>): number | null {
  const value = headers['retry-after']
  if (typeof value !== 'string') return null
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}
