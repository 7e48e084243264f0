/**
 * A set of SHA-256 digests in one typed array. A flood of changes needs millions, and as strings they would take five
 * times the memory.
 */

/** 32-bit words kept of a digest: half of it. A collision takes about 2^64 tries. */
const WORDS = 4
const HEX_DIGITS = 8
/** Initial slots: a power of two, as are all later sizes. */
const FIRST_CAPACITY = 16

export class DigestSet {
  #slots = new Uint32Array(FIRST_CAPACITY * WORDS)
  #size = 0
  /** The digest being looked up. */
  readonly #words = new Uint32Array(WORDS)

  get size(): number {
    return this.#size
  }

  /** Adds a digest of 64 hex digits. Returns true if it was not in the set. */
  add(digest: string): boolean {
    if (this.#size * WORDS * 4 >= this.#slots.length * 3) this.#grow()
    const words = this.#words
    for (let word = 0; word < WORDS; word++)
      words[word] = Number.parseInt(digest.slice(word * HEX_DIGITS, (word + 1) * HEX_DIGITS), 16)
    // An empty slot is all zero.
    if (isEmpty(words, 0)) words[0] = 1
    const slot = slotOf(this.#slots, words, 0)
    if (!isEmpty(this.#slots, slot)) return false
    this.#slots.set(words, slot)
    this.#size += 1
    return true
  }

  clear(): void {
    if (this.#size === 0) return
    // Most places have few changes: a new array for each of a million places is work for the collector.
    if (this.#slots.length === FIRST_CAPACITY * WORDS) this.#slots.fill(0)
    else this.#slots = new Uint32Array(FIRST_CAPACITY * WORDS)
    this.#size = 0
  }

  #grow(): void {
    const base = this.#slots
    const slots = new Uint32Array(base.length * 2)
    for (let from = 0; from < base.length; from += WORDS) {
      if (isEmpty(base, from)) continue
      const slot = slotOf(slots, base, from)
      for (let word = 0; word < WORDS; word++) slots[slot + word] = base[from + word] ?? 0
    }
    this.#slots = slots
  }
}

/** Offset of the slot that contains the words at `from`, or of the empty slot for them. */
function slotOf(slots: Uint32Array, words: Uint32Array, from: number): number {
  let slot = ((words[from] ?? 0) * WORDS) % slots.length
  while (!isEmpty(slots, slot) && !isSameDigest(slots, slot, words, from)) slot = (slot + WORDS) % slots.length
  return slot
}

function isEmpty(slots: Uint32Array, slot: number): boolean {
  for (let word = 0; word < WORDS; word++) if (slots[slot + word] !== 0) return false
  return true
}

function isSameDigest(slots: Uint32Array, slot: number, words: Uint32Array, from: number): boolean {
  for (let word = 0; word < WORDS; word++) if (slots[slot + word] !== words[from + word]) return false
  return true
}
