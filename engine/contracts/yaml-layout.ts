/**
 * Parses YAML text into events. It accepts one layout fault that YAML 1.2.2 §7.4 forbids, because published contracts
 * have it and common tools read it. In a nested mapping or list, a continuation line of a quoted scalar or flow
 * collection may lack indentation. Leading blanks of such a line have no meaning, so it is indented and parsed again.
 * All other layout faults are refused. So is this one at column 1, where the members of the document begin.
 */
import { parseEvents, YAMLException } from 'js-yaml'

export type YamlEvents = ReturnType<typeof parseEvents>

/** A text as parsed. */
export interface ParsedYaml {
  readonly events: YamlEvents
  /** The text that event offsets refer to. */
  readonly source: string
  /** The same place in the original text. */
  toOriginal(offset: number): number
}

interface Repair {
  /** Offset in the repaired text at which blanks were inserted. */
  readonly at: number
  readonly width: number
}

const LAYOUT_FAULT = /^deficient indentation/
/** Which lines may be indented. `any` includes column 1, as YAML 1.1 readers read quoted scalars. */
export type Continuation = 'nested' | 'any'

/** A line at column 1 begins a member of the document or is a document marker; a tab is no indentation (YAML 1.2.2 §6.1). */
const UNTOUCHABLE: Readonly<Record<Continuation, RegExp>> = { nested: /^(?:[^ ]| *\t)/, any: /^(?:---|\.\.\.| *\t)/ }
const WIDEST_REPAIR = 512

/** Characters that may be parsed again for layout repairs. Above this the text is refused for its first fault. */
const REPAIR_BUDGET = 2 ** 26

/** Parses one text. Throws js-yaml's `YAMLException`, with a position in the given text. */
export function parseYaml(text: string, maxDepth: number, continuation: Continuation = 'nested'): ParsedYaml {
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
      const isRepairable = isAffordable && LAYOUT_FAULT.test(error.reason)
      const repair = isRepairable ? repairOf(source, error.mark.position, UNTOUCHABLE[continuation]) : null
      if (repair === null) YAMLException.throwAt(text, toOriginal(error.mark.position), error.reason)
      repairs.push(repair)
      source = source.slice(0, repair.at) + ' '.repeat(repair.width) + source.slice(repair.at)
    }
  }
}

/**
 * Enough blanks to exceed the indentation of the enclosing mapping: that of its key within the line before, or of that
 * line.
 */
function repairOf(source: string, position: number, untouchable: RegExp): Repair | null {
  const at = source.lastIndexOf('\n', position - 1) + 1
  if (at === 0 || untouchable.test(source.slice(at, position + 3))) return null
  const before = source.slice(0, at).trimEnd()
  const lengthBefore = before.length - (before.lastIndexOf('\n') + 1)
  return { at, width: Math.min(Math.max(lengthBefore, 1), WIDEST_REPAIR) }
}
