/**
 * Gives each receipt its place in a status list (docs/reference/receipts.md#status-list). A gateway fills lists of its own, so
 * gateways of one store need no agreement on indexes. The order of indexes is random: an index shows neither when a receipt was
 * issued nor how many there are.
 */
import { randomInt, randomUUID } from 'node:crypto'
import type { StatusReference } from '../../engine/internal.ts'
import type { StorePart } from '../store/store.ts'

/** Receipts of one list: 8 KiB of entries before compression. */
export const LIST_SIZE = 16_384
/** A list gets no receipts after this time, so that a list of few receipts can be deleted one day. Milliseconds. */
const FILLED_FOR = 86_400_000

/** The place of one receipt. */
interface StatusPlace extends StatusReference {
  /** Id of the list in the store. */
  readonly list: string
}

interface StatusAllocator {
  /**
   * A place that no other receipt has. Synchronous while the list in use has room. Rejects with STORE_UNAVAILABLE when a new
   * list could not be recorded.
   */
  next(): StatusPlace | Promise<StatusPlace>
}

interface AllocatorDeps {
  readonly store: StorePart<'statusLists.open'>
  /** Address of the API for its clients; undefined: lists have a URN and are fetched from an address that the verifier knows. */
  readonly publicUrl: () => string | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createStatusAllocator(deps: AllocatorDeps): StatusAllocator {
  let current: OpenList | null = null
  let opening: Promise<OpenList> | null = null
  const open = (): Promise<OpenList> => {
    opening ??= openList(deps)
      .then((list) => (current = list))
      .finally(() => (opening = null))
    return opening
  }
  const take = (): StatusPlace | null => {
    if (current === null || current.isClosed(deps.now())) return null
    return current.take()
  }
  const takeFromNew = async (): Promise<StatusPlace> => {
    for (;;) {
      await open()
      // Many callers may wait for one list: each takes its place, and the last ones may find it full.
      const place = take()
      if (place !== null) return place
    }
  }
  return { next: () => take() ?? takeFromNew() }
}

interface OpenList {
  isClosed(now: number): boolean
  /** Null: the list is full. */
  take(): StatusPlace | null
}

async function openList({ store, publicUrl, now }: AllocatorDeps): Promise<OpenList> {
  const list = randomUUID()
  const openedAt = now()
  const uri = listUri(list, publicUrl())
  await store.statusLists.open({ list, uri, size: LIST_SIZE, openedAt })
  const free = Uint16Array.from({ length: LIST_SIZE }, (_, index) => index)
  let left = LIST_SIZE
  return {
    isClosed: (at) => at - openedAt >= FILLED_FOR,
    take: () => {
      if (left === 0) return null
      // One step of a Fisher-Yates shuffle: a random index of those that are left.
      const chosen = randomInt(left)
      const idx = free[chosen] ?? 0
      left -= 1
      free[chosen] = free[left] ?? 0
      return { list, idx, uri }
    },
  }
}

const STATUS_PATH = '/.well-known/status/'

function listUri(list: string, publicUrl: string | undefined): string {
  return publicUrl === undefined ? `urn:uuid:${list}` : publicUrl.replace(/\/+$/, '') + STATUS_PATH + list
}
