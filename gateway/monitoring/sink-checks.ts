/** What the schema cannot say of sinks of telemetry: headers that cannot be, two that are the same. */
import type { MonitoringSettings } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { SinkConfig } from '../telemetry/sinks/settings.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

/** RFC 9110 §5.1 and §5.5, ASCII only. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FIELD_VALUE = /^[\x20-\x7e]+$/
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x20-\x7e]+$/

export function checkSinks({
  monitoring: { sinks },
}: {
  readonly monitoring: Pick<MonitoringSettings, 'sinks'>
}): readonly LocatedMistake[] {
  return sinks.flatMap((sink, index) => {
    const pointer = `/monitoring/sinks/${index}`
    const first = sinks.findIndex((other) => sinkAddress(other) === sinkAddress(sink))
    return [
      ...headerMistakes(sink, pointer),
      ...(first === index
        ? []
        : [mistakeAt(pointer, `sinks[${first}] takes the same events to the same place`, 'remove one')]),
    ]
  })
}

function sinkAddress(sink: SinkConfig): string {
  return sink.type === 'log' ? sink.type : `${sink.type} ${sink.type === 'http' ? sink.url : sink.endpoint}`
}

function headerMistakes(sink: SinkConfig, pointer: string): readonly LocatedMistake[] {
  if (sink.type === 'log') return []
  if (sink.type === 'http') {
    const isGood = sink.header === undefined || FIELD.test(sink.header)
    return isGood ? [] : [mistakeAt(`${pointer}/header`, 'this is not a header', 'write "Name: value"')]
  }
  return Object.entries(sink.headers ?? {}).flatMap(([name, value]) => {
    if (!FIELD_NAME.test(name))
      return [mistakeAt(`${pointer}/headers`, `"${name}" is not a name of a header`, 'write NAME: VALUE')]
    // The value may be a credential: it is not told.
    return FIELD_VALUE.test(value)
      ? []
      : [
          mistakeAt(
            `${pointer}/headers`,
            `the value of "${name}" cannot be sent`,
            'use printable ASCII characters on one line',
          ),
        ]
  })
}
