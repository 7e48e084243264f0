/**
 * What clients and verifiers read without a key: the decision contract, the receipt keys, the certificates to trust, the status
 * lists (docs/reference/api.md#discovery-and-accounts).
 */
import { DECISION_CLASSES, DECISIONS, RECEIPT_FORMAT_VERSION, Type } from '../../../engine/base.ts'
import { defineRoute, json } from '../route.ts'
import { SERVED_SCHEMA_NAMES } from './documents.ts'
import { nullable } from '../schemas/shapes.ts'
import { GatewayError } from '../../errors/errors.ts'
import { StartupError } from '../../errors/startup-error.ts'

const FreeObject = Type.Record(Type.String(), Type.Unknown())

export const decisionContract = defineRoute({
  method: 'GET',
  paths: ['/.well-known/preflight.json'],
  operationId: 'getDecisionContract',
  tag: 'discovery',
  summary: 'The decision contract',
  access: 'public',
  answers: {
    200: {
      description: 'Versions, the addresses of the schemas, and how to use decisions.',
      content: {
        'application/json': Type.Object(
          {
            service: Type.String(),
            spec_versions: FreeObject,
            schemas: Type.Record(Type.String(), Type.String()),
            endpoints: Type.Record(Type.String(), Type.String()),
            decision_classes: Type.Array(FreeObject),
            recommended_usage: FreeObject,
          },
          { title: 'DecisionContract' },
        ),
      },
    },
  },
  async handle() {
    return json({
      service: 'preflight-gateway',
      spec_versions: {
        decision_result: 'decision-result.v1',
        decision_spec: ['1.0', '2.0'],
        control: 'control/1.0',
        receipt: RECEIPT_FORMAT_VERSION,
      },
      schemas: Object.fromEntries(SERVED_SCHEMA_NAMES.map((name) => [name, `/schemas/${name}.json`])),
      endpoints: {
        preflight: '/api/v1/preflight',
        diff: '/api/diff',
        verify_receipt: '/api/v1/verify-receipt',
        telemetry: '/api/v1/telemetry',
        mcp: '/mcp',
        key_set: '/.well-known/jwks.json',
        tool_manifest: '/.well-known/mcp.json',
        openapi: '/openapi.json',
      },
      decision_classes: DECISIONS.map((decision) => ({
        decision,
        execution_action: DECISION_CLASSES[decision].action,
        safe_for_agent: DECISION_CLASSES[decision].safeForAgent,
      })),
      recommended_usage: RECOMMENDED_USAGE,
    })
  },
})

const RECOMMENDED_USAGE = {
  branch_on: 'execution_action',
  unrecognised_execution_action: 'fail_closed',
  stop: 'Abort this attempt; a changed input needs a new authorize preflight.',
  request_approval: 'Pause for a human; after the approval run a new authorize preflight.',
  continue_with_monitoring:
    'Proceed only when a monitoring sink is wired, and report the execution to /api/v1/telemetry with correlation_id.',
  continue: 'Proceed, with the receipt for this one operation.',
  before_acting: 'Verify the receipt with the intended context and act only when currently_authorized is true.',
  analyze_is_permission: false,
  check_input_fingerprint: true,
  free_text_is_untrusted: true,
} as const

export const KeySetAnswer = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        crv: Type.String(),
        x: Type.String(),
        kid: Type.String(),
        alg: Type.String(),
        use: Type.String(),
        status: Type.Enum(['active', 'retired', 'revoked']),
        valid_from: Type.String(),
        retired_at: nullable(Type.String()),
        revoked_at: nullable(Type.String()),
      }),
    ),
  },
  { title: 'KeySet' },
)

export const keySet = defineRoute({
  method: 'GET',
  paths: ['/.well-known/jwks.json'],
  operationId: 'getKeySet',
  tag: 'discovery',
  summary: 'The receipt keys',
  access: 'public',
  answers: {
    200: {
      description: 'A JWK Set (RFC 7517); each key with its state and validity.',
      content: {
        'application/json': KeySetAnswer,
      },
    },
  },
  async handle(_exchange, deps) {
    return json(deps.keys.published())
  },
})

const PEM_MEDIA_TYPE = 'application/x-pem-file'

/** The certificates that agents have to trust when their connections are intercepted. They are public. */
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
      content: { [PEM_MEDIA_TYPE]: Type.String() },
    },
  },
  errors: ['NOT_READY'],
  async handle(_exchange, { authorities }) {
    try {
      return { kind: 'text', status: 200, mediaType: PEM_MEDIA_TYPE, text: await authorities.bundle() }
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      throw new GatewayError('NOT_READY', 'The certificate authority cannot be read; the log has the cause.', {
        cause: error,
      })
    }
  },
})

const LIST_MEDIA_TYPE = 'application/statuslist+jwt'
const LIST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The states of many receipts, for verifiers that do not ask about single receipts (docs/reference/receipts.md#status-list). */
export const statusList = defineRoute({
  method: 'GET',
  paths: ['/.well-known/status/{list}'],
  operationId: 'getStatusList',
  tag: 'discovery',
  summary: 'A status list of receipts',
  access: 'public',
  params: { list: 'Last segment of `status.status_list.uri` of a receipt.' },
  headers: { 'If-None-Match': 'Entity tag of the copy that the client has.' },
  answers: {
    200: {
      description: 'A status list token (IETF Token Status List).',
      content: { [LIST_MEDIA_TYPE]: Type.String() },
    },
    304: { description: 'The copy of the client is still current.', content: {} },
  },
  errors: ['NOT_FOUND', 'SIGNER_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async handle({ params, headers }, { statusLists }) {
    const id = params['list'] ?? ''
    const found = LIST_ID.test(id) ? await statusLists.list(id) : null
    if (found === null) throw new GatewayError('NOT_FOUND', 'There is no such status list.')
    const { token, etag, maxAge } = found
    const caching = { ETag: etag, 'Cache-Control': `public, max-age=${maxAge}`, 'Access-Control-Allow-Origin': '*' }
    const isSame = tagsIn(headers['if-none-match']).some((tag) => tag === '*' || tag === etag)
    return isSame
      ? { kind: 'empty', status: 304, headers: caching }
      : { kind: 'text', status: 200, mediaType: LIST_MEDIA_TYPE, text: token, headers: caching }
  },
})

/** Weak and strong tags count alike here (RFC 9110 §13.1.2). */
function tagsIn(header: string | string[] | undefined): readonly string[] {
  return [header ?? []].flat().flatMap((value) => value.split(',').map((tag) => tag.trim().replace(/^W\//, '')))
}
