/**
 * Counts the distinct names that were reported. In a flood they are kept as digests, because half a million field
 * names take more memory than the contract.
 */
import type { Sha256 } from '../../common/hash.ts'
import { textKey } from '../../common/text-key.ts'
import { DigestSet } from './digest-set.ts'

/** Maximum names kept as text. */
const MAX_TEXTS = 20_000

export class NameCount {
  readonly #sha256: Sha256
  readonly #texts = new Set<string>()
  #digests: DigestSet | null = null

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  get size(): number {
    return this.#digests?.size ?? this.#texts.size
  }

  add(name: string): void {
    const key = textKey(name, this.#sha256)
    if (this.#digests !== null) this.#digests.add(this.#sha256(key))
    else if (this.#texts.add(key).size > MAX_TEXTS) this.#shorten()
  }

  clear(): void {
    this.#texts.clear()
    this.#digests = null
  }

  #shorten(): void {
    this.#digests = new DigestSet()
    for (const text of this.#texts) this.#digests.add(this.#sha256(text))
    this.#texts.clear()
  }
}
