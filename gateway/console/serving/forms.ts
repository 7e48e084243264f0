/** Forms: read within bounds, and taken only from pages of this console. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors/errors.ts'
import type { Bodies } from '../../listen/bodies.ts'

/** A policy pack that is tried out is the longest field. */
const LONGEST_FORM = 4 * 1024 * 1024
const LONGEST_FORM_OF_STRANGERS = 16 * 1024

/** @throws GatewayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or INVALID_INPUT */
export async function readPostedForm(
  request: IncomingMessage,
  response: ServerResponse,
  { bodies }: { readonly bodies: Bodies },
  isKnown: boolean,
): Promise<URLSearchParams> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', 'The console takes forms only; programs use the API.')
  const read = await bodies.read(request, isKnown ? LONGEST_FORM : LONGEST_FORM_OF_STRANGERS)
  if (!read.ok)
    throw read.why === 'too_large'
      ? new GatewayError('PAYLOAD_TOO_LARGE')
      : new GatewayError('INVALID_INPUT', 'The form did not arrive completely.')
  response.once('close', () => bodies.release(read.body))
  return new URLSearchParams(read.body.toString('utf8'))
}

/**
 * A form of another site is refused before its token is looked at. Browsers state the origin of each POST.
 * @throws GatewayError FORBIDDEN
 */
export function requireOwnForm({ headers }: IncomingMessage, publicUrl: string | undefined): void {
  const { origin } = headers
  const isOwn =
    origin === undefined
      ? headers['sec-fetch-site'] === 'same-origin'
      : URL.canParse(origin) &&
        (new URL(origin).host === headers.host ||
          (publicUrl !== undefined && new URL(origin).origin === new URL(publicUrl).origin))
  if (!isOwn) throw new GatewayError('FORBIDDEN', 'The form was not sent by a page of this console.')
}
