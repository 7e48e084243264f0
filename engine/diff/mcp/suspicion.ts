/**
 * Signs that a text of a manifest attacks a model: hidden characters, overriding instructions, secrets and ways to
 * send them out, encoded payloads. They are signs, not proof, and each names its evidence. All patterns are bounded.
 */
import { lookalikeWords, withoutLookalikes } from './lookalikes.ts'
import { FOREIGN_OVERRIDES } from './override-phrases.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { steeringReferences } from './tool-references.ts'

interface Suspicion {
  readonly rule: Extract<McpRuleId, `mcp-text-${string}`>
  /** The evidence, safe to display: it contains no hidden characters. */
  readonly evidence: string
}

/**
 * Characters without a glyph: format and bidi controls, fillers, tags outside flags, runs of variation selectors,
 * control codes. Single variation selectors and joiners are part of emoji and of some scripts.
 */
const HIDDEN =
  /(?!\u200C|\u200D|\p{Variation_Selector})(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]{0,8})\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}{2,}|[\uFFF9-\uFFFB]|[^\P{Cc}\t\n\r]/gu

/** Joiners are letters in some scripts and join emoji. Elsewhere they only hide text. */
const STRAY_JOINER =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{M}\p{Script=Arabic}\p{Script=Syriac}])[\u200C\u200D]/gu

/** Marks that right-to-left text needs. */
const BIDI_MARK = /[\u061C\u200E\u200F]/gu
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u

interface Sign {
  readonly rule: Suspicion['rule']
  readonly pattern: RegExp
  /** True for an instruction that means the opposite, or is optional, after `UNASKED`. */
  readonly isDemand?: boolean
}

/**
 * Text before a verb that forbids it or makes it optional. The verb follows directly or as the last of a list. After
 * “do not forget to”, “never just” or “do not ask, but” it is an instruction.
 */
