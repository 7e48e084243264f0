/**
 * Reads YAML 1.2 text into plain values: the core schema, so dates stay strings, with merge keys, which common tools
 * support. Aliases stay shared references. Their expansion is computed, never built.
 */
import { constructFromEvents, CORE_SCHEMA, defineMappingTag, EVENT_ID, mapTag, mergeTag, YAMLException } from 'js-yaml'
import { fail, ok, type Problem, type Result } from '../common/result.ts'
import { measureGraph } from './graph.ts'
import type { DocumentLimits } from '../model/limits.ts'
import { locator, positionAt, type Locate, type Position } from './positions.ts'
import { findUnrepresentable, mayHoldLoneSurrogates } from './representable.ts'
import { firstAt, overLimit, tooLargeToParse, unreadable } from './unreadable.ts'
import { contractAmbiguity, objectAmbiguity } from './yaml-ambiguity.ts'
import { parseYaml, type Continuation, type ParsedYaml } from './yaml-layout.ts'
import { placeYaml, placeYamlStream } from './yaml-positions.ts'

interface YamlReading {
  readonly root: unknown
  readonly locate: Locate
}

/** Parsers disagree on the string form of a null key: `null` or the empty string. */
const mapWithoutNullKeys = defineMappingTag(mapTag.tagName, {
  create: mapTag.create,
  identify: mapTag.identify,
  has: mapTag.has,
  keys: mapTag.keys,
  get: mapTag.get,
  addPair: (members, key, value) => (key === null ? 'a mapping has an empty key' : mapTag.addPair(members, key, value)),
})

const SCHEMA = CORE_SCHEMA.withTags(mergeTag, mapWithoutNullKeys)

/** Reads one YAML document. The problem names the first fault with its line and column. */
export function readYaml(text: string, limits: DocumentLimits): Result<YamlReading> {
  const parsed = parseDocuments(text, limits)
  if (!parsed.ok) return parsed
  const documents = countDocuments(parsed.value)
  if (documents !== 1) return fail(notOneDocument(documents))
  return readParsed(text, parsed.value, limits, false)
}

/** Reads a stream of YAML documents: a single one is returned as is, several as a list. */
export function readYamlStream(text: string, limits: DocumentLimits, continuation?: Continuation): Result<YamlReading> {
  const parsed = parseDocuments(text, limits, continuation)
  if (!parsed.ok) return parsed
  const documents = countDocuments(parsed.value)
  if (documents === 0) return fail(notOneDocument(documents))
  return readParsed(text, parsed.value, limits, documents > 1)
}

/** The first ambiguity of a YAML object, or null. For objects that another program stores, nothing may be ambiguous. */
export function yamlObjectProblem(text: string, limits: DocumentLimits): string | null {
  const parsed = parseDocuments(text, limits)
  if (!parsed.ok) return parsed.problem.message
  const ambiguity = objectAmbiguity(parsed.value)
  if (ambiguity === null) return null
  const { line, column } = positionAt(text, ambiguity.offset)
  return `${ambiguity.what} (line ${line}, column ${column})`
}

function countDocuments({ events }: ParsedYaml): number {
  return events.filter((event) => event.type === EVENT_ID.DOCUMENT).length
}

function readParsed(text: string, parsed: ParsedYaml, limits: DocumentLimits, isStream: boolean): Result<YamlReading> {
  const ambiguity = contractAmbiguity(parsed)
  if (ambiguity !== null)
    return fail(
      unreadable(ambiguity.what, {
        position: positionAt(text, ambiguity.offset),
        fix: 'Write true, false, a plain number or a text in quotes, and merge keys before all others.',
      }),
    )
  const constructed = construct(text, parsed, limits)
  if (!constructed.ok) return constructed
  const root: unknown = isStream ? constructed.value : constructed.value[0]
  const place = isStream ? placeYamlStream : placeYaml
  const reading = { root, locate: locator(text, () => place(parsed)) }
  const problem =
    findGraphFault(reading, limits) ??
    findUnsayable(reading, text) ??
    findOldBreaks(reading, text, limits) ??
    findMarks(reading, text, limits)
  return problem === null ? ok(reading) : fail(problem)
}

/** Line breaks of YAML 1.1 that are ordinary characters in YAML 1.2: NEL, line and paragraph separator. */
const OLD_BREAKS = /[\u0085\u2028\u2029]/
const ANY_BLANKS = /[\s\u0085]+/g

