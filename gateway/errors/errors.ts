/** The one table of errors that leave the gateway (docs/reference/api.md#errors, docs/reference/wire-headers.md#refusals): stable code, status, public sentence, and the seconds until a retry makes sense. Causes go to the log only. */

export const ERRORS = {
  INVALID_INPUT: { status: 400, message: 'The request is not valid.' },
  PREFLIGHT_MODE_REQUIRED: { status: 400, message: 'preflight_mode is required: "analyze" or "authorize".' },
  OPERATION_REQUIRED: { status: 400, message: 'context.operation is required to authorize, e.g. "merge" or "deploy".' },
  DERIVATION_REQUIRES_BASE_HEAD: { status: 400, message: 'derivation "server" needs context.base and context.head.' },
  UNSUPPORTED_ARTIFACT_TYPE: { status: 400, message: 'The artifact type is not supported.' },
  UNAUTHENTICATED: { status: 401, message: 'A valid API key is required: Authorization: Bearer KEY.' },
  EGRESS_DENIED: { status: 403, message: 'The egress policy of the gateway does not allow this destination.' },
  UPGRADE_REFUSED: {
    status: 403,
    message: 'What follows a switch to another protocol cannot be judged on this route.',
  },
  FORBIDDEN: { status: 403, message: 'This key may not do that.' },
  BINDING_NOT_PROVEN: { status: 403, message: 'No proven binding between this tenant and the repository.' },
  REPOSITORY_INACCESSIBLE: { status: 403, message: 'The repository cannot be read with the configured credentials.' },
  NOT_FOUND: { status: 404, message: 'Nothing that this key may see has this path or id.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The method is not allowed on this path.' },
  NOT_ACCEPTABLE: { status: 406, message: 'None of the accepted media types can be produced.' },
  PROXY_AUTHENTICATION_REQUIRED: {
    status: 407,
    message: 'This proxy asks for an API key: Proxy-Authorization, Basic with the key as password, or Bearer.',
  },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not come in time.' },
  IDEMPOTENCY_CONFLICT: { status: 409, message: 'The idempotency key was used with another body.' },
  ALREADY_SIGNED_UP: { status: 409, message: 'This mail address has a key already; the operator can make another.' },
  APPROVAL_CONFLICT: { status: 409, message: 'The approval request has already been decided.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than the limit.' },
  URI_TOO_LONG: { status: 414, message: 'The request target is longer than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be JSON: Content-Type: application/json.' },
  MISDIRECTED: { status: 421, message: 'The request names another host than its connection was opened to.' },
  ARTIFACT_UNREADABLE: { status: 422, message: 'A contract document cannot be read.' },
  CONTRACT_VIOLATION: { status: 422, message: 'The call violates the contract that is pinned for this route.' },
  QUOTA_EXCEEDED: { status: 429, message: 'The monthly quota of this key is used up.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests in this minute.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The header section is larger than the limit.' },
  INTERNAL: { status: 500, message: 'The gateway failed. The log has the cause under this correlation id.' },
  UPSTREAM_UNREACHABLE: { status: 502, message: 'The upstream cannot be reached.' },
  UPSTREAM_TIMEOUT: { status: 504, message: 'The upstream did not answer in time.' },
  SIGNER_UNAVAILABLE: { status: 503, message: 'Receipts cannot be signed now.', retryAfter: 5 },
  STORE_UNAVAILABLE: {
    status: 503,
    message: 'The decision store cannot be written now, so nothing can be decided.',
    retryAfter: 5,
  },
  OVERLOADED: { status: 503, message: 'Too much work is queued.', retryAfter: 1 },
  NOT_READY: { status: 503, message: 'The gateway is starting or stopping.' },
  PREFLIGHT_STOP: { status: 403, message: 'The call was stopped.' },
  PREFLIGHT_APPROVAL_REQUIRED: { status: 428, message: 'The call needs an approval first.' },
  PREFLIGHT_RECEIPT_REQUIRED: {
    status: 403,
    message: 'The call needs a receipt for exactly this operation, and came without a valid one.',
  },
  MONITORING_UNWIRED: {
    status: 503,
    message: 'The call must be monitored, and no telemetry sink takes events now.',
  },
  DECISION_LOG_UNWRITABLE: {
    status: 503,
    message: 'The decision log takes no entries, so nothing takes effect now (decision_log.on_full: block).',
  },
  PREFLIGHT_UNDECIDED: { status: 503, message: 'The call could not be judged, so it was not forwarded.' },
} as const satisfies Readonly<
  Record<string, { readonly status: number; readonly message: string; readonly retryAfter?: number }>
>

export type ErrorCode = keyof typeof ERRORS

export interface ErrorDetail {
  /** JSON Pointer into the request body. */
  readonly pointer: string
  readonly message: string
}

/** A foreseen refusal on its way to the edge. `cause` is logged and never sent. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    options: {
      readonly details?: readonly ErrorDetail[]
      readonly headers?: Readonly<Record<string, string>>
      readonly cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'GatewayError'
    this.code = code
    this.details = options.details ?? []
    this.headers = { ...retryHeaders(code), ...options.headers }
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** An error as it may leave: what nobody foresaw says nothing. */
export function knownError(error: unknown): GatewayError {
  return error instanceof GatewayError ? error : new GatewayError('INTERNAL', undefined, { cause: error })
}

/** When the client may try again, where that helps. */
export function retryHeaders(code: ErrorCode): Readonly<Record<string, string>> {
  const row: { readonly status: number; readonly retryAfter?: number } = ERRORS[code]
  return row.retryAfter === undefined ? {} : { 'Retry-After': String(row.retryAfter) }
}
