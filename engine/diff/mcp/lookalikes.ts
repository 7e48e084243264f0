/**
 * Finds words that mix scripts with lookalike letters: people and programs read them differently. Only Cyrillic and
 * Greek letters that look like Latin ones count. A word of a single script is accepted.
 */

/** Latin letters, each with its Cyrillic and Greek lookalikes (confusables of Unicode UTS #39). */
const LOOKALIKES =
  'A 0410 0391, B 0412 0392, C 0421, E 0415 0395, H 041D 0397, I 0406 0399, J 0408, K 041A 039A, ' +
  'M 041C 039C, N 039D, O 041E 039F, P 0420 03A1, S 0405, T 0422 03A4, X 0425 03A7, Y 0423 03A5, ' +
  'Z 0396, a 0430, c 0441, d 0501, e 0435, h 04BB, i 0456 03B9, j 0458, o 043E 03BF, p 0440 03C1, ' +
  'q 051B, s 0455, v 03BD, w 051D, x 0445, y 0443'

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  LOOKALIKES.split(', ').flatMap((row) => {
    const [latin = '', ...codes] = row.split(' ')
    return codes.map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), latin] as const)
  }),
)

const WORD = /[\p{L}\p{M}\p{N}_]{3,64}/gu
const LATIN = /\p{Script=Latin}/u
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}]/u
const FOREIGN_LETTERS = new RegExp(FOREIGN, 'gu')

/** A Latin abbreviation with a Slavic case ending. */
const DECLINED = /^[A-Z\d]{2,}\p{Script=Cyrillic}{1,3}$/u

/** The word in Latin letters if its other letters are all lookalikes, else null. */
function unmasked(word: string): string | null {
  if (!LATIN.test(word) || DECLINED.test(word)) return null
  const foreign = word.match(FOREIGN_LETTERS)
  if (foreign === null || !foreign.every((letter) => LATIN_OF.has(letter))) return null
  return word.replaceAll(FOREIGN_LETTERS, (letter) => LATIN_OF.get(letter) ?? letter)
}

interface LookalikeWord {
  readonly written: string
  /** In Latin letters. */
  readonly read: string
  /** The lookalike letters, each once. */
  readonly letters: readonly string[]
}

/** The mixed-script words of a text that look Latin, as written and as read. */
export function lookalikeWords(text: string): readonly LookalikeWord[] {
  if (!FOREIGN.test(text)) return []
  return (text.match(WORD) ?? []).flatMap((written) => {
    const read = unmasked(written)
    return read === null ? [] : [{ written, read, letters: [...new Set(written.match(FOREIGN_LETTERS))] }]
  })
}

/** The text as people read it. */
export function withoutLookalikes(text: string): string {
  return lookalikeWords(text).length === 0 ? text : text.replaceAll(WORD, (word) => unmasked(word) ?? word)
}
