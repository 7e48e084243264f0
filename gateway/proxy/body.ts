/**
 * Reads request bodies whole, within bounds: only where a recogniser has to see them (wire.md §1). Each is bounded in length, all of
 * them together in memory, and one that stops coming is given up: whoever sends them slowly, or many at once, must not fill the memory.
 */
import type { IncomingMessage } from 'node:http'
import { BytePieces } from '../byte-pieces.ts'

export type ReadBody =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly why: 'too_large' | 'aborted' | 'overloaded' }

export interface Bodies {
  /** Never rejects. `aborted`: the client went away, or fell silent, before the body was whole. `overloaded`: there is no room for it now. */
  read(request: IncomingMessage, maxBytes: number): Promise<ReadBody>
  /** A body that was read is needed no more; its room is free again. */
  release(body: Buffer): void
  /** Bytes of long bodies that are held now. */
  held(): number
}

/** Shorter ones cost less than the call that they belong to, and are not counted. */
export const SHORT_BODY = 64 * 1024
const SILENCE_MS = 30_000
const LOOK_MS = 5000

/** @param room bytes that all long bodies may take together */
export function createBodies(room: () => number, silenceMs = SILENCE_MS): Bodies {
  /** No set: one that calls come to and go from all the time keeps the collector from those that are over. */
  const readings: Reading[] = []
  let held = 0
  let timer: NodeJS.Timeout | null = null
  /** Looks at all of them now and then: a timer for each would cost every call. */
  const look = (): void => {
    const silentSince = performance.now() - silenceMs
    for (const reading of readings.slice()) reading.giveUpBefore(silentSince)
    if (readings.length > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  const reserve = (bytes: number): boolean => {
    if (held + bytes > room()) return false
    held += bytes
    return true
  }
  const free = (bytes: number): void => {
    held -= bytes
  }
  const leave = ({ at }: Reading): void => {
    const last = readings.pop()
    if (last === undefined || last.at === at) return
    last.at = at
    readings[at] = last
  }
  const bounds: Room = { reserve, free, leave }
  return {
    read(request, maxBytes) {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(TOO_LARGE)
      const reading = new Reading(request, maxBytes, bounds, readings.length)
      readings.push(reading)
      timer ??= setInterval(look, Math.min(LOOK_MS, silenceMs)).unref()
      return reading.done
    },
    release(body) {
      if (body.length > SHORT_BODY) free(body.length)
    },
    held: () => held,
  }
}

const TOO_LARGE = { ok: false, why: 'too_large' } as const

interface Room {
  /** False when there is not that much left. */
  reserve(bytes: number): boolean
  free(bytes: number): void
  /** It is over. */
  leave(reading: Reading): void
}

class Reading {
  readonly done: Promise<ReadBody>
  /** Its place among those under way. */
  at: number
  readonly #request: IncomingMessage
  readonly #maxBytes: number
  readonly #room: Room
  readonly #pieces = new BytePieces()
  #size = 0
  #reserved = 0
  #heardAt = performance.now()
  #resolve: (result: ReadBody) => void = () => {}

  constructor(request: IncomingMessage, maxBytes: number, room: Room, at: number) {
    this.at = at
    this.#request = request
    this.#maxBytes = maxBytes
    this.#room = room
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose).on('error', this.#onClose)
  }

  /** @param moment of `performance.now()` */
  giveUpBefore(moment: number): void {
    if (this.#heardAt >= moment) return
    this.#refuse('aborted')
    this.#request.destroy()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#heardAt = performance.now()
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) return this.#refuse('too_large')
    const due = this.#size > SHORT_BODY ? this.#size - this.#reserved : 0
    if (due > 0) {
      if (!this.#room.reserve(due)) return this.#refuse('overloaded')
      this.#reserved = this.#size
    }
    this.#pieces.add(chunk)
  }

  readonly #onEnd = (): void => this.#settle({ ok: true, body: this.#pieces.whole() })
  readonly #onClose = (): void => this.#refuse('aborted')

  #refuse(why: Extract<ReadBody, { readonly ok: false }>['why']): void {
    this.#room.free(this.#reserved)
    this.#settle({ ok: false, why })
  }

  #settle(result: ReadBody): void {
    const request = this.#request
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).off('error', this.#onClose)
    this.#room.leave(this)
    this.#resolve(result)
  }
}
