/**
 * Reads JSON text (RFC 8259) strictly: bounded nesting, no duplicate member names, no lone surrogates, no number that
 * overflows. `JSON.parse` does the parsing; a scan of the text and a walk of the result check the rest.
 */
import { fail, ok, type Result } from '../common/result.ts'
import { diagnoseJson } from './json-diagnosis.ts'
import { Containers, placeJson } from './json-positions.ts'
import { endOfString } from './json-strings.ts'
import { surveyJson, type SurveyedReferences } from './json-survey.ts'
import { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits } from '../model/limits.ts'
import { locator, positionAt, type Locate } from './positions.ts'
import { findUnrepresentable, mayHoldLoneSurrogates } from './representable.ts'
import { overLimit, tooLargeToParse, unreadable } from './unreadable.ts'

interface JsonReading {
  readonly root: unknown
  readonly locate: Locate
  readonly surveyed: SurveyedReferences
}

/** Reads a JSON text to its value; the problem names the first fault with its line and column. */
export function readJson(text: string, limits: DocumentLimits): Result<unknown> {
  const read = readScanned(text, limits, null)
  return read.ok ? ok(read.value.root) : read
}

/** Like `readJson`, with the positions of the parts. */
export function readPlacedJson(text: string, limits: DocumentLimits): Result<JsonReading> {
  return readScanned(text, limits, new Containers())
}

/** @param containers records them for positions; null: they are recorded once a position is needed */
function readScanned(text: string, limits: DocumentLimits, containers: Containers | null): Result<JsonReading> {
  const scan = scanStructure(text, limits, containers)
  if (scan.tooDeepAt !== null) {
    return fail(overLimit(`nesting is deeper than ${limits.maxDepth} levels`, positionAt(text, scan.tooDeepAt)))
  }
  if (limits.maxValues !== undefined && scan.commas >= limits.maxValues)
    return fail(overLimit(`it holds more than ${limits.maxValues} values`))
  if (limits.maxParts !== undefined && scan.opened + scan.members > limits.maxParts)
    return fail(overLimit(`it holds more than ${limits.maxParts} objects, lists and members; split it`))
  if (scan.isTooLarge) return fail(tooLargeToParse())
  const parsed = parseStrictly(text)
  if (!parsed.ok) return parsed
  const surveyed = surveyJson(parsed.value)
  if (surveyed.members !== scan.members) return fail(diagnoseJson(text) ?? unreadable('member names repeat'))
  const outline = (): Containers => (containers ??= containersOf(text, limits))
  const locate = locator(
    text,
    () => placeJson(text, outline()),
    () => outline().lineStarts,
  )
  const checkTexts = mayHoldLoneSurrogates(text, 'json')
  const problem =
    checkTexts || !surveyed.isFinite ? findUnrepresentable(parsed.value, { checkTexts, isShared: false, locate }) : null
  return problem === null ? ok({ root: parsed.value, locate, surveyed }) : fail(problem)
}

function parseStrictly(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail(diagnoseJson(text) ?? unreadable(`it is not valid JSON (${error.message})`))
  }
}

const LINE_FEED = 10
const SPACE = 32
const QUOTE = 34
const COLON = 58
const COMMA = 44
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

interface Structure {
  /** Objects and lists. */
  readonly opened: number
  readonly members: number
  readonly commas: number
  readonly tooDeepAt: number | null
  /** Exceeds `maxParsedBytes`; the scan ended there. */
  readonly isTooLarge: boolean
}

/** Bytes that a container, a member and an item take when they are parsed, measured with the smallest ones and rounded up. */
const PARSED_BYTES = { container: 64, member: 48, item: 16 } as const
/** Characters between two looks at the estimate. */
const LOOK_EVERY = 65_536

/**
 * Counts nesting, members and commas without parsing, and records containers. In valid JSON each colon outside strings is one
 * member. Fewer members in the parsed value mean repeated names, of which `JSON.parse` silently keeps the last. For
 * invalid JSON the counts mean nothing, and the parser refuses the text.
 */
function scanStructure(
  text: string,
  { maxDepth, maxParsedBytes = Number.POSITIVE_INFINITY }: DocumentLimits,
  containers: Containers | null,
): Structure {
  let members = 0
  let commas = 0
  let opened = 0
  let nextLook = LOOK_EVERY
  const isTooLarge = (): boolean =>
    opened * PARSED_BYTES.container + members * PARSED_BYTES.member + commas * PARSED_BYTES.item > maxParsedBytes
  let depth = 0
  let tooDeepAt: number | null = null
  // The order of the cases follows what printed documents hold most: names, and lines with their indent.
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) {
      index = endOfString(text, index)
      if (index < 0) break
    } else if (unit === LINE_FEED) {
      containers?.line(index + 1)
      while (text.charCodeAt(index + 1) === SPACE) index++
    } else if (unit === COLON) members++
    else if (unit === COMMA) commas++
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      depth++
      opened++
      if (depth > maxDepth) {
        tooDeepAt = index
        break
      }
      containers?.open(index)
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (depth > 0) depth--
      containers?.close(index)
    }
    if (index >= nextLook) {
      if (isTooLarge()) break
      nextLook = index + LOOK_EVERY
    }
  }
  return { opened, members, commas, tooDeepAt, isTooLarge: isTooLarge() }
}

function containersOf(text: string, { maxDepth }: DocumentLimits): Containers {
  const containers = new Containers()
  scanStructure(text, { ...DEFAULT_DOCUMENT_LIMITS, maxDepth }, containers)
  return containers
}
