/** The certificates that agents have to trust when their connections are intercepted. They are public. */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { defineRoute } from '../route.ts'

const MEDIA_TYPE = 'application/x-pem-file'

export const interceptionCa = defineRoute({
  method: 'GET',
  paths: ['/.well-known/preflight-ca.pem'],
  operationId: 'getInterceptionCa',
  tag: 'discovery',
  summary: 'Certificates to trust on intercepted connections',
  access: 'public',
  answers: {
    200: {
      description:
        'PEM: the authority that signs now, the next one, and the previous one while its certificates are valid.',
      content: { [MEDIA_TYPE]: Type.String() },
    },
  },
  errors: ['NOT_READY'],
  async handle(_exchange, { authorities }) {
    try {
      return { kind: 'text', status: 200, mediaType: MEDIA_TYPE, text: await authorities.bundle() }
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      throw new GatewayError('NOT_READY', 'The certificate authority cannot be read; the log has the cause.', {
        cause: error,
      })
    }
  },
})
