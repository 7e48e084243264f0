/**
 * Bytes that arrive in pieces and are needed whole. A piece of one byte takes two hundred bytes as an object of its own, and a
 * sender may split a megabyte into such pieces. Small pieces are therefore copied together as they arrive.
 */

const SMALL_PIECE = 4096
const COPIES = 16 * 1024

/** Grows by what is added, and is made one whole once. */
export class BytePieces {
  readonly #parts: Buffer[] = []
  #copies: Buffer | null = null
  #copied = 0

  add(chunk: Buffer): void {
    // Most bodies are one piece.
    if (this.#parts.length === 0 && this.#copies === null) this.#parts.push(chunk)
    else if (chunk.length >= SMALL_PIECE) {
      this.#closeCopies()
      this.#parts.push(chunk)
    } else this.#copy(chunk)
  }

  whole(): Buffer {
    this.#closeCopies()
    const [first, ...others] = this.#parts
    return first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts)
  }

  #copy(chunk: Buffer): void {
    if (this.#copies !== null && this.#copied + chunk.length > COPIES) this.#closeCopies()
    this.#copies ??= Buffer.allocUnsafe(COPIES)
    this.#copied += chunk.copy(this.#copies, this.#copied)
  }

  #closeCopies(): void {
    if (this.#copies !== null) this.#parts.push(this.#copies.subarray(0, this.#copied))
    this.#copies = null
    this.#copied = 0
  }
}