const UNASKED =
  /\b(?:(?:do|does|must|should|shall|may|can|could|will|need)(?: not|n['’]?t)|cannot|never|not (?:allowed |permitted |supposed )?to|forbidden to|whether to)(?: (?:ever|also|please))?(?:(?: \p{L}{1,20},){0,4} \p{L}{1,20},? or)? $/iu
/** Characters before a verb in which such text is searched. */
const UNASKED_LENGTH = 160

const INSTRUCTIONS = String.raw`(?:instructions?|prompts?|rules?|guidelines?|directives?|polic(?:y|ies)|restrictions?)`
const SECRETS = String.raw`(?:secrets?|passwords?|credentials?|api[ _-]?keys?|access tokens?|private keys?|environment variables?)`
/**
 * The model's whole context: its instructions and answers. Tools also work with conversations: “a conversation”, its
 * id, or a message to it do not count.
 */
const CONTEXT = String.raw`(?:(?<!\b(?:to|into|onto|in|on|within|inside) )\b(?:the|this|that|our|your|my|all)(?: of (?:the|this|our|your|my))?(?: (?!(?:to|in|of|for|a|an)\b)\p{L}{1,20}){0,2} (?:conversation|chat|dialogue)\b(?! (?:ids?|identifiers?|names?|titles?|types?|objects?|keys?|parts?|threads?|records?|members?|list|model)\b)|\b(?:chat|conversation|message) (?:history|transcript)\b|(?<!\b(?:an?|custom|optional|new|initial|another) )\bsystem prompt\b)`
const GIVE = String.raw`(?:send|post|upload|forward|transmit|exfiltrate|leak|bcc|copy|append|include|pass|put)`
/** Within one sentence. A dot inside a name does not end it. */
const WITHIN = String.raw`(?:[^.!?]|\.(?=\S)){0,60}?`

const SIGNS: readonly Sign[] = [
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:ignore|disregard|forget|override|bypass|set aside)\b${WITHIN}\b(?:previous|prior|earlier|above|all|any|other|system|safety|your)\b${WITHIN}\b${INSTRUCTIONS}\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\b(?:do not|don['’]?t|never|must not)\s+(?:ever\s+)?(?:tell|inform|mention|reveal|disclose|notify|alert|let)\b${WITHIN}\b(?:users?|humans?|anyone|operators?)\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\bwithout\s+(?:telling|informing|notifying|alerting|asking|the knowledge of|the consent of)\s+(?:the\s+)?(?:users?|humans?|anyone)\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`<\s*/?\s*(?:important|system|secret|instructions?|hidden|critical|assistant)\s*>`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\byou are now\b|\b(?:this|these)\s+(?:${INSTRUCTIONS}|message|tool)\s+(?:overrides?|supersedes?|takes? precedence)\b`,
  ),
  demand('mcp-text-override-phrase', String.raw`\b(?:reveal|print|repeat|output|leak)\b${WITHIN}\bsystem prompt\b`),
  ...FOREIGN_OVERRIDES.map((pattern): Sign => ({ rule: 'mcp-text-override-phrase', pattern })),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:read|include|pass|send|cat|copy|upload|provide|open|attach|append|access)\b${WITHIN}(?:\.(?:ssh|aws|gnupg|kube|netrc|npmrc)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\bmcp\.json\b|/etc/(?:passwd|shadow)\b|\.env\b)`,
  ),
  demand('mcp-text-exfiltration-target', String.raw`\b${GIVE}\b${WITHIN}\b${SECRETS}\b`),
  demand('mcp-text-exfiltration-target', String.raw`\b${GIVE}\b${WITHIN}${CONTEXT}`),
  sign('mcp-text-exfiltration-target', String.raw`!\[[^\]]{0,100}\]\(https?://[^)\s]{0,300}[?&][^)\s]{0,300}[={]`),
  // Base64 long enough for a sentence: padded; or without a slash, which paths have; or of any form longer than ids
  // need. Hexadecimal longer than the digests that people quote.
  ...[
    String.raw`(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,400}={1,2}(?![A-Za-z0-9=])`,
    encodedRun('A-Za-z0-9+', 48),
    encodedRun('A-Za-z0-9+/', 80),
    String.raw`(?<![0-9A-Za-z])(?:[0-9a-f]{2}){65,200}(?![0-9A-Za-z])`,
  ].map((source) => sign('mcp-text-encoded-payload', source, '')),
  sign(
    'mcp-text-encoded-payload',
    String.raw`(?:\\x[0-9a-f]{2}){12}|(?:\\u[0-9a-f]{4}){12}|(?:%[0-9a-f]{2}){16}|(?:&#x?[0-9a-f]{2,6};){8}`,
  ),
  sign(
    'mcp-text-steers-other-tool',
    String.raw`\b(?:before|after|whenever|each time|prior to)\s+(?:you\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)\s+(?:any|other|all|every|another)\b${WITHIN}\b(?:tools?|functions?|servers?)\b`,
  ),
  sign(
    'mcp-text-steers-other-tool',
    String.raw`\b(?:do not|don['’]?t|never)\s+(?:use|call|invoke|trust)\s+(?:any\s+|the\s+)?other\s+(?:tools?|functions?|servers?)\b`,
  ),
]

/** A run of letters of both cases and digits, at least this long. */
function encodedRun(letters: string, length: number): string {
  const within = `[${letters}]{0,${length - 1}}`
  return `(?=${within}\\d)(?=${within}[a-z])(?=${within}[A-Z])[${letters}]{${length},400}`
}

function sign(rule: Sign['rule'], source: string, flags = 'i'): Sign {
  return { rule, pattern: new RegExp(source, flags) }
}

function demand(rule: Sign['rule'], source: string): Sign {
  return { rule, pattern: new RegExp(source, 'giu'), isDemand: true }
}

/** The first match of a sign in a text. For an instruction, the first one that is not negated. */
function placeOf({ pattern, isDemand }: Sign, text: string): string | undefined {
  if (isDemand !== true) return pattern.exec(text)?.[0]
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const lead = text.slice(Math.max(0, found.index - UNASKED_LENGTH), found.index)
    if (!UNASKED.test(lead)) return found[0]
    // The rest of the sentence may still contain an instruction.
    pattern.lastIndex = found.index + 1
  }
  return undefined
}

/** The owner of a text: the names of all tools of the server, and its own. */
interface TextOwner {
  readonly tools: ReadonlySet<string>
  readonly own: string | null
}

const NOBODY: TextOwner = { tools: new Set(), own: null }

/** The signs in one text, at most one of each kind and pattern. */
export function findSuspicions(text: string, owner: TextOwner = NOBODY): readonly Suspicion[] {
  const shown = text.replaceAll(HIDDEN, '').normalize('NFKC').replaceAll(/\s+/g, ' ')
  const plain = withoutLookalikes(shown)
  return [
    ...hiddenIn(text),
    ...lookalikesIn(shown),
    ...SIGNS.flatMap((one): Suspicion[] => {
      const found = placeOf(one, plain)
      return found === undefined ? [] : [{ rule: one.rule, evidence: quote(found) }]
    }),
    ...steeringReferences(plain, owner.tools, owner.own)
      .slice(0, 1)
      .map((found): Suspicion => ({ rule: 'mcp-text-steers-other-tool', evidence: quote(found) })),
  ]
}

function lookalikesIn(text: string): readonly Suspicion[] {
  const [first] = lookalikeWords(text)
  if (first === undefined) return []
  const codes = first.letters.slice(0, 5).map(nameOf).join(', ')
  return [{ rule: 'mcp-text-lookalike-letters', evidence: `${quote(first.read)} is written with ${codes}` }]
}

function hiddenIn(text: string): readonly Suspicion[] {
  const visible = RIGHT_TO_LEFT.test(text) ? text.replaceAll(BIDI_MARK, '') : text
  const found = [...visible.matchAll(HIDDEN), ...visible.matchAll(STRAY_JOINER)].map(([unit]) => unit)
  const comment = /<!--.{0,200}/s.exec(visible)?.[0]
  if (found.length === 0) {
    return comment === undefined
      ? []
      : [{ rule: 'mcp-text-hidden-characters', evidence: `a comment, ${quote(comment)}` }]
  }
  const names = [...new Set(found)].slice(0, 5).map(nameOf)
  const spelled = decodeTags(found)
  const meaning = spelled === '' ? '' : `, spelling ${quote(spelled)}`
  return [{ rule: 'mcp-text-hidden-characters', evidence: `${found.length} of ${names.join(', ')}${meaning}` }]
}

/** Tag characters mirror ASCII: they can encode a whole sentence. */
function decodeTags(units: readonly string[]): string {
  return units
    .map(codeOf)
    .filter((code) => code >= 0xe0020 && code <= 0xe007e)
    .map((code) => String.fromCodePoint(code - 0xe0000))
    .join('')
}

function nameOf(unit: string): string {
  return `U+${codeOf(unit).toString(16).toUpperCase().padStart(4, '0')}`
}

function codeOf(unit: string): number {
  return unit.codePointAt(0) ?? 0
}

const LONGEST_QUOTE = 120

function quote(text: string): string {
  const shown = text.replaceAll(HIDDEN, '').replaceAll(/\s+/g, ' ').trim()
  return `“${shown.length <= LONGEST_QUOTE ? shown : `${shown.slice(0, LONGEST_QUOTE).toWellFormed()}…`}”`
}
