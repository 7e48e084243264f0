/** What the schema cannot say of sinks of telemetry: two that are the same. */
import type { MonitoringSettings } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { SinkConfig } from '../telemetry/sinks/settings.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

export function checkSinks({
  monitoring: { sinks },
}: {
  readonly monitoring: Pick<MonitoringSettings, 'sinks'>
}): readonly LocatedMistake[] {
  return sinks.flatMap((sink, index) => {
    const pointer = `/monitoring/sinks/${index}`
    const first = sinks.findIndex((other) => sinkAddress(other) === sinkAddress(sink))
    return first === index
      ? []
      : [mistakeAt(pointer, `sinks[${first}] takes the same events to the same place`, 'remove one')]
  })
}

function sinkAddress(sink: SinkConfig): string {
  return sink.type === 'log' ? sink.type : `${sink.type} ${sink.type === 'http' ? sink.url : sink.endpoint}`
}
