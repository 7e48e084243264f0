/**
 * Reads request bodies whole, within bounds, for every listener (wire.md §1). Each is bounded in length, in time and by a least
 * rate; all long ones together are bounded in memory. A client that sends slowly, or many at once, must not fill the memory.
 */
import type { IncomingMessage } from 'node:http'
import { BytePieces } from './byte-pieces.ts'
import type { MemoryBudget, MemoryLease } from './memory-budget.ts'

/**
 * `aborted`: the client disconnected before the body was whole. `too_slow`: the body took longer than its pace allows.
 * `overloaded`: there is no memory for it now.
 */
export type BodyFault = 'too_large' | 'aborted' | 'too_slow' | 'overloaded'

export type ReadBody = { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly why: BodyFault }

/** How fast a body must arrive. */
export interface BodyPace {
  /** Longest time for the whole body, milliseconds. */
  readonly totalMs: number
  /** Least bytes a second on average, after the grace. */
  readonly leastRate: number
  /** Time before the rate counts, milliseconds. */
  readonly graceMs: number
  /** Longest time without a byte, milliseconds. */
  readonly silenceMs: number
}

export interface Bodies {
  /** Never rejects. */
  read(request: IncomingMessage, maxBytes: number): Promise<ReadBody>
  /** A body that was read is needed no more; its room is free again. */
  release(body: Buffer): void
  /** Bytes of long bodies that are held now. */
  held(): number
}

/** Shorter ones cost less than the call that they belong to, and are not counted. */
export const SHORT_BODY = 64 * 1024
/** Room is taken in steps, so that a body in crumbs does not take a lease for each. */
const STEP = 64 * 1024
const LOOK_MS = 1000
const GRACE_MS = 10_000
const SILENCE_MS = 30_000

/** The pace that the configuration asks for. @param limits times in seconds, the rate in bytes a second */
export function bodyPace(limits: { readonly body_timeout: number; readonly body_rate: number }): BodyPace {
  const totalMs = limits.body_timeout * 1000
  return {
    totalMs,
    leastRate: limits.body_rate,
    graceMs: Math.min(GRACE_MS, totalMs),
    silenceMs: Math.min(SILENCE_MS, totalMs),
  }
}

/**
 * @param memory what all long bodies share with everything else that is held in memory
 * @param pace read once a body: the configuration can change
 */
export function createBodies(memory: Pick<MemoryBudget, 'tryTake'>, pace: () => BodyPace): Bodies {
  /** No set: one that calls come to and go from all the time keeps the collector from those that are over. */
  const readings: Reading[] = []
  let held = 0
  let timer: NodeJS.Timeout | null = null
  /** Looks at all of them now and then: a timer for each would cost every call. */
  const look = (): void => {
    const now = performance.now()
    for (const reading of readings.slice()) reading.checkPace(now)
    if (readings.length > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  /** Of bodies that were read and are not released. */
  const leases = new WeakMap<Buffer, LongBody>()
  const leave = ({ at }: Reading): void => {
    const last = readings.pop()
    if (last === undefined || last.at === at) return
    last.at = at
    readings[at] = last
  }
  const bounds: Room = {
    leave,
    open: () => new LongBody(memory, (bytes) => (held += bytes)),
    keep: (body, room) => void leases.set(body, room),
  }
  return {
    read(request, maxBytes) {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(TOO_LARGE)
      const wanted = pace()
      const reading = new Reading(request, maxBytes, wanted, bounds, readings.length)
      readings.push(reading)
      timer ??= setInterval(look, Math.max(1, Math.min(LOOK_MS, wanted.silenceMs / 4, wanted.totalMs / 4))).unref()
      return reading.done
    },
    release(body) {
      leases.get(body)?.release()
      leases.delete(body)
    },
    held: () => held,
  }
}

const TOO_LARGE = { ok: false, why: 'too_large' } as const

interface Room {
  /** It is over. */
  leave(reading: Reading): void
  /** Room for one body that turned out to be long. */
  open(): LongBody
  /** The room is held until the body is released. */
  keep(body: Buffer, room: LongBody): void
}

/** The room of one long body, which grows as it comes. */
class LongBody {
  readonly #memory: Pick<MemoryBudget, 'tryTake'>
  readonly #count: (bytes: number) => void
  readonly #leases: MemoryLease[] = []
  #granted = 0
  #size = 0

  constructor(memory: Pick<MemoryBudget, 'tryTake'>, count: (bytes: number) => void) {
    this.#memory = memory
    this.#count = count
  }

  /** False when there is not that much left. */
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

class Reading {
  readonly done: Promise<ReadBody>
  /** Its place among those in progress. */
  at: number
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #pace: BodyPace
  readonly #room: Room
  readonly #pieces = new BytePieces()
  readonly #startedAt = performance.now()
  #size = 0
  /** Null while the body is short. */
  #long: LongBody | null = null
  #heardAt = this.#startedAt
  #resolve: (result: ReadBody) => void = () => {}

  constructor(request: IncomingMessage, maxBytes: number, pace: BodyPace, room: Room, at: number) {
    this.at = at
    this.#request = request
    this.#maxBytes = maxBytes
    this.#pace = pace
    this.#room = room
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

  readonly #onEnd = (): void => {
    const body = this.#pieces.whole()
    if (this.#long !== null) this.#room.keep(body, this.#long)
    this.#finish({ ok: true, body })
  }
  readonly #onClose = (): void => this.#refuse('aborted')

  #refuse(why: BodyFault): void {
    this.#long?.release()
    this.#finish({ ok: false, why })
  }

  #finish(result: ReadBody): void {
    const request = this.#request
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).off('error', this.#onClose)
    this.#room.leave(this)
    this.#resolve(result)
  }
}
