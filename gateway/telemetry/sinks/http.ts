/** How an `http` sink is spoken to: batches of CloudEvents as JSON, which any 2xx acknowledges. */
import type { SinkConfig } from './settings.ts'
import type { ReceiverProtocol } from './receiver.ts'

/** Entries of the decision log: a plain JSON list. */
export function jsonBatches(config: HttpSinkConfig): ReceiverProtocol {
  return { ...cloudEvents(config), contentType: 'application/json; charset=utf-8' }
}

type HttpSinkConfig = Extract<SinkConfig, { readonly type: 'http' }>

export function cloudEvents({ url, header }: HttpSinkConfig): ReceiverProtocol {
  return {
    url,
    contentType: 'application/cloudevents-batch+json; charset=utf-8',
    headers: header === undefined ? {} : readHeader(header),
    encode: (batch) => `[${batch.join(',')}]`,
    read: () => ({ rejected: 0, why: null }),
  }
}

function readHeader(header: string): Readonly<Record<string, string>> {
  const colon = header.indexOf(':')
  return { [header.slice(0, colon).trim()]: header.slice(colon + 1).trim() }
}
