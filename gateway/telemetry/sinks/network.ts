/** Opens the sinks of monitoring that deliver over the network. Loaded only where one is configured. */
import { packageVersion } from '../../runtime/package-files.ts'
import { cloudEvents } from './http.ts'
import { otlpLogs } from './otlp.ts'
import { createReceiver } from './receiver.ts'
import type { SinkConfig } from './settings.ts'
import type { Sink } from './sink.ts'
import { createSpooledSink, sinkName, type SpooledSinkDeps } from './spooled.ts'

type NetworkSink = Exclude<SinkConfig, { readonly type: 'log' }>

export function openNetworkSink(sink: NetworkSink, deps: SpooledSinkDeps): Sink {
  const protocol = sink.type === 'http' ? cloudEvents(sink) : otlpLogs(sink, packageVersion())
  const name = sinkName(sink.type, protocol.url)
  return createSpooledSink(name, createReceiver(protocol, sink.timeout * 1000), sink, deps)
}
