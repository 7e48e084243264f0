/** Waits for writers whose reader is slow. */
import type { Writable } from 'node:stream'

const waits = new WeakMap<Writable, Promise<void>>()

/** Resolves when the stream, which is full, takes more or has closed. Every caller waits with the same listeners. */
export function drained(stream: Writable): Promise<void> {
  const known = waits.get(stream)
  if (known !== undefined) return known
  const wait = new Promise<void>((resolve) => {
    const end = (): void => {
      stream.off('drain', end).off('close', end)
      waits.delete(stream)
      resolve()
    }
    stream.on('drain', end).on('close', end)
  })
  waits.set(stream, wait)
  return wait
}