/**
 * Some readers skip it at the beginning of a line, others read a character. At the start of the text it is a byte
 * order mark for all.
 */
const MARK_IN_LINE = /(?<=[\r\n][ \t]*)\uFEFF|(?<!^)\uFEFF(?=\uFEFF|---)/
const MARKS = /\uFEFF/g

function findMarks({ root }: YamlReading, text: string, limits: DocumentLimits): Problem | null {
  if (!MARK_IN_LINE.test(text)) return null
  const other = readYamlStream(text.replaceAll(MARKS, ''), limits, 'any')
  if (other.ok && JSON.stringify(root) === JSON.stringify(other.value.root)) return null
  return unreadable('a line begins with a byte order mark (U+FEFF), which some readers skip and others read', {
    position: positionAt(text, text.search(MARK_IN_LINE)),
    fix: 'Remove it.',
  })
}

/** In a comment or between tokens, YAML 1.1 readers see other members. Within a scalar they see a blank. */
function findOldBreaks({ root }: YamlReading, text: string, limits: DocumentLimits): Problem | null {
  if (!OLD_BREAKS.test(text)) return null
  const other = readYamlStream(text.replaceAll(new RegExp(OLD_BREAKS, 'g'), '\n'), limits, 'any')
  if (other.ok && sameButBlanks(root) === sameButBlanks(other.value.root)) return null
  return unreadable('it holds a line break that YAML 1.1 has and YAML 1.2 has not (U+0085, U+2028 or U+2029)', {
    fix: 'Write a plain line break, or the escape in a quoted text: readers disagree on what follows it.',
  })
}

function sameButBlanks(root: unknown): string {
  return JSON.stringify(root, (_name, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(ANY_BLANKS, ' ').trim() : value,
  )
}

/** Bytes of an event of the parser. Most lines, brackets and items begin or end two. */
const EVENT_BYTES = 120
const [LINE_FEED, SPACE, COMMA, DASH, BRACKET, BRACE] = [10, 32, 44, 45, 91, 123]

/** The parser keeps a list of all events. The process ends when that list cannot grow, whatever limit its thread has. */
function excessOf(text: string, { maxParsedBytes, maxParts }: DocumentLimits): Problem | null {
  if (maxParsedBytes === undefined && maxParts === undefined) return null
  const events = estimatedEvents(text)
  if (maxParts !== undefined && events > 2 * maxParts)
    return overLimit(`it holds more than ${maxParts} lines, brackets and items; split it`)
  return maxParsedBytes !== undefined && events * EVENT_BYTES > maxParsedBytes ? tooLargeToParse() : null
}

function estimatedEvents(text: string): number {
  let events = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === COMMA) events += 1
    else if (unit === LINE_FEED || unit === BRACKET || unit === BRACE) events += 2
    else if (unit === DASH && text.charCodeAt(index + 1) === SPACE) events += 2
  }
  return events
}

function parseDocuments(text: string, limits: DocumentLimits, continuation?: Continuation): Result<ParsedYaml> {
  const excess = excessOf(text, limits)
  if (excess !== null) return fail(excess)
  try {
    // The parser counts scalars as levels too, so it only bounds the stack here. The graph is measured afterwards with
    // aliases followed.
    return ok(withoutBlankEnd(parseYaml(text, limits.maxDepth + 2, continuation)))
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return fail(yamlProblem(error, text, limits, (offset) => offset))
  }
}

/** Every reader takes a final separator without content for the end of the document before it. */
function withoutBlankEnd(parsed: ParsedYaml): ParsedYaml {
  const { events } = parsed
  let end = events.length
  while (end > BLANK_DOCUMENT && isBlank(events[end - 2]) && events[end - 3]?.type === EVENT_ID.DOCUMENT) {
    end -= BLANK_DOCUMENT
  }
  return end === events.length ? parsed : { ...parsed, events: events.slice(0, end) }
}

/** The events of a blank document: start, empty scalar, end. */
const BLANK_DOCUMENT = 3

function isBlank(event: ParsedYaml['events'][number] | undefined): boolean {
  return event?.type === EVENT_ID.SCALAR && event.valueStart === -1 && event.tagStart === -1 && event.anchorStart === -1
}

function construct(text: string, parsed: ParsedYaml, limits: DocumentLimits): Result<readonly unknown[]> {
  const { events, source } = parsed
  try {
    return ok(constructFromEvents(events, { source, schema: SCHEMA, maxAliases: limits.maxAliases }))
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return fail(yamlProblem(error, text, limits, (offset) => parsed.toOriginal(offset)))
  }
}

