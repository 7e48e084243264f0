/**
 * Finds where a text of one tool instructs a model about another tool of the same server. Naming a tool is
 * documentation. An instruction to call it, or not to, is steering.
 */

/**
 * Names that are recognisable in a sentence: of several parts, in quotes, or before “tool”. `list` alone is an ordinary English verb.
 */
const NAMED =
  /(?<quote>[`"'“])(?<quoted>[\w./-]{1,64})[`"'”]|(?<![\w./-])(?<bare>[A-Za-z]\w*(?:[-_./]\w+)+|[a-z]+(?:[A-Z]\w*)+|[A-Za-z]\w{1,63}(?= tool\b))/g

/** The text directly before the name. */
const BEFORE =
  /(?:(?:before|after|prior to|whenever|each time|every time)\s+(?:you\s+)?(?:use|using|call|calling|invoke|invoking|run|running)|(?:instead of|rather than|in place of)(?:\s+(?:using|calling))?|(?:do not|don['’]t|never|must not|avoid|stop)\s+(?:ever\s+)?(?:use|using|call|calling|invoke|invoking|trust|trusting)|(?:always|must|shall|immediately)\s+(?:also\s+|first\s+|then\s+)?(?:use|call|invoke|run))\s+(?:the\s+)?(?:tools?\s+)?$/i

/** The text directly before and after a name, where the call of that tool is the occasion of another one. */
const OCCASION = /(?:when|whenever|once|after|before|if|each time|every time)\s+(?:the\s+)?(?:tools?\s+)?$/i
const CALLED =
  /^(?:\s+tool)?\s+(?:is|was|gets|has been|will be|is about to be)\s+(?:used|called|invoked|run|executed)\b/i

/** The text directly after the name of a tool that is not to be used. */
const DISPARAGED =
  /^(?:\s+tool)?\s+(?:is|was|has been|became)\s+(?:now\s+)?(?:broken|unsafe|insecure|compromised|hacked|unreliable|malicious|dangerous)\b/i

const LONGEST_LEAD = 60

/**
 * The parts of a sentence that steer. `tools` are the names of the server’s tools, `own` is the tool whose text it is.
 */
export function steeringReferences(text: string, tools: ReadonlySet<string>, own: string | null): readonly string[] {
  const found: string[] = []
  for (const match of text.matchAll(NAMED)) {
    const name = match.groups?.['quoted'] ?? match.groups?.['bare'] ?? ''
    if (name === own || !tools.has(name)) continue
    const before = text.slice(Math.max(0, match.index - LONGEST_LEAD), match.index)
    const end = match.index + match[0].length
    const after = text.slice(end, end + LONGEST_LEAD)
    const lead = BEFORE.exec(before)
    if (lead !== null) found.push(`${lead[0]}${match[0]}`)
    const [occasion, called] = [OCCASION.exec(before), CALLED.exec(after)]
    if (occasion !== null && called !== null) found.push(`${occasion[0]}${match[0]}${called[0]}`)
    const disparaged = DISPARAGED.exec(after)
    if (disparaged !== null) found.push(`${match[0]}${disparaged[0]}`)
  }
  return found
}
