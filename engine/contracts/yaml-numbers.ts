/** The numbers of a YAML text. */
import { EVENT_ID, getScalarValue, SCALAR_STYLE_PLAIN, YAMLException } from 'js-yaml'
import type { DocumentLimits } from '../model/limits.ts'
import { parseYaml } from './yaml-layout.ts'

const DECIMAL = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/

/** A number of a text: where it starts, and how it is written. */
export interface WrittenNumber {
  readonly start: number
  readonly text: string
}

interface NumbersOfText {
  /** The text that the offsets refer to: the layout of the given one may have been repaired. */
  readonly source: string
  readonly numbers: readonly WrittenNumber[]
}

/** Plain decimal scalars, values and keys. A text that is not YAML has none. */
export function yamlNumbers(text: string, { maxDepth }: DocumentLimits): NumbersOfText {
  try {
    const { events, source } = parseYaml(text, maxDepth + 2)
    const numbers = events.flatMap((event) => {
      if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE_PLAIN || event.valueStart === -1) return []
      const value = getScalarValue(source, event)
      return DECIMAL.test(value) ? [{ start: event.valueStart, text: value }] : []
    })
    return { source, numbers }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return { source: text, numbers: [] }
  }
}
