/**
 * GET /api/v1/decisions/{decision_id}/attestation: a stored decision as a signed in-toto statement, for tools that read those.
 */
import { Type } from '../../../engine/base.ts'
import { checkProducerForm, prepareAttestation } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { signatureOf } from '../../keys/receipt-signer.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { envelopeFor, ownAudience } from '../visibility.ts'

const Attestation = Type.Object(
  {
    payloadType: Type.Literal('application/vnd.in-toto+json'),
    payload: Type.String({ description: 'base64 of an in-toto statement v1 whose predicate is the decision.' }),
    signatures: Type.Array(
      Type.Object({
        keyid: Type.String({ description: 'A key of /.well-known/jwks.json.' }),
        sig: Type.String({ description: 'base64 of an Ed25519 signature over the DSSE pre-authentication encoding.' }),
      }),
    ),
  },
  { title: 'Attestation', description: 'A DSSE envelope. It records what was decided and authorizes nothing.' },
)

export const getAttestation = defineRoute({
  method: 'GET',
  paths: ['/api/v1/decisions/{decision_id}/attestation'],
  operationId: 'getDecisionAttestation',
  tag: 'decisions',
  summary: 'A stored decision as a DSSE envelope with an in-toto statement',
  access: 'ask',
  params: { decision_id: 'Id of the decision.' },
  answers: {
    200: { description: 'The attestation, signed now.', content: { 'application/json': Attestation } },
  },
  errors: ['NOT_FOUND', 'SIGNER_UNAVAILABLE'],
  async handle(exchange, { store, keys }) {
    const caller = callerOf(exchange)
    const row = await store.decisions.byId(caller.tenant, exchange.params['decision_id'] ?? '', ownAudience(caller))
    if (row === null) throw new GatewayError('NOT_FOUND')
    const checked = checkProducerForm(JSON.parse(row.envelope))
    if (!checked.ok) {
      const cause = new Error(`the stored envelope of ${row.decisionId} breaks the producer schema`)
      throw new GatewayError('INTERNAL', undefined, { cause })
    }
    const signer = keys.signer()
    const prepared = prepareAttestation(envelopeFor(checked.value, caller), signer.keyId)
    return json(prepared.finish(await signatureOf(signer, prepared.signingInput)))
  },
})
