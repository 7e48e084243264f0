/** Headers in the settings: those that could not be sent, and would be left out. */
import { pointerSegments } from '../errors/mistake.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { textsAt } from './url-checks.ts'

/** RFC 9110 §5.1 and §5.5, ASCII only. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\x20-\x7e]+$/
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x20-\x7e]+$/

/** Each header of the schema; `*` stands for a list item, or for the name of the header. */
export const HEADER_SETTINGS: readonly string[] = [
  '/monitoring/sinks/*/header',
  '/monitoring/sinks/*/headers/*',
  '/decision_log/sinks/*/header',
  '/decision_log/sinks/*/headers/*',
  '/otel/headers/*',
  '/signer/header',
]

export function checkHeaders(config: object): readonly LocatedMistake[] {
  return HEADER_SETTINGS.flatMap((path) =>
    textsAt(config, path).flatMap(([pointer, text]) =>
      path.endsWith('/*') ? namedHeaderMistakes(pointer, text) : headerMistakes(pointer, text),
    ),
  )
}

function headerMistakes(pointer: string, text: string): readonly LocatedMistake[] {
  return FIELD.test(text) ? [] : [mistakeAt(pointer, 'this is not a header', 'write "Name: value"')]
}

/** The value may be a credential: it is not repeated. */
function namedHeaderMistakes(pointer: string, value: string): readonly LocatedMistake[] {
  const headers = pointer.slice(0, pointer.lastIndexOf('/'))
  const name = String(pointerSegments(pointer).at(-1))
  if (!FIELD_NAME.test(name)) return [mistakeAt(headers, `"${name}" is not a name of a header`, 'write NAME: VALUE')]
  return FIELD_VALUE.test(value)
    ? []
    : [mistakeAt(headers, `the value of "${name}" cannot be sent`, 'use printable ASCII characters on one line')]
}
