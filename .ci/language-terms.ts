// The words that the project does not use, and what it writes instead. One row a phrase; add a row when a picture creeps in.

/** A phrase of prose. `pattern` is searched in text without code spans. */
export interface BannedPhrase {
  pattern: RegExp
  instead: string
}

export const banned: readonly BannedPhrase[] = [
  { pattern: /\broads?\b(?!map)/i, instead: 'traffic path, or the name of the listener' },
  { pattern: /\b(?<!round[- ])trips?\b/i, instead: 'request, or request context' },
  { pattern: /\btravell?(?:s|ed|ing)?\b/i, instead: 'is sent, is carried' },
  {
    pattern: /\b(?:is|are|was|were|be|been|being|what it) told\b|\btold (?:apart|of|by)\b/i,
    instead: 'is reported, contains, distinguished',
  },
  { pattern: /\btells? (?:of|apart)\b|\btelling of\b/i, instead: 'reports, names, distinguishes' },
  { pattern: /\bspeaks? (?:of|for)\b/i, instead: 'contains, names, stands for' },
  { pattern: /\bwhat came of\b|\bwhat becomes of\b|\bcomes? to nothing\b/i, instead: 'the outcome of; fails' },
  { pattern: /\bunless told\b/i, instead: 'by default' },
  { pattern: /\bno telling\b/i, instead: 'unknown, cannot be determined' },
  { pattern: /\btells? (?:an?|it|one|\w+s?) (?:\w+ ){0,3}from (?:an?|its|one)\b/i, instead: 'distinguishes' },
  { pattern: /\bheld against (?:each other|one another)\b/i, instead: 'compared' },
  { pattern: /['’]s business\b/i, instead: 'is handled by' },
  { pattern: /\b(?:is|are) there and (?:is|are) no\b/i, instead: 'is not a' },
  { pattern: /\bwithout a word\b|\ba word on\b/i, instead: 'silently, without notice; a report' },
  { pattern: /\w, say[.,;]/i, instead: 'for example' },
  { pattern: /\bputs? together\b/i, instead: 'composes, composed of' },
  { pattern: /\bat the (?:most|least)\b/i, instead: 'at most, at least, maximum, minimum' },
  { pattern: /\bunder watch\b/i, instead: 'monitored' },
  { pattern: /\bin the open\b(?! \w)/i, instead: 'plaintext' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix' },
  {
    pattern:
      /\b(?:of one's|by its|gives? its|word(?:s)? (?:is|are) (?:given|kept))\b word\b|\bword given\b|\bheld calls?\b|\bwaiting rooms?\b/i,
    instead: 'approval decision, pending call',
  },
  { pattern: /\bsettlements?\b|\bsettled?s?\b|\bsettling\b/i, instead: 'enforcement result, decide, complete' },
  { pattern: /\bpassages?\b/i, instead: 'enforcement result, forward' },
  { pattern: /\barrivals?\b/i, instead: 'connection, request' },
  { pattern: /\bspelling of (?:a |the )?path\b/i, instead: 'path ambiguity, form of the path' },
  {
    pattern: /\bnowadays\b|\bhitherto\b|\bthereof\b|\bthereby\b|\bwhence\b|\bhence\b|\bnought\b|\bakin\b|\bkin\b/i,
    instead: 'a plain word',
  },
  { pattern: /\bis nobody's\b|\bon (?:one's|its) own account\b|\bfor good\b/i, instead: 'a plain statement' },
  { pattern: /\bof what (?:is|was|it)\b/i, instead: 'the noun that is meant' },
  { pattern: /\bstands? for itself\b|\bstands? (?:where|there|beside)\b/i, instead: 'is, is next to' },
  { pattern: /\b(?:hears?|heard) of\b/i, instead: 'receive, is notified of, know' },
  { pattern: /\bno less than\b|\bnothing but\b|\bnone other\b|\bnot one\b(?! of)/i, instead: 'only, at least, no' },
  { pattern: /\bthat is over\b|\bis over\b/i, instead: 'has ended' },
  {
    pattern: /\ba good deal\b|\bby and by\b|\bever so\b|\bin one go\b|\bat once\b/i,
    instead: 'immediately, together, in one step',
  },
]

/** Words that no declared name contains, each with the term that replaces it. */
export const bannedNameWords: ReadonlyMap<string, string> = new Map([
  ['road', 'trafficPath, listener'],
  ['entrance', 'trafficPath, listener'],
  ['entrances', 'listeners'],
  ['roads', 'trafficPaths, listeners'],
  ['trip', 'request, context'],
  ['trips', 'requests'],
  ['travel', 'carry'],
  ['told', 'reported'],
  ['tell', 'report'],
  ['tells', 'reports'],
  ['telling', 'report'],
  ['say', 'report'],
  ['says', 'reports'],
  ['said', 'message, text'],
  ['saying', 'message'],
  ['speak', 'name'],
  ['mend', 'fix'],
  ['mended', 'fixed'],
  ['settle', 'complete, decide'],
  ['settled', 'completed'],
  ['settlement', 'enforcementResult'],
  ['passage', 'forward'],
  ['arrival', 'connection'],
  ['asking', 'request'],
  ['halting', 'refusing'],
  ['watched', 'monitored'],
])
