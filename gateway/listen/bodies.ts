/**
 * Reads complete request bodies, within bounds, for every listener (docs/reference/api.md#limits-and-rate-headers).
 * Each is bounded in length, in time and by a minimum rate; all long ones together are bounded in memory. So slow
 * clients and floods of bodies cannot fill the memory.
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { BytePieces } from '../runtime/byte-pieces.ts'
import type { MemoryBudget, MemoryLease } from '../runtime/memory-budget.ts'

/**
 * `aborted`: the client disconnected before the body was complete. `too_slow`: the body took longer than its pace
 * allows. `overloaded`: there is no memory for it now.
 */
export type BodyFault = 'too_large' | 'aborted' | 'too_slow' | 'overloaded'

export type BodyResult = { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly why: BodyFault }

/** How fast a body must arrive. */
export interface BodyPace {
  /** Longest time for the whole body, milliseconds. */
  readonly totalMs: number
  /** Minimum average of bytes a second, after the grace. */
  readonly leastRate: number
  /** Time before the rate counts, milliseconds. */
  readonly graceMs: number
  /** Longest time without a byte, milliseconds. */
  readonly silenceMs: number
}

/** A request, or one message of a call. */
type BodySource = Readable & Partial<Pick<IncomingMessage, 'headers'>>

export interface Bodies {
  /**
   * Never rejects.
   * @param admission `whole`: memory for the stated length is reserved first, in order of request, so that some of many
   * large bodies are completed instead of none. Only for authenticated callers: anybody else could reserve memory and
   * send nothing.
   */
  read(request: BodySource, maxBytes: number, admission?: 'as_it_comes' | 'whole'): Promise<BodyResult>
  /** The first bytes of a body, which stay in it; empty when it has none. Never rejects. */
  start(request: BodySource): Promise<BodyResult>
  /** A body that was read is no longer needed; its memory is free again. */
  release(body: Buffer): void
  /** Bytes of long bodies in memory now. */
  held(): number
}

/** Shorter bodies cost less memory than the call itself, and are not counted. */
export const SHORT_BODY = 64 * 1024
/** Memory is taken in steps, so that a body in small pieces does not take a lease for each. */
const STEP = 64 * 1024
const LOOK_MS = 1000
/** Maximum wait for the memory of a body of stated length; its sender is not read meanwhile. */
const ADMISSION_MS = 10_000
const GRACE_MS = 10_000
const SILENCE_MS = 30_000

/** The configured pace. @param limits times in seconds, the rate in bytes a second */
export function bodyPace(limits: { readonly body_timeout: number; readonly body_rate: number }): BodyPace {
  const totalMs = limits.body_timeout * 1000
  return {
    totalMs,
    leastRate: limits.body_rate,
    graceMs: Math.min(GRACE_MS, totalMs),
    silenceMs: Math.min(SILENCE_MS, totalMs),
  }
}

export type BodyMemory = Pick<MemoryBudget, 'tryTake' | 'take' | 'limitOf'>

/**
 * @param memory the budget that all long bodies share with everything else that is kept in memory
 * @param pace read once for each body: the configuration can change
 */