function notOneDocument(count: number): Problem {
  return count === 0
    ? unreadable('it contains only comments', { fix: 'Give the text of the contract.' })
    : unreadable(`it holds ${count} YAML documents`, { fix: 'Give each as an artifact of its own.' })
}

/** Fixes for the faults that the parser names. The first matching row counts. */
const FIXES: readonly { readonly reason: RegExp; readonly fix: string }[] = [
  { reason: /^duplicated mapping key/, fix: 'Keep one of the two: readers disagree on which one counts.' },
  { reason: /^unidentified alias/, fix: 'Define the anchor (&name) before its alias (*name).' },
  { reason: /^unknown \w+ tag|cannot resolve a node/, fix: 'Contracts use plain YAML values: remove the tag.' },
  { reason: /empty key/, fix: 'Write the key in quotes.' },
  { reason: /complex keys/, fix: 'Use plain text as the key.' },
  { reason: /\btabs?\b/, fix: 'Indent with spaces.' },
  { reason: /indentation/, fix: 'Align the line with the other members of its mapping or list.' },
]

const LIMITS_PASSED: readonly { readonly reason: RegExp; report(limits: DocumentLimits): string }[] = [
  { reason: /maxDepth/, report: ({ maxDepth }) => `nesting is deeper than ${maxDepth} levels` },
  { reason: /maxAliases/, report: ({ maxAliases }) => `it has more than ${maxAliases} aliases` },
  { reason: /maxTotalMergeKeys|abnormal merge/, report: () => 'merge keys (<<) copy too many members' },
]

function yamlProblem(
  { reason, mark }: YAMLException,
  text: string,
  limits: DocumentLimits,
  toOriginal: (offset: number) => number,
): Problem {
  const position = mark ? positionAt(text, toOriginal(mark.position)) : null
  const limit = LIMITS_PASSED.find((row) => row.reason.test(reason))
  if (limit) return overLimit(limit.report(limits), position)
  const fix = FIXES.find((row) => row.reason.test(reason))?.fix
  const first = reason.startsWith('duplicated mapping key') && position !== null ? firstOfKey(text, position) : null
  return unreadable(`it is not valid YAML: ${reason}${firstAt(first)}`, {
    position,
    ...(fix === undefined ? {} : { fix }),
  })
}

/** The earlier line with the same key in the same block mapping. Null in a mapping on one line. */
function firstOfKey(text: string, { line, column }: Position): Position | null {
  const lines = text.split('\n', line)
  const keyAt = (number: number): string | null => {
    const content = lines[number - 1] ?? ''
    const key = /^(?:"[^"]*"|'[^']*'|[^:#]+?)(?=\s*:(?:\s|$))/.exec(content.slice(column - 1))?.[0] ?? null
    // The text before it on the line is indentation, or the mark of the item that starts the mapping.
    return /^[\s-]*$/.test(content.slice(0, column - 1)) ? key : null
  }
  const key = keyAt(line)
  if (key === null) return null
  for (let above = line - 1; above > 0; above -= 1) {
    const content = lines[above - 1] ?? ''
    if (keyAt(above) === key) return { line: above, column }
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(content)) return null
    const isOutside =
      content.trim() !== '' && !content.trimStart().startsWith('#') && /\S/.test(content.slice(0, column - 1))
    if (isOutside) return null
  }
  return null
}

function findGraphFault({ root, locate }: YamlReading, limits: DocumentLimits): Problem | null {
  const { cycle, isTooDeep, expansion } = measureGraph(root, limits.maxDepth)
  if (cycle !== null) {
    const place = { pointer: cycle, position: locate(cycle), fix: 'Express recursion with $ref.' }
    return unreadable('an alias stands inside its own anchor', place)
  }
  if (isTooDeep) return overLimit(`nesting is deeper than ${limits.maxDepth} levels`)
  if (expansion <= limits.maxExpansion) return null
  const times = Number.isFinite(expansion) ? `${Math.round(expansion)} times` : 'beyond counting'
  return overLimit(`its aliases stand for a document ${times} as large, more than ${limits.maxExpansion} times`)
}

function findUnsayable({ root, locate }: YamlReading, text: string): Problem | null {
  return findUnrepresentable(root, { checkTexts: mayHoldLoneSurrogates(text, 'yaml'), isShared: true, locate })
}
