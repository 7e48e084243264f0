/** The two contracts of a comparison. */
import { fail, ok, type Result } from '../common/result.ts'
import { isRecord, type Located } from '../schema/located.ts'
import { ofSide } from '../contracts/unreadable.ts'

export type Sides<T> = Readonly<Record<'base' | 'head', T>>

/** Reads both texts. A problem names the side that has it, the base first. */
export function readSides<T>(
  before: string,
  after: string,
  read: (text: string, side: keyof Sides<T>) => Result<T>,
): Result<Sides<T>> {
  const base = read(before, 'base')
  if (!base.ok) return fail(ofSide(base.problem, 'base'))
  const head = read(after, 'head')
  return head.ok ? ok({ base: base.value, head: head.value }) : fail(ofSide(head.problem, 'head'))
}

/** The version that a contract states of itself (`info.version` of OpenAPI and AsyncAPI). */
export function infoVersion({ value }: Located): string | null {
  const info = isRecord(value) ? value['info'] : null
  return isRecord(info) && typeof info['version'] === 'string' ? info['version'] : null
}
