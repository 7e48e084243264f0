/**
 * The body of a request: bytes up to the limit, then JSON that can be read in only one way. Everything else is refused with a
 * reason.
 */
import type { IncomingMessage } from 'node:http'
import type { Bodies, BodyFault } from '../../listen/bodies.ts'
import { GatewayError } from '../../errors/errors.ts'
import { placedMessage } from '../../errors/mistake.ts'
import type { Flow } from '../../flow/flow.ts'

const JSON_MEDIA_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/

interface BodyOptions {
  readonly limit: number
  /** The caller has shown a key. */
  readonly isKnown: boolean
  /** No body at all is as good as `{}`. */
  readonly optional: boolean
  readonly readJson: Flow['readJson']
  readonly bodies: Bodies
  /** The answer is complete, or the client has disconnected: the body is no longer needed. */
  readonly signal: AbortSignal
}

/** @throws GatewayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, OVERLOADED or INVALID_INPUT with line and column. */
export async function readJsonBody(request: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!hasBody && options.optional) return {}
  if (hasBody) requireJson(request)
  const bytes = hasBody ? await readBytes(request, options) : Buffer.alloc(0)
  if (bytes.length === 0) {
    const details = [{ pointer: '', message: 'The body is empty; a JSON object is expected.' }]
    throw new GatewayError('INVALID_INPUT', NOT_JSON, { details })
  }
  const read = await options.readJson(bytes)
  if (read.ok) return read.value
  const { code, message } = read.problem
  // A reader that crashed or ran out of time has found nothing wrong with the body.
  if (code === 'ANALYSIS_FAULT') throw new GatewayError('INTERNAL', undefined, { cause: new Error(message) })
  if (code === 'ANALYSIS_TIMEOUT' || code === 'ANALYSIS_MEMORY') throw new GatewayError('OVERLOADED')
  const shortened = message.replace(/^The document cannot be read: /, '')
  const details = [{ pointer: '', message: placedMessage({ ...read.problem, message: shortened, pointer: '' }) }]
  if (code === 'ARTIFACT_OVER_LIMIT') throw new GatewayError('INVALID_INPUT', 'The body exceeds a limit.', { details })
  throw new GatewayError('INVALID_INPUT', NOT_JSON, { details })
}

const NOT_JSON = 'The body is not valid JSON.'

function requireJson({ headers }: IncomingMessage): void {
  const [mediaType = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (!JSON_MEDIA_TYPE.test(mediaType.trim())) throw new GatewayError('UNSUPPORTED_MEDIA_TYPE')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', 'The body must be UTF-8.')
  }
  // Not decompressed: a small compressed body can be a very large one.
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
  }
}

const FAULTS: Readonly<Record<BodyFault, (limit: number) => GatewayError>> = {
  too_large: (limit) => new GatewayError('PAYLOAD_TOO_LARGE', `The body is larger than the limit of ${limit} bytes.`),
  too_slow: () =>
    new GatewayError('REQUEST_TIMEOUT', 'The body did not arrive in time.', { headers: { Connection: 'close' } }),
  overloaded: () =>
    new GatewayError('OVERLOADED', 'The bodies of other requests use all the memory reserved for bodies.'),
  aborted: () => new GatewayError('INVALID_INPUT', 'The connection ended before the body was complete.'),
}

async function readBytes(request: IncomingMessage, { limit, isKnown, bodies, signal }: BodyOptions): Promise<Buffer> {
  const read = await bodies.read(request, limit, isKnown ? 'whole' : 'as_it_comes')
  if (!read.ok) throw FAULTS[read.why](limit)
  const { body } = read
  if (signal.aborted) bodies.release(body)
  else signal.addEventListener('abort', () => bodies.release(body), { once: true })
  return body
}
