/**
 * Finds words that mix scripts with lookalike letters: people and programs read them differently. Only letters that look
 * like Latin ones count. A word of a single script is accepted.
 */

/** Latin letters, each with its lookalikes (confusables of Unicode UTS #39): Cyrillic, Greek, Armenian and Cherokee. */
const LOOKALIKES =
  'A 0410 0391 13AA, B 0412 0392 13F4, C 0421 13DF, D 13A0, E 0415 0395 13AC, G 13C0, H 041D 0397 13BB, I 0406 0399 13C6, ' +
  'J 0408 13AB, K 041A 039A 13E6, L 13DE, M 041C 039C 13B7, N 039D, O 041E 039F 0555, P 0420 03A1 13E2, R 13A1 13D2, ' +
  'S 0405 13DA 054F, T 0422 03A4 13A2, U 054D, V 13D9, W 13B3, X 0425 03A7, Y 0423 03A5 13A9, Z 0396 13C3, ' +
  'a 0430, c 0441, d 0501, e 0435, g 0581, h 04BB 0570, i 0456 03B9, j 0458, l 04CF, n 0578, o 043E 03BF 0585, ' +
  'p 0440 03C1, q 051B 0566, s 0455, u 057D, v 03BD, w 051D 0561, x 0445, y 0443'

/** Phonetic letters and small capitals, which are Latin letters themselves. */
const LATIN_LOOKALIKES =
  'a 0251 1D00, b 0299, c 1D04, d 1D05, e 1D07, g 0261 0262, h 029C, i 026A, j 1D0A, k 1D0B, l 029F, m 1D0D, n 0274, ' +
  'o 1D0F, p 1D18, r 0280, s A731, t 1D1B, u 1D1C, v 1D20, w 1D21, y 028F, z 1D22'

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  `${LOOKALIKES}, ${LATIN_LOOKALIKES}`.split(', ').flatMap((row) => {
    const [latin = '', ...codes] = row.split(' ')
    return codes.map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), latin] as const)
  }),
)

const WORD = /[\p{L}\p{M}\p{N}_]{3,64}/gu
const LATIN = /\p{Script=Latin}/u
const PHONETIC = '[\u0250-\u02AF\u1D00-\u1D22\uA731]'
const FOREIGN = new RegExp(
  `[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Armenian}\\p{Script=Cherokee}]|${PHONETIC}`,
  'u',
)
const FOREIGN_LETTERS = new RegExp(FOREIGN, 'gu')
const HAS_PHONETIC = new RegExp(PHONETIC, 'u')

/** A Latin abbreviation with a Slavic case ending. */
const DECLINED = /^[A-Z\d]{2,}\p{Script=Cyrillic}{1,3}$/u

/** The word in Latin letters if its other letters are all lookalikes, else null. */
function unmasked(word: string): string | null {
  if (!LATIN.test(word) || DECLINED.test(word)) return null
  const foreign = word.match(FOREIGN_LETTERS)
  if (foreign === null || !foreign.every((letter) => LATIN_OF.has(letter))) return null
  const read = word.replaceAll(FOREIGN_LETTERS, (letter) => LATIN_OF.get(letter) ?? letter)
  // Phonetic spellings are short, or have letters that are not ASCII and look like none.
  return HAS_PHONETIC.test(word) && !/^\w{5,}$/.test(read) ? null : read
}

/** A text with the Latin letter in place of each one that looks like it, whatever the script of its word. */
export function inLatinLetters(text: string): string {
  return text.replaceAll(FOREIGN_LETTERS, (letter) => LATIN_OF.get(letter) ?? letter)
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
