/**
 * Signs that a text of a manifest attacks a model: hidden characters, overriding instructions, secrets and ways to
 * send them out, encoded payloads. They are signs, not proof, and each names its evidence. All patterns are bounded.
 */
import { otherReadings } from './encoded-texts.ts'
import { lookalikeWords, withoutLookalikes } from './lookalikes.ts'
import { matchedText, SIGNS, type Sign, type TextRuleId } from './signs.ts'
import { steeringReferences } from './tool-references.ts'

interface Suspicion {
  readonly rule: TextRuleId
  /** The evidence, safe to display: it contains no hidden characters. */
  readonly evidence: string
}

/**
 * Characters without a glyph: format and bidi controls, fillers, tags outside flags, runs of variation selectors,
 * control codes. Single variation selectors and joiners are part of emoji and of some scripts.
 */
const HIDDEN =
  /(?!\u200C|\u200D|\p{Variation_Selector})(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]{0,8})\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}{2,}|[\uFFF9-\uFFFB]|[^\P{Cc}\t\n\r]/gu

/** A comment in HTML, or a link in Markdown that is defined for nothing: readers of the page do not see either. */
const COMMENT = /<!--.{0,200}|\[(?:\/\/|comment|#|_)[^\]]{0,20}\]:[ \t]{0,4}(?:#|<>).{0,200}/is

/** Joiners are letters in some scripts and join emoji. Elsewhere they only hide text. */
const STRAY_JOINER =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{M}\p{Script=Arabic}\p{Script=Syriac}])[\u200C\u200D]/gu

/** Marks that right-to-left text needs. */
const BIDI_MARK = /[\u061C\u200E\u200F]/gu
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u

/** The owner of a text: the names of all tools of the server, and its own. */
interface TextOwner {
  readonly tools: ReadonlySet<string>
  readonly own: string | null
}

const NOBODY: TextOwner = { tools: new Set(), own: null }

/** The signs in one text, at most one of each kind and pattern. */
export function findSuspicions(text: string, owner: TextOwner = NOBODY): readonly Suspicion[] {
  const shown = shownText(text)
  const plain = withoutLookalikes(shown)
  const words = plain.includes(' ') ? plain : wordsOfName(plain)
  const encoded = otherReadings(text).map(shownText)
  return [
    ...hiddenIn(text),
    ...lookalikesIn(shown),
    ...SIGNS.flatMap((one): Suspicion[] => {
      const found = matchedText(one, plain) ?? (one.isOfNames === true ? matchedText(one, words) : undefined)
      const hidden = found === undefined ? firstMatch(one, encoded) : undefined
      if (hidden !== undefined) return [{ rule: one.rule, evidence: `${quote(hidden)}, in another form` }]
      return found === undefined ? [] : [{ rule: one.rule, evidence: quote(found) }]
    }),
    ...steeringReferences(plain, owner.tools, owner.own)
      .slice(0, 1)
      .map((found): Suspicion => ({ rule: 'mcp-text-steers-other-tool', evidence: quote(found) })),
  ]
}

function shownText(text: string): string {
  return text.replaceAll(HIDDEN, '').normalize('NFKC').replaceAll(/\s+/g, ' ')
}

/** The first match in one of several readings of a text: only phrases count that a harmless text does not encode. */
function firstMatch(one: Sign, readings: readonly string[]): string | undefined {
  if (one.rule === 'mcp-text-encoded-payload') return undefined
  return readings.map((reading) => matchedText(one, reading)).find((found) => found !== undefined)
}

/** `readIdRsa` and `read-id_rsa` are `read id rsa`. */
function wordsOfName(name: string): string {
  return name.replaceAll(/[_-]+|(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ').toLowerCase()
}

function lookalikesIn(text: string): readonly Suspicion[] {
  const [first] = lookalikeWords(text)
  if (first === undefined) return []
  const codes = first.letters.slice(0, 5).map(codePointLabel).join(', ')
  return [{ rule: 'mcp-text-lookalike-letters', evidence: `${quote(first.read)} is written with ${codes}` }]
}

function hiddenIn(text: string): readonly Suspicion[] {
  const visible = RIGHT_TO_LEFT.test(text) ? text.replaceAll(BIDI_MARK, '') : text
  const found = [...visible.matchAll(HIDDEN), ...visible.matchAll(STRAY_JOINER)].map(([unit]) => unit)
  const comment = COMMENT.exec(visible)?.[0]
  if (found.length === 0) {
    return comment === undefined
      ? []
      : [{ rule: 'mcp-text-hidden-characters', evidence: `a comment, ${quote(comment)}` }]
  }
  const names = [...new Set(found)].slice(0, 5).map(codePointLabel)
  const spelled = decodeTags(found)
  const meaning = spelled === '' ? '' : `, spelling ${quote(spelled)}`
  return [{ rule: 'mcp-text-hidden-characters', evidence: `${found.length} of ${names.join(', ')}${meaning}` }]
}

/** Tag characters mirror ASCII: they can encode a whole sentence. */
function decodeTags(units: readonly string[]): string {
  return units
    .map(codePointOf)
    .filter((code) => code >= 0xe0020 && code <= 0xe007e)
    .map((code) => String.fromCodePoint(code - 0xe0000))
    .join('')
}

function codePointLabel(unit: string): string {
  return `U+${codePointOf(unit).toString(16).toUpperCase().padStart(4, '0')}`
}

function codePointOf(unit: string): number {
  return unit.codePointAt(0) ?? 0
}

const LONGEST_QUOTE = 120

function quote(text: string): string {
  const shown = text.replaceAll(HIDDEN, '').replaceAll(/\s+/g, ' ').trim()
  return `“${shown.length <= LONGEST_QUOTE ? shown : `${shown.slice(0, LONGEST_QUOTE).toWellFormed()}…`}”`
}
