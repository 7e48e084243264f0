/**
 * YAML text → parser events, forgiving one fault that real contracts have and widespread tools accept: a line inside a
 * quoted text or a flow collection that is indented less than the mapping around it (YAML 1.2.2 §7.4). Leading blanks of
 * such a line carry no meaning, so it is indented and parsed again; everything else stays a fault.
 */
import { parseEvents, YAMLException } from 'js-yaml'

export type YamlEvents = ReturnType<typeof parseEvents>

/** A text as it was parsed. */
export interface ParsedYaml {
  readonly events: YamlEvents
  /** What the offsets of the events point into. */
  readonly source: string
  /** The same place in the text as it was given. */
  toOriginal(offset: number): number
}

interface Repair {
  /** Offset in the repaired text at which blanks were put in. */
  readonly at: number
  readonly width: number
}

const LAYOUT_FAULT = /^deficient indentation/
/** Lines whose start carries a meaning: a document marker ends the document, a tab is no indentation (YAML 1.2.2 §6.1). */
const UNTOUCHABLE = /^(?:---|\.\.\.| *\t)/
const WIDEST_REPAIR = 512

/** Characters that may be parsed again for the sake of layout: past that the text is refused for its first fault. */
const REPAIR_BUDGET = 2 ** 26

/** Parses one text. Throws js-yaml's `YAMLException`, with a position in the given text. */
export function parseYaml(text: string, maxDepth: number): ParsedYaml {
  const repairs: Repair[] = []
  const toOriginal = (offset: number): number =>
    repairs.reduceRight((place, { at, width }) => (place < at ? place : Math.max(at, place - width)), offset)
  let source = text
  for (;;) {
    try {
      return { events: parseEvents(source, { maxDepth }), source, toOriginal }
    } catch (error) {
      if (!(error instanceof YAMLException) || error.mark === undefined) throw error
      const isAffordable = (repairs.length + 1) * source.length <= REPAIR_BUDGET
      const repair = isAffordable && LAYOUT_FAULT.test(error.reason) ? repairOf(source, error.mark.position) : null
      if (repair === null) YAMLException.throwAt(text, toOriginal(error.mark.position), error.reason)
      repairs.push(repair)
      source = source.slice(0, repair.at) + ' '.repeat(repair.width) + source.slice(repair.at)
    }
  }
}

/** Enough blanks to pass the mapping around: its key stands somewhere within the line before, or that line is deep enough. */
function repairOf(source: string, position: number): Repair | null {
  const at = source.lastIndexOf('\n', position - 1) + 1
  if (at === 0 || UNTOUCHABLE.test(source.slice(at, position + 3))) return null
  const before = source.slice(0, at).trimEnd()
  const lengthBefore = before.length - (before.lastIndexOf('\n') + 1)
  return { at, width: Math.min(Math.max(lengthBefore, 1), WIDEST_REPAIR) }
}
