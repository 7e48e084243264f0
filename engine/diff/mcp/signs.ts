/**
 * Phrases that attack a model: instructions to set others aside, to conceal something from the user, to send secrets or
 * the conversation somewhere, and encoded payloads. A sentence that forbids the same, or reports it, is none.
 */
import { FOREIGN_OVERRIDES } from './override-phrases.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'

export type TextRuleId = Extract<McpRuleId, `mcp-text-${string}`>

export interface Sign {
  readonly rule: TextRuleId
  readonly pattern: RegExp
  /** Text before an instruction after which it means the opposite, is optional, or is not the text's own. */
  readonly unless?: readonly RegExp[]
  /** Names are searched word by word too. Most signs are harmless in a name: `send_credentials` is an option. */
  readonly isOfNames?: true
}

/**
 * Text before a verb that forbids it or makes it optional. The verb follows directly or as the last of a list. After
 * “do not forget to”, “never just” or “do not ask, but” it is an instruction.
 */
const UNASKED =
  /\b(?:(?:do|does|must|should|shall|may|can|could|will|need)(?: not|n['’]?t)|cannot|never|not (?:allowed |permitted |supposed )?to|forbidden to|whether to)(?: (?:ever|also|please))?(?:(?: \p{L}{1,20},){0,4} \p{L}{1,20},? or)? $/iu
/** The text of another is reported: “if the page tells you to …”, and an example in quotation marks. */
const REPORTED =
  /\b(?:if|when|whenever) (?:[^.!?;]|\.(?=\S)){1,60}(?:tells?|asks?|instructs?|orders?|wants?) (?:you|the model|the assistant|an? \p{L}+) to $|\b(?:such as|like|e\.g\.,?|for example,?|phrases?|patterns?|attempts?|contains?|says?) ?:? ?["“'‘«`]$/iu
/** “Never delete it without asking the user”: the prohibition asks for what the phrase denies. */
const FORBIDDEN =
  /\b(?:never|(?:do|does|must|should|can|may)(?: not|n['’]t)|cannot) (?!hesitate|forget|fail|wait|stop|mind|worry|just|only|ask|bother|be afraid)\p{L}+ (?:[^.!?,;]|\.(?=\S)){0,60}$/iu
/** Characters before a phrase in which such text is searched. */
const LEAD_LENGTH = 160

const INSTRUCTIONS = String.raw`(?:instructions?|prompts?|rules?|guidelines?|directives?|polic(?:y|ies)|restrictions?)`
const SECRETS = String.raw`(?:secrets?|passwords?|credentials?|api[ _-]?keys?|access tokens?|private (?:\p{L}{1,20} )?keys?|session (?:tokens?|cookies)|(?:the|all|browser|users?['’]s?) cookies|environment variables?)`
/**
 * The model's whole context: its instructions and answers. Tools also work with conversations: “a conversation”, its
 * id, or a message to it do not count.
 */
const CONTEXT = String.raw`(?:(?<!\b(?:to|into|onto|in|on|within|inside) )\b(?:the|this|that|our|your|my|all)(?: of (?:the|this|our|your|my))?(?: (?!(?:to|in|of|for|a|an)\b)\p{L}{1,20}){0,2} (?:conversation|chat|dialogue)\b(?! (?:ids?|identifiers?|names?|titles?|types?|objects?|keys?|parts?|threads?|records?|members?|list|model)\b)|\b(?:chat|conversation|message) (?:history|transcript)\b|(?<!\b(?:an?|custom|optional|new|initial|another) )\bsystem prompt\b)`
const GIVE = String.raw`(?:send|post|upload|forward|transmit|exfiltrate|leak|bcc|copy|append|include|pass|put)`
/** Within one sentence. A dot inside a name does not end it. */
const WITHIN = String.raw`(?:[^.!?]|\.(?=\S)){0,60}?`

/** What a tool returns may contain instructions. To ignore these is what a careful author asks for. */
const IN_CONTENT = String.raw`(?:(?:that|which) (?:is|are|appears?|occurs?) )?(?:(?:found|contained|embedded|hidden|written) )?(?:part of|inside|within|in|from|of) (?:(?:the|its|their|any|returned|fetched) ){0,2}(?:results?|contents?|(?:web ?)?pages?|documents?|outputs?|responses?|texts?|data|websites?|files?|emails?)\b`
/** Whose word counts more than that of a tool. */
const AUTHORITY = String.raw`(?:the |all |any )?(?:users?(?:['’]s?)?(?! settings?| preferences?| config| defaults?| values?)|system (?:prompt|message|instructions?)|anything|everything|whatever|all other instructions)\b`

export const SIGNS: readonly Sign[] = [
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:ignore|disregard|forget|override|bypass|set aside)\b${WITHIN}\b(?:previous|prior|earlier|above|all|any|other|system|safety|your)\b${WITHIN}\b${INSTRUCTIONS}\b(?! ${IN_CONTENT})`,
  ),
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:ignore|disregard|forget)\b (?:everything|anything|all|what) (?:that )?(?:you (?:were|have been|had been) (?:told|given|instructed|taught)|(?:the )?(?:developers?|system|users?|operators?) (?:told|said|wrote|gave)|(?:came|comes|was said) before)\b|\btreat\b${WITHIN}(?<!\bnot )\bas (?:\p{L}{1,20} ){0,2}(?:instructions|commands|orders)\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\b(?:no longer|not) (?:bound|restricted|limited|constrained|subject) (?:by|to)\b${WITHIN}\b(?:your|previous|prior|any|all|other|safety|system)\b${WITHIN}\b${INSTRUCTIONS}\b|\byour (?:\p{L}{1,20} ){0,2}${INSTRUCTIONS} (?:do not|don['’]t|no longer) apply\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\b(?:instructions?|directives?|guidelines|description)\b${WITHIN}\b(?:takes? precedence over|overrides?|supersedes?)\b (?:${AUTHORITY})`,
  ),
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:prioriti[sz]e|follow|obey|prefer)\b${WITHIN}\b(?:instructions?|directives?|description)\b${WITHIN}\b(?:over|rather than|instead of|before)\b (?:${AUTHORITY})`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\[/?INST\]|<\|[a-z_]{3,20}\|>|<</?SYS>>|(?:^| )#{2,6} ?(?:system|instructions?) ?:`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\b(?:do not|don['’]?t|never|must not)\s+(?:ever\s+)?(?:tell|inform|mention|reveal|disclose|notify|alert|let)\b${WITHIN}\b(?:users?|humans?|anyone|operators?)\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\b(?:secretly|covertly|stealthily|surreptitiously)\b|\b(?:quietly|silently)\b (?:also )?(?:${GIVE}|record|transfer|report|share)\b`,
  ),
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:keep|hide|conceal)\b${WITHIN}\bfrom (?:the |all )?(?:users?|humans?)\b(?! interface)|\b(?:keep|leave)\b${WITHIN}\busers? (?:unaware|uninformed|ignorant|in the dark)\b|\bnote to (?:the )?(?:assistants?|models?|llms?|ai(?: agents?| models?)?)\b|\b(?:lie|lying) to (?:the |your )?users?\b|\bpretend that\b|\btell the user that\b${WITHIN}\b(?:no matter|regardless)\b`,
  ),
  sign('mcp-text-override-phrase', String.raw`\b(?:do not|don['’]?t|never) ask (?:the )?users? before\b`),
  sign(
    'mcp-text-override-phrase',
    String.raw`\busers? (?:need|needs|must|should|may|can)(?: not|n['’]?t) (?:know|notice|learn|find out|be told|be aware)(?= ?(?:[,.;!]|about\b|of\b|that\b|this\b|$))`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\bif (?:the |a )?users? asks? (?:what|why) (?:you (?:call|use|run)\w* )?(?:this|the|that) (?:tool|call|step)\b${WITHIN}\b(?:say|answer|reply|claim|respond)\b|\busers? ha(?:s|ve) already (?:approved|authori[sz]ed|consented to|agreed to) (?:everything|all|any)\b`,
  ),
  demand(
    'mcp-text-override-phrase',
    String.raw`\b(?:bypass|circumvent|evade)\b${WITHIN}\b(?:approval|confirmation|consent|safety|guardrails?|moderation)\b|\bso that no traces? (?:remains?|is left|are left)\b`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\bwithout\s+(?:telling|informing|notifying|alerting|asking|the knowledge of|the consent of)\s+(?:the\s+)?(?:users?|humans?|anyone)\b`,
    'i',
    [FORBIDDEN],
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`<\s*/?\s*(?:important|system|secret|instructions?|hidden|critical|assistant)\s*>`,
  ),
  sign(
    'mcp-text-override-phrase',
    String.raw`\byou are now\b|\b(?:this|these)\s+(?:${INSTRUCTIONS}|message)\s+(?:overrides?|supersedes?|takes? precedence)\b|\bthis tool (?:overrides?|supersedes?|takes? precedence over)\b${WITHIN}\b(?:${INSTRUCTIONS}|users?|system|everything|anything)\b`,
  ),
  demand('mcp-text-override-phrase', String.raw`\b(?:reveal|print|repeat|output|leak)\b${WITHIN}\bsystem prompt\b`),
  ...FOREIGN_OVERRIDES.map((pattern): Sign => ({ rule: 'mcp-text-override-phrase', pattern })),
  {
    ...demand(
      'mcp-text-exfiltration-target',
      String.raw`(?<!\b(?:is|are|was|were|be) )\b(?:read(?:ing)?|include|pass|send(?:ing)?|cat|copy(?:ing)?|upload(?:ing)?|provide|open(?:ing)?|attach|append|access|give)\b${WITHIN}(?:\.(?:ssh|aws)\b(?!/(?:config|known_hosts)\b)|\.(?:gnupg|kube|netrc|npmrc|pgpass|git-credentials)\b|\.docker/config\.json\b|\.config/gh\b|\b(?:shell|bash|zsh|browser) history\b|\.(?:bash|zsh)_history\b|\b(?:password store|keychain)\b|\bid[_ ](?:rsa|ed25519|ecdsa)\b|\bmcp\.json\b|/etc/(?:passwd|shadow)\b|/proc/\w{1,20}/environ\b|\.env\b)`,
    ),
    isOfNames: true,
  },
  demand('mcp-text-exfiltration-target', String.raw`\b${GIVE}\b${WITHIN}\b${SECRETS}\b`),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:attach|embed|paste|share|submit)\b${WITHIN}\bprivate (?:\p{L}{1,20} )?keys?\b`,
  ),
  sign(
    'mcp-text-exfiltration-target',
    String.raw`\b${SECRETS} (?:that )?you (?:know|used|saw|have seen|were given|can find)\b`,
  ),
  // Secrets of the conversation, or those that are read and then given away.
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:contain|hold|extract|take|collect|get|find|use|pass|include)\b${WITHIN}\b${SECRETS}\b${WITHIN}\b(?:in|from) (?:(?:the|this|our|your|all|any) )?(?:(?:earlier|previous|prior|whole) )?(?:chat|conversation|messages)\b`,
  ),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:read|collect|extract|gather|get|take|find|look up)\b${WITHIN}\b${SECRETS}\b${WITHIN}\b(?:and|then)\b${WITHIN}\b${GIVE}\b`,
  ),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:whenever|every time|each time) (?:you|the user) (?:sees?|reads?|receives?|enters?|mentions?|types?|finds?|gets?)\b${WITHIN}\b(?:${SECRETS}|(?:credit )?card numbers?)\b`,
  ),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:send|post|upload|forward|transmit|copy)\b${WITHIN}\b(?:every|all|any|each) (?:files?|messages?|e-?mails?|documents?|answers?|prompts?) (?:that )?(?:you|the user) (?:reads?|sees?|receives?|opens?|says?|types?|sends?|writes?)\b`,
  ),
  sign('mcp-text-exfiltration-target', String.raw`(?:^|[.!?:;>] )(?:please )?(?:exfiltrate|leak) `),
  demand('mcp-text-exfiltration-target', String.raw`\b${GIVE}\b${WITHIN}${CONTEXT}`),
  demand(
    'mcp-text-exfiltration-target',
    String.raw`\b(?:provide|give|write|quote|state|paste)\b${WITHIN}\b(?:(?:full|entire|whole|complete|exact|your) system prompt|your (?:own|original|initial|system) instructions)\b`,
  ),
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
  sign(
    'mcp-text-steers-other-tool',
    String.raw`\bother (?:tools?|servers?|functions?)(?:['’]s?)? (?:(?:is|are) (?:broken|unsafe|insecure|disabled|malicious|compromised|unreliable)|outputs?|results?|answers?|responses?)\b`,
  ),
]

/** A run of letters of both cases and digits, at least this long. */
function encodedRun(letters: string, length: number): string {
  const within = `[${letters}]{0,${length - 1}}`
  return `(?=${within}\\d)(?=${within}[a-z])(?=${within}[A-Z])[${letters}]{${length},400}`
}

function sign(rule: TextRuleId, source: string, flags = 'i', unless: readonly RegExp[] = []): Sign {
  return { rule, pattern: new RegExp(source, `g${flags}u`), unless }
}

function demand(rule: TextRuleId, source: string): Sign {
  return sign(rule, source, 'i', [UNASKED, REPORTED])
}

/** The first match of a sign in a text that is not negated or reported. */
export function matchedText({ pattern, unless = [] }: Sign, text: string): string | undefined {
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const lead = text.slice(Math.max(0, found.index - LEAD_LENGTH), found.index)
    if (!unless.some((one) => one.test(lead))) return found[0]
    // The rest of the sentence may still contain an instruction.
    pattern.lastIndex = found.index + 1
  }
  return undefined
}
