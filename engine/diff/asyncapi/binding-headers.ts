/** Message headers that one side describes in a binding (http, jms …) and the other side in the message itself. */
import type { AsyncMessage } from '../../contracts/asyncapi/messages.ts'
import { isRecord, memberOf, recordOf, type JsonRecord } from '../../schema/located.ts'

/** Moves the headers of both sides into the message, so that they are compared as message headers. */
export function withHeadersInMessage(
  before: AsyncMessage,
  after: AsyncMessage,
): readonly [was: AsyncMessage, is: AsyncMessage] {
  return [lifted(before, after), lifted(after, before)]
}

/** Moves headers out of the only binding that has them, if the other side has them in the message. */
function lifted(message: AsyncMessage, other: AsyncMessage): AsyncMessage {
  const protocols = protocolsWithHeaders(message)
  const [protocol] = protocols
  if (message.headers !== null || other.headers === null || protocol === undefined || protocols.length > 1)
    return message
  const { bindings } = message
  const binding = bindings === null ? null : memberOf(bindings, protocol)
  if (bindings === null || binding === null || protocolsWithHeaders(other).includes(protocol)) return message
  return {
    ...message,
    headers: memberOf(binding, 'headers'),
    bindings: { ...bindings, value: withoutHeaders(recordOf(bindings.value), protocol) },
  }
}

function protocolsWithHeaders({ bindings }: AsyncMessage): readonly string[] {
  const held = recordOf(bindings?.value)
  return Object.keys(held).filter((protocol) => isRecord(recordOf(held[protocol]).headers))
}

/** A binding that contains only its binding version has no meaning. */
function withoutHeaders(bindings: JsonRecord, protocol: string): JsonRecord {
  const { [protocol]: binding, ...others } = bindings
  const { headers: _headers, ...settings } = recordOf(binding)
  const isEmpty = Object.keys(settings).every((name) => name === 'bindingVersion')
  return isEmpty ? others : { ...others, [protocol]: settings }
}
