/**
 * YAML 1.2 text → plain values (core schema: dates stay texts; merge keys are honoured, as the tools of the field do).
 * js-yaml parses; what it refuses on layout alone, and real contracts hold, is read by `yaml`. Aliases stay shared
 * references, and their expansion is computed, never made.
 */
import { constructFromEvents, CORE_SCHEMA, EVENT_ID, mergeTag, parseEvents, YAMLException } from 'js-yaml'
import { fail, ok, type Result } from '../result.ts'
import { measureGraph } from './graph.ts'
import type { DocumentLimits } from './limits.ts'
import { positionAt, type PlacedNode } from './positions.ts'
import { findUnrepresentable, mayHoldLoneSurrogates } from './representable.ts'
import { overLimit, unreadable } from './unreadable.ts'
import { readLenientYaml } from './yaml-lenient.ts'
import { placeYaml } from './yaml-positions.ts'

export interface YamlReading {
  readonly root: unknown
  /** Made when first asked. */
  place(): PlacedNode | null
}

const SCHEMA = CORE_SCHEMA.withTags(mergeTag)

/** What js-yaml refuses although only the indentation of a continued value is at fault. */
const LAYOUT_FAULT = /^deficient indentation/

/** Reads one YAML document; the problem names the first fault with its line and column. */
export function readYaml(text: string, limits: DocumentLimits): Result<YamlReading> {
  const strict = readStrictYaml(text, limits)
  const reading =
    strict.kind === 'layout'
      ? readLenientYaml(text, limits)
      : strict.kind === 'read'
        ? ok(strict.reading)
        : strict.failure
  return reading.ok ? checkGraph(reading.value, text, limits) : reading
}

type StrictReading =
  | { readonly kind: 'read'; readonly reading: YamlReading }
  | { readonly kind: 'layout' }
  | { readonly kind: 'refused'; readonly failure: ReturnType<typeof fail> }

function readStrictYaml(text: string, limits: DocumentLimits): StrictReading {
  try {
    const events = parseEvents(text, { maxDepth: limits.maxDepth })
    const documents = events.filter((event) => event.type === EVENT_ID.DOCUMENT).length
    if (documents !== 1) return refused(fail(notOneDocument(documents)))
    const [root] = constructFromEvents(events, { source: text, schema: SCHEMA, maxAliases: limits.maxAliases })
    return { kind: 'read', reading: { root, place: () => placeYaml(text, events) } }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return LAYOUT_FAULT.test(error.reason) ? { kind: 'layout' } : refused(fail(describe(error, text)))
  }
}

function refused(failure: ReturnType<typeof fail>): StrictReading {
  return { kind: 'refused', failure }
}

function notOneDocument(count: number) {
  return count === 0
    ? unreadable('it holds no document', { fix: 'Give the contract, or an empty text when it is created or deleted.' })
    : unreadable(`it holds ${count} YAML documents`, { fix: 'Give each as an artifact of its own.' })
}

/** How to mend what js-yaml names; the first row that matches counts. */
const FIXES: readonly { readonly reason: RegExp; readonly fix: string }[] = [
  { reason: /^duplicated mapping key/, fix: 'Keep one of the two: readers disagree on which one counts.' },
  { reason: /^unidentified alias/, fix: 'Define the anchor (&name) before its alias (*name).' },
  { reason: /^unknown \w+ tag|cannot resolve a node/, fix: 'Contracts use plain YAML values: remove the tag.' },
  { reason: /complex keys/, fix: 'Use plain text as the key.' },
  { reason: /tab characters|tabs?\b/, fix: 'Indent with spaces.' },
  { reason: /indentation/, fix: 'Align the line with the other members of its mapping or list.' },
]

const OVER_LIMIT = /exceeded max|abnormal merge/

function describe({ reason, mark }: YAMLException, text: string) {
  const position = mark ? positionAt(text, mark.position) : null
  if (OVER_LIMIT.test(reason)) return overLimit(reason, position)
  const fix = FIXES.find((row) => row.reason.test(reason))?.fix
  return unreadable(`it is not valid YAML: ${reason}`, { position, ...(fix === undefined ? {} : { fix }) })
}

function checkGraph(reading: YamlReading, text: string, limits: DocumentLimits): Result<YamlReading> {
  const { cycle, isTooDeep, expansion } = measureGraph(reading.root, limits.maxDepth)
  if (cycle !== null) {
    return fail(unreadable('an alias stands inside its own anchor', { pointer: cycle, fix: 'Use $ref for recursion.' }))
  }
  if (isTooDeep) return fail(overLimit(`nesting is deeper than ${limits.maxDepth} levels once aliases are followed`))
  if (expansion > limits.maxExpansion) {
    const times = Number.isFinite(expansion) ? expansion.toPrecision(3) : 'beyond counting'
    return fail(overLimit(`aliases expand it ${times} times, more than ${limits.maxExpansion}`))
  }
  const bad = findUnrepresentable(reading.root, mayHoldLoneSurrogates(text), true)
  return bad === null ? ok(reading) : fail(bad)
}