export function createBodies(memory: BodyMemory, pace: () => BodyPace): Bodies {
  /** An array: a set with frequent additions and deletions keeps finished calls from the garbage collector. */
  const readings: BodyReader[] = []
  let held = 0
  let timer: NodeJS.Timeout | null = null
  /** Checks all of them periodically: a timer for each would cost every call. */
  const look = (): void => {
    const now = performance.now()
    for (const reading of readings.slice()) reading.checkPace(now)
    if (readings.length > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  /** Leases of bodies that were read and are not released. */
  const leases = new WeakMap<Buffer, LongBody>()
  const leave = ({ at }: BodyReader): void => {
    const last = readings.pop()
    if (last === undefined || last.at === at) return
    last.at = at
    readings[at] = last
  }
  const open = (granted: MemoryLease | null): LongBody => new LongBody(memory, granted, (bytes) => (held += bytes))
  const bounds: BodyRoom = { leave, open: () => open(null), keep: (body, room) => void leases.set(body, room) }
  const start = (request: BodySource, maxBytes: number, room: LongBody | null): Promise<BodyResult> => {
    const wanted = pace()
    const reading = new BodyReader(request, { maxBytes, pace: wanted, bounds, room }, readings.length)
    readings.push(reading)
    timer ??= setInterval(look, Math.max(1, Math.min(LOOK_MS, wanted.silenceMs / 4, wanted.totalMs / 4))).unref()
    return reading.done
  }
  const admit = async (request: BodySource, maxBytes: number, length: number): Promise<BodyResult> => {
    const gone = new AbortController()
    const leave = (): void => gone.abort()
    request.once('close', leave)
    const lease = await memory.take('body', length, AbortSignal.any([gone.signal, AbortSignal.timeout(ADMISSION_MS)]))
    request.off('close', leave)
    if (lease === null) return gone.signal.aborted ? ABORTED : OVERLOADED
    return start(request, maxBytes, open(lease))
  }
  return {
    read(request, maxBytes, admission = 'as_it_comes') {
      const length = Number(request.headers?.['content-length'] ?? 0)
      if (length > maxBytes) return Promise.resolve(TOO_LARGE)
      if (admission === 'as_it_comes' || length <= SHORT_BODY) return start(request, maxBytes, null)
      if (length > memory.limitOf('body')) return Promise.resolve(TOO_LARGE)
      const lease = memory.tryTake('body', length)
      return lease === null ? admit(request, maxBytes, length) : start(request, maxBytes, open(lease))
    },
    start: (request) => firstBytes(request, pace().silenceMs),
    release(body) {
      leases.get(body)?.release()
      leases.delete(body)
    },
    held: () => held,
  }
}

function firstBytes(request: BodySource, waitMs: number): Promise<BodyResult> {
  return new Promise((resolve) => {
    const finish = (result: BodyResult): void => {
      clearTimeout(timer)
      request.off('readable', onReadable).off('close', onClose).off('error', onClose)
      resolve(result)
    }
    const onReadable = (): void => {
      // At the end there is nothing to read; asking for it would end the stream before anybody listens.
      const chunk: unknown = request.readableLength > 0 ? request.read() : null
      if (chunk === null) return finish({ ok: true, body: NO_BYTES })
      request.unshift(chunk)
      finish({ ok: true, body: Buffer.isBuffer(chunk) ? chunk : NO_BYTES })
    }
    const onClose = (): void => finish(ABORTED)
    const timer = setTimeout(() => finish(TOO_SLOW), waitMs)
    if (request.destroyed) return onClose()
    request.on('readable', onReadable).on('close', onClose).on('error', onClose)
  })
}

const NO_BYTES = Buffer.alloc(0)
const TOO_SLOW = { ok: false, why: 'too_slow' } as const
const TOO_LARGE = { ok: false, why: 'too_large' } as const
const ABORTED = { ok: false, why: 'aborted' } as const
const OVERLOADED = { ok: false, why: 'overloaded' } as const

interface BodyRoom {
  /** The body is complete or has failed. */
  leave(reading: BodyReader): void
  /** Memory for one body that turned out to be long. */
  open(): LongBody
  /** The memory stays taken until the body is released. */
  keep(body: Buffer, room: LongBody): void
}

/** The memory of one long body, which grows as it is read. */
class LongBody {
  readonly #memory: Pick<MemoryBudget, 'tryTake'>
  readonly #count: (bytes: number) => void
  readonly #leases: MemoryLease[]
  #granted: number
  #size = 0

  /** @param granted memory for all of it, where its length was stated */
  constructor(memory: Pick<MemoryBudget, 'tryTake'>, granted: MemoryLease | null, count: (bytes: number) => void) {
    this.#memory = memory
    this.#count = count
    this.#leases = granted === null ? [] : [granted]
    this.#granted = granted?.bytes ?? 0
  }

  /** False when there is not that much memory left. */
  growTo(size: number): boolean {
    if (size > this.#granted) {
      const bytes = Math.ceil((size - this.#granted) / STEP) * STEP
      const lease = this.#memory.tryTake('body', bytes)
      if (lease === null) return false
      this.#leases.push(lease)
      this.#granted += bytes
    }
    this.#count(size - this.#size)
    this.#size = size
    return true
  }

  release(): void {
    for (const lease of this.#leases.splice(0)) lease.release()
    this.#count(-this.#size)
    this.#size = 0
    this.#granted = 0
  }
}

interface ReadingOptions {
  readonly maxBytes: number
  readonly pace: BodyPace
  readonly bounds: BodyRoom
  /** Granted beforehand for a body of stated length. */
  readonly room: LongBody | null
}

class BodyReader {
  readonly done: Promise<BodyResult>
  /** Its index among the bodies in progress. */
  at: number
  readonly #request: BodySource
  readonly #maxBytes: number
  readonly #pace: BodyPace
  readonly #room: BodyRoom
  readonly #pieces = new BytePieces()
  readonly #startedAt = performance.now()
  #size = 0
  /** Null while the body is short. */
  #long: LongBody | null
  #heardAt = this.#startedAt
  #isOver = false
  #resolve: (result: BodyResult) => void = () => {}

  constructor(request: BodySource, { maxBytes, pace, bounds, room }: ReadingOptions, at: number) {
    this.at = at
    this.#request = request
    this.#maxBytes = maxBytes
    this.#pace = pace
    this.#room = bounds
    this.#long = room
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose).on('error', this.#onClose)
  }

  /** @param now of `performance.now()` */
  checkPace(now: number): void {
    const { totalMs, leastRate, graceMs, silenceMs } = this.#pace
    const elapsed = now - this.#startedAt
    const due = ((elapsed - graceMs) * leastRate) / 1000
    if (elapsed > totalMs || this.#size < due || now - this.#heardAt > silenceMs) this.#refuse('too_slow')
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#heardAt = performance.now()
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) return this.#refuse('too_large')
    if (this.#size > SHORT_BODY) {
      this.#long ??= this.#room.open()
      if (!this.#long.growTo(this.#size)) return this.#refuse('overloaded')
    }
    this.#pieces.add(chunk)
  }

  /** The listeners stay: a request that has ended emits no more data, and removing them costs more than reading. */
  readonly #onEnd = (): void => {
    if (this.#isOver) return
    const body = this.#pieces.whole()
    if (this.#long !== null) this.#room.keep(body, this.#long)
    this.#finish({ ok: true, body })
  }
  readonly #onClose = (): void => this.#refuse('aborted')

  #refuse(why: BodyFault): void {
    if (this.#isOver) return
    this.#long?.release()
    const request = this.#request
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).off('error', this.#onClose)
    this.#finish({ ok: false, why })
  }

  #finish(result: BodyResult): void {
    this.#isOver = true
    this.#room.leave(this)
    this.#resolve(result)
  }
}
