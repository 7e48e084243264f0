/** The body of a request: bytes up to the limit, then JSON with one reading only. Whatever else comes is a clear refusal. */
import type { IncomingMessage } from 'node:http'
import { BytePieces } from '../byte-pieces.ts'
import { GatewayError } from '../errors.ts'
import type { Flow } from '../flow/flow.ts'

const JSON_MEDIA_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/

export interface BodyOptions {
  readonly limit: number
  /** No body at all is as good as `{}`. */
  readonly optional: boolean
  readonly readJson: Flow['readJson']
}

/** @throws GatewayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or INVALID_INPUT with line and column. */
export async function readJsonBody(request: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!hasBody && options.optional) return {}
  if (hasBody) requireJson(request)
  const bytes = hasBody ? await readBytes(request, options.limit) : Buffer.alloc(0)
  if (bytes.length === 0) {
    throw invalid('The body is empty; a JSON object is expected.')
  }
  const read = await options.readJson(bytes)
  if (read.ok) return read.value
  const { code, message, line, column } = read.problem
  // A reader that crashed or ran out of time says nothing of the body.
  if (code === 'ANALYSIS_FAULT') throw new GatewayError('INTERNAL', undefined, { cause: new Error(message) })
  if (code === 'ANALYSIS_TIMEOUT' || code === 'ANALYSIS_MEMORY')
    throw new GatewayError('OVERLOADED', undefined, { headers: { 'Retry-After': '1' } })
  const said = message.replace(/^The document cannot be read: /, '')
  throw invalid(line === undefined ? said : `${said} (line ${line}, column ${column ?? 1})`)
}

function invalid(message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', 'The body is not valid JSON.', { details: [{ pointer: '', message }] })
}

function requireJson({ headers }: IncomingMessage): void {
  const [mediaType = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (!JSON_MEDIA_TYPE.test(mediaType.trim())) throw new GatewayError('UNSUPPORTED_MEDIA_TYPE')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', 'The body must be UTF-8.')
  }
  // Not undone on the quiet: a small compressed body can be a very large one.
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
  }
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new GatewayError('PAYLOAD_TOO_LARGE', `The body is larger than the limit of ${limit} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge()
  const pieces = new BytePieces()
  let size = 0
  // Not `for await`: leaving that loop destroys the request, and with it the answer's connection.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) pieces.add(chunk)
      else {
        request.removeAllListeners('data')
        reject(tooLarge())
      }
    })
    request.on('end', resolve)
    request.on('error', (error) => reject(new GatewayError('INVALID_INPUT', 'The body broke off.', { cause: error })))
    request.on('close', () => {
      if (!request.complete) reject(new GatewayError('INVALID_INPUT', 'The body broke off.'))
    })
  })
  return pieces.whole()
}
